// What a kernel finds wrong with elements, in the same words whichever device it runs on.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "error.hpp"

namespace tern::inline TERN_BUILD {

enum class BadElement : Index { index, target, probability };

/// Throws the Error of an op: an index or a target is `number`, not below `size`. found: what the message ends with.
[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_element(const char* op, BadElement what, Index number,
                                                                  Index size, Index position = 0,
                                                                  const char* found = "") {
  switch (what) {
    case BadElement::index:
      if (size == 0) fail(op, {"no index is in range for a dimension of size 0", found});
      fail(op, {"index ", number, " is out of range for a dimension of size ", size, found});
    case BadElement::target:
      fail(op, {"target ", number, " at position ", position, " is out of range [0, ", size - 1, "]", found});
    case BadElement::probability: break;
  }
  fail(op, {"an element of the input is outside [0, 1]", found});
}

}  // namespace tern
