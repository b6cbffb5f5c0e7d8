// What a kernel finds wrong with elements, in the same words whichever device it runs on.
#pragma once
#include "error.hpp"

namespace tern::inline TERN_BUILD {

enum class BadElement : Index { index, target, probability };

/// Throws the Error of an op: an index or a target is `number`, not below `size`. found: what the message ends with.
[[noreturn]] TERN_API void refuse_element(const char* op, BadElement what, Index number, Index size, Index position = 0,
                                          const char* found = "");

}  // namespace tern

#ifndef TERN_COMPILED
#include "element_error.ipp"
#endif
