// A state dict while an optimiser takes it up.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <vector>

#include "../tensor/any_tensor.hpp"

namespace tern::inline TERN_BUILD::optim::detail {

/// Finds entries by their names and notes which ones were asked for.
class StateReader {
 public:
  /// `op` is what errors begin with.
  [[gnu::noinline, gnu::cold]] StateReader(const char* op, const StateDict& dict) : op_(op), dict_(dict), used_(dict.size()) {}

  /// The entry whose name is that of the pieces, of the parameter's shape; null if there is none.
  [[gnu::noinline, gnu::cold]] const AnyTensor* find(std::initializer_list<Piece> pieces, const AnyTensor& parameter) {
    const std::string name = text(pieces);
    const AnyTensor* const x = find(name);
    if (x && !(x->shape() == parameter.shape()))
      fail(op_, {"the optimiser's ", name, " has shape ", x->shape(), ", the parameter ", parameter.shape()});
    return x;
  }

  /// The number of that name.
  template <class N>
  N number(std::initializer_list<Piece> pieces) {
    return *find_number(pieces).as<Cpu, N>().data();
  }

  /// Error if there are entries that nothing asked for.
  [[gnu::noinline, gnu::cold]] void expect_end() const {
    for (std::size_t i = 0; i < dict_.size(); ++i)
      if (!used_[i]) fail(op_, {"nothing in this optimiser is called ", dict_[i].name});
  }

 private:
  [[gnu::noinline, gnu::cold]] const AnyTensor* find(const std::string& name) {
    for (std::size_t i = 0; i < dict_.size(); ++i) {
      if (dict_[i].name != name) continue;
      used_[i] = true;
      return &dict_[i].tensor;
    }
    return nullptr;
  }

  [[gnu::noinline, gnu::cold]] const AnyTensor& find_number(std::initializer_list<Piece> pieces) {
    const std::string name = text(pieces);
    const AnyTensor* const x = find(name);
    if (!x) fail(op_, {"the optimiser's ", name, " is missing"});
    if (x->numel() != 1) fail(op_, {"the optimiser's ", name, " is no number, but of shape ", x->shape()});
    return *x;
  }

  const char* op_;
  const StateDict& dict_;
  std::vector<char> used_;
};

}  // namespace tern::optim::detail
