// The functions of pad.hpp that are not templates.
#pragma once
#include "pad.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD Shape padded_shape(const Array& x, const Shape& padding, PadMode mode) {
  if (padding.n % 2 != 0 || padding.n > 2 * x.ndim)
    Error::fail("pad", {"two sizes for each of at most ", Index(x.ndim), " dimensions are needed, not ", padding});
  Shape to = x.shape();
  for (int i = 0; i < padding.n; i += 2) {
    Index& size = to[to.n - 1 - i / 2];
    Index kept = size;
    for (const Index side : {padding[i], padding[i + 1]})
      if (side < 0) kept = checked_sum({"pad", CallSite::unknown}, {kept, side});
    if (kept < 0 && mode != PadMode::replicate)
      Error::fail("pad", {"padding ", padding, " leaves nothing of a tensor of shape ", x.shape()});
    size = checked_sum({"pad", CallSite::unknown}, {size, padding[i], padding[i + 1]});
    if (size < 0) Error::fail("pad", {"padding ", padding, " leaves nothing of a tensor of shape ", x.shape()});
  }
  checked_numel({"pad", CallSite::unknown}, to);
  return to;
}

TERN_COLD void check_border(PadMode mode, Index n, Index left, Index right) {
  const Index most = mode == PadMode::reflect ? n - 1 : mode == PadMode::circular ? n : left > right ? left : right;
  if (n == 0 || left > most || right > most)
    Error::fail("pad", {"a border of ", left > right ? left : right, " cannot be made of a dimension of size ", n});
}

}}}  // namespace tern::detail
