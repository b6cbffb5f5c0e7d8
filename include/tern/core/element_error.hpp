// Errors about elements that a kernel refuses. Every device reports them in the same words.
#pragma once
#include "error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

enum class BadElement : Index { index, target, probability, divisor };

/// Throws the op's Error: an index or a target, `number`, is not below `size`. The message ends with `found`.
[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_element(const char* op, BadElement what, Index number,
                                                                  Index size, Index position = 0,
                                                                  const char* found = "") {
  switch (what) {
    case BadElement::index:
      if (size == 0) Error::fail(op, {"no index is in range for a dimension of size 0", found});
      Error::fail(op, {"index ", number, " is out of range for a dimension of size ", size, found});
    case BadElement::target:
      Error::fail(op, {"target ", number, " at position ", position, " is out of range [0, ", size - 1, "]", found});
    case BadElement::divisor: Error::fail(op, {"an integer is divided by zero", found});
    case BadElement::probability: break;
  }
  Error::fail(op, {"an element of the input is outside [0, 1]", found});
}

}}}  // namespace tern::detail
