// pad: adds a border to x, of one value or of x's own elements.
#pragma once
#include "../core/choice.hpp"
#include "../core/options.hpp"
#include "../tensor/creation.hpp"
#include "cat.hpp"
#include "gather.hpp"
#include "rounding.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The content of a border: one value; the elements mirrored at the edge, without the edge element; the edge element;
/// the elements of the opposite side.
enum class PadMode : unsigned char { constant, reflect, replicate, circular };

namespace detail {

using PadChoice = Choice<PadMode, "constant", "reflect", "replicate", "circular">;

/// x's shape with padding = {left, right of the last dimension, left, right of the one before, …}. Error if a dimension
/// has fewer elements than are removed from it; only a border of edge elements makes up for them.
[[gnu::noinline, gnu::cold]] inline Shape padded_shape(const Array& x, const Shape& padding,
                                                       PadMode mode = PadMode::constant) {
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

/// Only the positive (or only the negative) sizes; 0 for the others.
inline Shape clipped(Shape padding, bool positive) {
  for (Index& size : padding)
    if ((size > 0) != positive) size = 0;
  return padding;
}

/// Linear in x. Its gradient is padding by the opposite sizes, which removes the border.
template <class D, class T>
Tensor<D, T> pad_with(const CallSite& op, const Tensor<D, T>& x, const Shape& padding, scalar_t<T> value) {
  const Shape shape = padded_shape(*x.impl(), padding);
  const bool last = !x.impl()->contiguous && is_channels_last(*x.impl());
  const Tensor<D, T> y = last ? empty<D, T>(shape, channels_last, x.device()) : empty<D, T>(shape, x.device());
  backend::run<D>(backend::Fill<T>{*y.impl(), value});
  Array to = *y.impl(), from = *x.impl();
  for (int i = 0; i < padding.n; i += 2) {
    const int d = x.dim() - 1 - i / 2;
    const Index skipped = padding[i] < 0 ? -padding[i] : 0, start = padding[i] > 0 ? padding[i] : 0;
    const Index kept = from.dims[d] - skipped + (padding[i + 1] < 0 ? padding[i + 1] : 0);
    from = part_of(from, d, skipped, kept);
    to = part_of(to, d, start, kept);
  }
  if (from.numel) backend::run<D>(backend::Copy{to, from});
  if constexpr (is_floating_v<T>) {
    Shape opposite = padding;
    for (Index& size : opposite) size = -size;
    record(op, y,
           wrt(x, [opposite](const Tensor<D, T>& g) { return pad_with({"pad", CallSite::unknown}, g, opposite, 0); }));
  }
  return y;
}

/// The source positions, in a dimension of n elements, of the positions -left, 1 - left, …, n + right - 1.
template <class D, class T>
Tensor<D, Index> padded_positions(const Tensor<D, T>& x, PadMode mode, Index n, Index left, Index right) {
  const Tensor<D, Index> at = arange_like(x, -left, 1, left + n + right);
  if (mode == PadMode::circular) return remainder(at, n);
  if (mode == PadMode::replicate) return clamp(at, Index(0), n - 1);
  return rsub(abs(rsub(abs(at), n - 1)), n - 1);  // mirrored at 0, then at n - 1
}

[[gnu::noinline, gnu::cold]] inline void check_border(PadMode mode, Index n, Index left, Index right) {
  const Index most = mode == PadMode::reflect ? n - 1 : mode == PadMode::circular ? n : left > right ? left : right;
  if (n == 0 || left > most || right > most)
    Error::fail("pad", {"a border of ", left > right ? left : right, " cannot be made of a dimension of size ", n});
}

}  // namespace detail

/// x with a border: padding = {left, right of the last dimension, left, right of the one before, …}. Negative sizes
/// remove elements. Error if there are fewer than that; only PadMode::replicate makes up for them.
template <Device D, Element T>
Tensor<D, T> pad(const Tensor<D, T>& x, const detail::Shape& padding, detail::PadChoice mode = PadMode::constant,
                 detail::number_t<T> value = 0, CallSite here = {}) {
  const CallScope scope({"pad", here});
  detail::padded_shape(*x.checked("pad"), padding, mode);
  if (mode == PadMode::constant)
    return detail::pad_with({"pad", here}, x, padding, detail::element<T>({"pad", here}, value));
  if (mode == PadMode::circular &&
      !(detail::clipped(padding, true) == padding))  // removed elements do not appear in the border
    return pad(pad(x, detail::clipped(padding, false), PadMode::constant, 0, here), detail::clipped(padding, true),
               mode, 0, here);
  Tensor<D, T> y = x;
  for (int i = 0; i < padding.n; i += 2) {
    const int d = x.dim() - 1 - i / 2;
    if (padding[i] == 0 && padding[i + 1] == 0) continue;
    detail::check_border(mode, x.size(d), padding[i], padding[i + 1]);
    y = index_select(y, d, detail::padded_positions(x, mode, x.size(d), padding[i], padding[i + 1]), here);
  }
  return detail::in_order_of(x, y, here);
}

struct PadFuncOptions {
  detail::ByName by_name{};
  detail::PadChoice mode = PadMode::constant;
  double value = 0;  // of the border; of integers and bool up to 2^53
};
/// The same with options by name.
template <Device D, Element T>
Tensor<D, T> pad(const Tensor<D, T>& x, const detail::Shape& padding, const PadFuncOptions& options,
                 CallSite here = {}) {
  return pad(x, padding, options.mode, options.value, here);
}

}}  // namespace tern
