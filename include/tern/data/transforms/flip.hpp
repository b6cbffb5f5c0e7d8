// Mirror images.
#pragma once
#include <algorithm>

#include "../../expr/packet.hpp"
#include "../image.hpp"
#include "of_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

namespace detail {

using RowPart = tern::detail::expr::vector_t<float, 4>;

/// The values in reverse order.
TERN_API RowPart reversed(RowPart x);

/// Reverses a row of pixels: parts from both ends, then the rest in the middle one by one.
TERN_API void reverse_row(float* row, Index n);

TERN_API void flip_rows(Image& image);

/// Error unless p is a probability.
TERN_API void check_probability(const char* op, double p);

}  // namespace detail

/// Mirrors left and right with probability p.
class RandomHorizontalFlip : public detail::OfTensor<RandomHorizontalFlip> {
 public:
  using OfTensor::operator();

  explicit RandomHorizontalFlip(double p = 0.5, CallSite here = {}) : p_(p) {
    const CallScope scope(here);
    detail::check_probability("RandomHorizontalFlip", p);
  }

  void operator()(Image& image, Random& random) const {
    if (random.chance(p_)) detail::flip_rows(image);
  }

 private:
  double p_;
};

/// Mirrors top and bottom with probability p.
class TERN_API RandomVerticalFlip : public detail::OfTensor<RandomVerticalFlip> {
 public:
  using OfTensor::operator();

  explicit RandomVerticalFlip(double p = 0.5, CallSite here = {}) : p_(p) {
    const CallScope scope(here);
    detail::check_probability("RandomVerticalFlip", p);
  }

  void operator()(Image& image, Random& random) const;

 private:
  double p_;
};

}}}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "flip.ipp"
#endif
