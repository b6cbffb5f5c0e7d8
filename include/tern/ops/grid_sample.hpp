// grid_sample: an image's values at positions that a tensor gives. A position's neighbours are rows of a table, one row
// for each pixel, so the result is a weighted sum of rows that are taken from it.
#pragma once
#include "../core/choice.hpp"
#include "../tensor/creation.hpp"
#include "cat.hpp"
#include "gather.hpp"
#include "rounding.hpp"
#include "support/pointwise.hpp"
#include "support/promoted.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// How many pixels around a position count: its 4 neighbours, the nearest one, or 16 (Keys' cubic with a = -3/4).
enum class GridSampleMode : unsigned char { bilinear, nearest, bicubic };
/// What is outside the image: zeros, the border's pixels, or its reflection.
enum class GridSamplePadding : unsigned char { zeros, border, reflection };

struct GridSampleOptions {
  detail::Choice<GridSampleMode, "bilinear", "nearest", "bicubic"> mode = GridSampleMode::bilinear;
  detail::Choice<GridSamplePadding, "zeros", "border", "reflection"> padding_mode = GridSamplePadding::zeros;
  bool align_corners = false;  // -1 and 1 are the centres of the corner pixels instead of their outer edges
};

namespace detail {

[[gnu::noinline, gnu::cold]] inline void check_grid_sample(const CallSite& op, const Array& x, const Array& grid) {
  if (x.ndim != 4 || grid.ndim != 4 || grid.dims[3] != 2 || grid.dims[0] != x.dims[0])
    Error::fail(op,
                {"images [N, C, H, W] and positions [N, h, w, 2] are needed, not ", x.shape(), " and ", grid.shape()});
  if (x.dims[2] == 0 || x.dims[3] == 0) Error::fail(op, {"there are no pixels in images of ", x.shape()});
}

/// One dimension of an image: the neighbours of positions in it.
template <class D, class T>
struct GridAxis {
  using X = Tensor<D, T>;

  Index size;
  const GridSampleOptions& options;
  Tensor<D, Index> at{};     // [positions, neighbours]
  Tensor<D, bool> inside{};  // whether a neighbour is one of the image's pixels
  X weight{};                // 0 outside

  /// given has positions between -1 and 1.
  GridAxis(const X& given, Index pixels, const GridSampleOptions& o) : size(pixels), options(o) {
    const X g = where(isnan(given), -1, given);
    const X source =
        o.align_corners ? mul(div(add(g, 1), 2), double(size - 1)) : div(sub(mul(add(g, 1), double(size)), 1), 2);
    switch (o.mode) {
      case GridSampleMode::nearest: {
        const X pixel = unsqueeze(round(padded(source.detach())), 1);
        choose(pixel, ones_like(pixel));
        break;
      }
      case GridSampleMode::bilinear: {
        const X moved = padded(source), first = floor(moved.detach()), t = sub(moved, first);
        choose(neighbours(first, 0, 2), stack(std::vector{rsub(t, 1), t}, 1));
        break;
      }
      case GridSampleMode::bicubic: {
        const X first = floor(source.detach()), t = sub(source, first);
        const auto near = [](const X& d) {
          return pointwise({"grid_sample", CallSite::unknown}, [](auto v) { return (1.25 * v - 2.25) * v * v + 1; }, d);
        };
        const auto far = [](const X& d) {
          return pointwise(
              {"grid_sample", CallSite::unknown}, [](auto v) { return ((-0.75 * v + 3.75) * v - 6) * v + 3; }, d);
        };
        choose(padded(neighbours(first, -1, 4)),
               stack(std::vector{far(add(t, 1)), near(t), near(rsub(t, 1)), far(rsub(t, 2))}, 1));
      }
    }
  }

  static X neighbours(const X& first, Index offset, Index count) {
    return add(unsqueeze(first, 1), to_type(arange_like(first, offset, 1, count), Type<T>{}));
  }

  void choose(const X& pixel, const X& weights) {
    inside = logical_and(ge(pixel, 0), le(pixel, double(size - 1)));
    at = to_type(where(inside, pixel.detach(), 0), Type<Index>{});
    weight = where(inside, weights, 0);
  }

  /// The position in the image from which the padding takes its value.
  X padded(const X& position) const {
    const double last = double(size - 1);
    if (options.padding_mode == GridSamplePadding::zeros) return position;
    X moved = position;
    const double low = options.align_corners ? 0 : -0.5, span = options.align_corners ? last : double(size);
    if (options.padding_mode == GridSamplePadding::reflection && span > 0)
      moved = pointwise(
          {"grid_sample", CallSite::unknown},
          [low, span](auto v) {
            const auto distance = where(v < low, low - v, v - low), flips = floor(distance / span);
            const auto rest = distance - flips * span;
            return where(flips - 2 * floor(flips / 2) > 0, span - rest, rest) + low;
          },
          moved);
    return pointwise(
        {"grid_sample", CallSite::unknown}, [last](auto v) { return where(v <= 0, 0, where(v >= last, last, v)); },
        moved);
  }
};

/// grid_sample in a type that is not of 16 bits.
template <class D, class T>
Tensor<D, T> grid_sampled(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& grid,
                          const GridSampleOptions& o) {
  const Index images = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3);
  const Index count = grid.size(1) * grid.size(2);
  const GridAxis<D, T> across(flatten(select(grid, -1, 0)), width, o), down(flatten(select(grid, -1, 1)), height, o);
  const Tensor<D, Index> first =
      mul(flatten(expand(unsqueeze(arange_like(x, 0, 1, images), 1), {images, count})), height * width);
  const Tensor<D, Index> rows =
      add(add(mul(unsqueeze(down.at, 2), width), unsqueeze(across.at, 1)), view(first, {images * count, 1, 1}));
  const Index taps = rows.size(1) * rows.size(2);
  const Shape each_tap{images * count, taps, 1};
  const auto inside = reshape(logical_and(unsqueeze(down.inside, 2), unsqueeze(across.inside, 1)), each_tap);
  const auto weight = reshape(mul(unsqueeze(down.weight, 2), unsqueeze(across.weight, 1)), each_tap);
  const auto table = reshape(permute(x, {0, 2, 3, 1}), {images * height * width, channels});
  const auto taken = view(take_rows(op, table, flatten(rows)), {images * count, taps, channels});
  const auto y = sum(mul(where(inside, taken, 0), weight), 1);
  return permute(view(y, {images, grid.size(1), grid.size(2), channels}), {0, 3, 1, 2});
}

}  // namespace detail

/// Images x [N, C, H, W] at the positions of grid [N, h, w, 2], as [N, C, h, w]. A position is (across, down); (-1, -1)
/// is the upper left corner and (1, 1) the lower right one; NaN counts as -1. The gradient of a nearest pixel's
/// position is 0, and so is that of NaN. Error if sizes do not fit, or if images have no pixels.
template <Device D, Floating T>
Tensor<D, T> grid_sample(const Tensor<D, T>& x, const Tensor<D, T>& grid, const GridSampleOptions& options = {},
                         CallSite here = {}) {
  const CallScope scope({"grid_sample", here});
  detail::check_grid_sample({"grid_sample", CallSite::unknown}, *x.checked("grid_sample"),
                            *grid.checked("grid_sample"));
  const Tensor<D, T> y = detail::rounded_once(
      [&](const auto& image, const auto& positions) {
        return detail::grid_sampled({"grid_sample", here}, image, positions, options);
      },
      x, grid);
  const Tensor<D, T> result = detail::in_order_of(x, y, here);
  if (options.mode != GridSampleMode::nearest) return result;
  const Tensor<D, T> with_grid = result.detach();
  record({"grid_sample", here}, with_grid, wrt(result, detail::unchanged),
         wrt(grid, [](detail::ShapeRef shape, const auto& g) { return zeros<D, T>({shape.d, shape.n}, g.device()); }));
  return with_grid;
}
TERN_SAME_PLACE(grid_sample)

/// The positions [N, H, W, 2] for grid_sample that the matrices theta [N, 2, 3] make of those of an image [N, C, H, W]:
/// theta (x, y, 1).
template <Device D, Floating T>
Tensor<D, T> affine_grid(const Tensor<D, T>& theta, const detail::Shape& size, bool align_corners = false,
                         CallSite here = {}) {
  const CallScope scope({"affine_grid", here});
  const detail::Array& a = *theta.checked("affine_grid");
  if (size.n != 4 || size[2] < 1 || size[3] < 1)
    Error::fail("affine_grid", {"a size [N, C, H, W] is needed, not ", size});
  if (a.shape() != detail::Shape{size[0], 2, 3})
    Error::fail("affine_grid", {"matrices of shape ", detail::Shape{size[0], 2, 3}, " are needed, not ", a.shape()});
  if constexpr (detail::is_half_v<T>)
    return detail::rounded_once([&](const auto& m) { return affine_grid(m, size, align_corners, here); }, theta);
  const Index height = size[2], width = size[3];
  detail::checked_numel({"affine_grid", CallSite::unknown}, detail::Shape{size[0], height, width, 3});
  const auto axis = [&](Index n, const detail::Shape& along) {  // pixels' middles; or from corner to corner
    const double last = n > 1 ? double(n - 1) : 1, start = n > 1 ? -1 : 0;
    const Tensor<D, T> number = to_type(detail::arange_like(theta, 0, 1, n), detail::Type<T>{});
    const Tensor<D, T> place =
        align_corners ? add(mul(number, 2 / last), start) : sub(div(add(mul(number, 2), 1), double(n)), 1);
    return expand(view(place, along), {height, width, 1});
  };
  const Tensor<D, T> across = axis(width, {1, width, 1}), down = axis(height, {height, 1, 1});
  const Tensor<D, T> base = reshape(cat(std::vector{across, down, ones_like(across)}, 2), {height * width, 3});
  return view(matmul(base, transpose(theta, 1, 2, here), here), {size[0], height, width, 2}, here);
}

}}  // namespace tern
