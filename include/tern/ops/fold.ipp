// The functions of fold.hpp that are not templates.
#pragma once
#include "fold.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD Windows windows_over(const CallSite& op, const Index* image, const Shape& kernel, const UnfoldOptions& o) {
  Windows w;
  for (const Shape* s : {&kernel, &o.dilation, &o.padding, &o.stride})
    if (s->n != 1 && s->n != 2) Error::fail(op, {"one number or two are needed, not ", *s});
  for (int i = 0; i < 2; ++i) {
    const auto of = [i](const Shape& s) { return s[s.n == 2 ? i : 0]; };
    Window& v = w.d[i] = {of(kernel), of(o.dilation), of(o.padding), of(o.stride), 0};
    if (v.kernel <= 0 || v.dilation <= 0 || v.padding < 0 || v.stride <= 0)
      Error::fail(op, {"kernel_size, dilation and stride must be positive, padding not negative: ", kernel, ", ",
                       o.dilation, ", ", o.stride, ", ", o.padding});
    const Index extent = checked_sum(
        op, {image[i], checked_product(op, {2, v.padding}), -checked_product(op, {v.dilation, v.kernel - 1}), -1});
    if (extent < 0) Error::fail(op, {"a window of ", kernel, " does not fit an image of ", ShapeRef{image, 2}});
    v.count = extent / v.stride + 1;
  }
  return w;
}

}}}  // namespace tern::detail
