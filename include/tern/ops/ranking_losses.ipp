// What ranking_losses.hpp declares and is no template.
#pragma once
#include "ranking_losses.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline]] TERN_INLINE void check_same_dims(const char* op, const Array& a, const Array& b) {
  if (a.ndim != b.ndim) fail(op, {"tensors of as many dimensions are needed: ", a.shape(), " and ", b.shape()});
}

}  // namespace tern::detail
