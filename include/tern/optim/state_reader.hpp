// Reads a state dict for an optimiser, an average or a schedule.
#pragma once
#include <vector>

#include "../tensor/any_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

/// Finds entries by name and remembers which ones were found.
class TERN_API StateReader {
 public:
  /// Errors begin with `op` and call an entry the owner's.
  StateReader(const char* op, const StateDict& dict, const char* owner = "optimiser");

  /// The entry whose name the pieces form: of the parameter's shape and of a floating-point type. Null if there is
  /// none.
  const AnyTensor* find(std::initializer_list<tern::detail::Piece> pieces, const AnyTensor& parameter);

  /// The number of that name.
  template <class N>
  N number(std::initializer_list<tern::detail::Piece> pieces) {
    return *find_number(pieces).as<Cpu, N>().data();
  }
  /// The number of that name, or another one if there is none.
  double number_or(std::initializer_list<tern::detail::Piece> pieces, double other);
  /// The number of that name. Error if it is negative.
  Index count(std::initializer_list<tern::detail::Piece> pieces);

  /// Error if there are entries that were never looked up.
  void expect_end() const;

 private:
  const AnyTensor* find(const std::string& name);

  const AnyTensor& find_number(std::initializer_list<tern::detail::Piece> pieces);

  const char* op_;
  const StateDict& dict_;
  const char* owner_;
  std::vector<char> used_;
};

}}}  // namespace tern::optim::detail

#ifndef TERN_COMPILED
#include "state_reader.ipp"
#endif
