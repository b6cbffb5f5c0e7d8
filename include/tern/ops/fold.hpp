// unfold, which turns the windows of images into columns, and its adjoint fold, which sums overlapping windows.
#pragma once
#include "../core/options.hpp"
#include "pad.hpp"
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The parameters of a sliding window: {vertical, horizontal}, or one number for both.
struct UnfoldOptions {
  detail::ByName by_name{};
  detail::Shape dilation = 1, padding = 0, stride = 1;
};

namespace detail {

/// A sliding window along one dimension.
struct Window {
  Index kernel, dilation, padding, stride, count;
};

/// The two dimensions' windows for an image of this height and width.
struct Windows {
  Window d[2];
  Shape border() const { return {d[1].padding, d[1].padding, d[0].padding, d[0].padding}; }
};
[[gnu::noinline, gnu::cold]] inline Windows windows_over(const CallSite& op, const Index* image, const Shape& kernel,
                                                         const UnfoldOptions& o) {
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

/// The position of element k of window i in the padded image, [kernel count].
template <class D, class T>
Tensor<D, Index> window_positions(const Tensor<D, T>& x, const Window& w) {
  return reshape(add(unsqueeze(arange_like(x, 0, w.dilation, w.kernel), 1), arange_like(x, 0, w.stride, w.count)), -1);
}

}  // namespace detail

/// The windows of images [N, C, H, W] as columns [N, C kh kw, L]. The L windows go from left to right and top to
/// bottom. N may be missing.
template <Device D, Element T>
Tensor<D, T> unfold(const Tensor<D, T>& x, const detail::Shape& kernel_size, const UnfoldOptions& options = {},
                    CallSite here = {}) {
  const CallScope scope({"unfold", here});
  if constexpr (detail::is_half_v<T>)  // the gradient sums over each dimension; in float it is rounded once
    if (detail::records(x))
      return to_type(unfold(to_type(x, f32, here), kernel_size, options, here), detail::Type<T>{}, here);
  if (x.checked("unfold")->ndim == 3)
    return squeeze(unfold(unsqueeze(x, 0, here), kernel_size, options, here), 0, here);
  if (x.dim() != 4) Error::fail("unfold", {"images [N, C, H, W] are needed, not ", x.shape()});
  const detail::Windows w =
      detail::windows_over({"unfold", CallSite::unknown}, x.impl()->dims + 2, kernel_size, options);
  const auto& [down, across] = w.d;
  Tensor<D, T> y = pad(x, w.border(), PadMode::constant, 0, here);
  y = index_select(y, 2, detail::window_positions(x, down), here);
  y = index_select(y, 3, detail::window_positions(x, across), here);
  y = reshape(y, {x.size(0), x.size(1), down.kernel, down.count, across.kernel, across.count}, here);
  return reshape(transpose(y, 3, 4, here),
                 {x.size(0), x.size(1) * down.kernel * across.kernel, down.count * across.count}, here);
}

/// Images [N, C, H, W] of output_size {H, W} from columns [N, C kh kw, L], as unfold makes them. Each pixel is the sum
/// of its copies. N may be missing.
template <Device D, Element T>
Tensor<D, T> fold(const Tensor<D, T>& x, const detail::Shape& output_size, const detail::Shape& kernel_size,
                  const UnfoldOptions& options = {}, CallSite here = {}) {
  const CallScope scope({"fold", here});
  if constexpr (detail::is_half_v<T>)  // sums over each dimension
    return to_type(fold(to_type(x, f32, here), output_size, kernel_size, options, here), detail::Type<T>{}, here);
  if (x.checked("fold")->ndim == 2)
    return squeeze(fold(unsqueeze(x, 0, here), output_size, kernel_size, options, here), 0, here);
  if (output_size.n != 2) Error::fail("fold", {"output_size is {height, width}, not ", output_size});
  const detail::Windows w = detail::windows_over({"fold", CallSite::unknown}, output_size.d, kernel_size, options);
  const auto& [down, across] = w.d;
  const Index pixels = detail::checked_product({"fold", CallSite::unknown}, {down.kernel, across.kernel}),
              columns = detail::checked_product({"fold", CallSite::unknown}, {down.count, across.count});
  if (x.dim() != 3 || x.size(1) % pixels != 0 || x.size(2) != columns)
    Error::fail("fold", {"columns of shape ", x.shape(), " are not windows of ", kernel_size, " over images of ",
                         output_size, ", [N, C ", pixels, ", ", columns, "]"});
  const Index n = x.size(0), c = x.size(1) / pixels;
  Tensor<D, T> y = reshape(x, {n, c, down.kernel, across.kernel, down.count, across.count}, here);
  y = reshape(transpose(y, 3, 4, here), {n, c, down.kernel * down.count, across.kernel * across.count}, here);
  const auto summed = [&](Index dim, const detail::Window& v, Index size) {
    detail::Shape to = y.shape();
    to[int(dim)] = size + 2 * v.padding;
    y = index_add(zeros<D, T>(to, x.device()), dim, detail::window_positions(x, v), y, 1, here);
  };
  summed(3, across, output_size[1]);
  summed(2, down, output_size[0]);
  detail::Shape off = w.border();
  for (Index& size : off) size = -size;
  return pad(y, off, PadMode::constant, 0, here);
}
template <Device D, Element T>
Tensor<D, T> fold(const Tensor<D, T>& x, const detail::Shape& output_size, const detail::Shape& kernel_size,
                  const detail::Positional<detail::Shape>& dilation, const detail::Shape& padding = 0,
                  const detail::Shape& stride = 1, CallSite here = {}) {
  return fold(x, output_size, kernel_size, {.dilation = dilation, .padding = padding, .stride = stride}, here);
}

}}  // namespace tern
