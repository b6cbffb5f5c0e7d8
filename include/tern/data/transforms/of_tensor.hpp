// Transforms called with a tensor instead of an image: Resize(4)(x).
#pragma once
#include "../dataset.hpp"
#include "../image.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

/// Whether a transform draws random numbers.
template <class T>
inline constexpr bool draws_of = true;
template <class T>
  requires requires { T::draws; }
inline constexpr bool draws_of<T> = T::draws;

namespace detail {

/// What call(transform, image, random) makes of each image of x, all with the same random numbers.
TERN_API Tensor<Cpu> transform_tensor(const Tensor<Cpu>& x, const RandomKey& key, const void* transform,
                                      void (*call)(const void* transform, Image& image, Random& random));

/// A transform that tensors can be passed to.
template <class Transform>
class OfTensor {
 public:
  /// Of an image [C, H, W], or of images [N, C, H, W] that all get the same random numbers. The result has no gradient.
  Tensor<Cpu> operator()(const Tensor<Cpu>& x, CallSite here = {}) const {
    const CallScope scope(here);
    return transform_tensor(x, draws_of<Transform> ? RandomKey::next() : RandomKey{},
                            static_cast<const Transform*>(this),
                            [](const void* transform, Image& image, Random& random) {
                              (*static_cast<const Transform*>(transform))(image, random);
                            });
  }
};

}  // namespace detail

}}}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "of_tensor.ipp"
#endif
