// A state dict while an optimiser takes it up.
#pragma once
#include <vector>

#include "../tensor/any_tensor.hpp"

namespace tern::inline TERN_BUILD::optim::detail {

/// Finds entries by their names and notes which ones were asked for.
class TERN_API StateReader {
 public:
  /// `op` is what errors begin with.
  StateReader(const char* op, const StateDict& dict);

  /// The entry whose name is that of the pieces, of the parameter's shape; null if there is none.
  const AnyTensor* find(std::initializer_list<Piece> pieces, const AnyTensor& parameter);

  /// The number of that name.
  template <class N>
  N number(std::initializer_list<Piece> pieces) {
    return *find_number(pieces).as<Cpu, N>().data();
  }

  /// Error if there are entries that nothing asked for.
  void expect_end() const;

 private:
  const AnyTensor* find(const std::string& name);

  const AnyTensor& find_number(std::initializer_list<Piece> pieces);

  const char* op_;
  const StateDict& dict_;
  std::vector<char> used_;
};

}  // namespace tern::optim::detail

#ifndef TERN_COMPILED
#include "state_reader.ipp"
#endif
