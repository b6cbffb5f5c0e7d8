// Ops on 16-bit tensors that calculate in float: compositions with one rounding at the end, and weights of
// normalisations.
#pragma once
#include <type_traits>

#include "../copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// f(x...), calculated in compute_t<T>. 16-bit tensors are converted before and after; others are passed on as they
/// are.
template <class F, class D, class T, class... X>
Tensor<D, T> rounded_once(const F& f, const Tensor<D, T>& x, const X&... rest) {
  if constexpr (is_half_v<T>) return to_type(f(to_type(x, f32), to_type(rest, f32)...), Type<T>{});
  else return f(x, rest...);
}

/// The weight or bias of a normalisation of 16-bit elements, which is used in float. One in 16 bits is converted,
/// recorded.
template <class D, class T>
class PromotedWeight {
 public:
  using Float = Tensor<D, compute_t<T>>;
  PromotedWeight() {}
  PromotedWeight(const Float& x) : x_(x) {}
  PromotedWeight(const Tensor<D, T>& x) : x_(x.defined() ? to_type(x, Type<compute_t<T>>{}) : Float()) {}
  operator const Float&() const { return x_; }

 private:
  Float x_;
};

/// The same for all floating-point types; the tensor itself where T is what is calculated in.
template <class D, class T>
using Promoted = std::conditional_t<is_half_v<T>, PromotedWeight<D, T>, Tensor<D, T>>;

}}}  // namespace tern::detail
