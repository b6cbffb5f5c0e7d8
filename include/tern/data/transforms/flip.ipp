// The functions of flip.hpp that are not templates.
#pragma once
#include "flip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms::detail {

TERN_INLINE RowPart reversed(RowPart x) {
#if defined(__clang__)
  return __builtin_shufflevector(x, x, 3, 2, 1, 0);
#else
  return __builtin_shuffle(x, tern::detail::expr::vector_t<std::int32_t, 4>{3, 2, 1, 0});
#endif
}

TERN_INLINE void reverse_row(float* row, Index n) {
  constexpr Index size = 4;
  float *left = row, *right = row + n;
  for (; right - left >= 2 * size; left += size, right -= size) {
    RowPart a, b;
    __builtin_memcpy(&a, left, sizeof a);
    __builtin_memcpy(&b, right - size, sizeof b);
    a = reversed(a), b = reversed(b);
    __builtin_memcpy(left, &b, sizeof b);
    __builtin_memcpy(right - size, &a, sizeof a);
  }
  std::reverse(left, right);
}

TERN_NOINLINE void flip_rows(Image& image) {
  for (Index row = 0; row < image.channels() * image.height(); ++row)
    reverse_row(image.data() + row * image.width(), image.width());
}

TERN_COLD void check_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) Error::fail(op, {"p must lie in [0, 1], not ", p});
}

}}}  // namespace tern::data::transforms::detail

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

TERN_NOINLINE void RandomVerticalFlip::operator()(Image& image, Random& random) const {
  if (!random.chance(p_)) return;
  const Index width = image.width();
  for (Index c = 0; c < image.channels(); ++c) {
    float *top = image.data() + c * image.height() * width, *bottom = top + (image.height() - 1) * width;
    for (; top < bottom; top += width, bottom -= width) std::swap_ranges(top, top + width, bottom);
  }
}

}}}  // namespace tern::data::transforms
