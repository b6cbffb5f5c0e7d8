// Errors about elements that a kernel refuses. Every device reports them in the same words.
#pragma once
#include "error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

enum class BadElement : Index { index, target, probability, divisor };

/// Throws the op's Error: an index or a target, `number`, is not below `size`. The message ends with `found`.
[[noreturn]] TERN_API void refuse_element(const char* op, BadElement what, Index number, Index size, Index position = 0,
                                          const char* found = "");

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "element_error.ipp"
#endif
