// The Laplace distribution.
#pragma once
#include "../ops/rounding.hpp"
#include "exponential.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// The density e^(-|x - loc| / scale) / (2 scale), where scale > 0.
template <Device D, Floating T = float>
class Laplace : public Distribution<Laplace<D, T>> {
 public:
  Laplace(const detail::Parameter<D, T>& loc, const detail::Parameter<D, T>& scale, CallSite here = {}) {
    const CallScope call({"Laplace", here});
    const auto both = broadcast_tensors(
        {detail::checked("loc", loc, detail::real, scale), detail::checked("scale", scale, detail::positive, loc)});
    loc_ = both[0], scale_ = both[1];
    this->batch_shape_ = loc_.shape();
  }

  Tensor<D, T> loc() const { return loc_; }
  Tensor<D, T> scale() const { return scale_; }
  Tensor<D, T> mean(CallSite = {}) const { return loc_; }
  /// 2 scale².
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Laplace.variance", here});
    return 2 * square(scale_);
  }
  /// loc + scale (a - b), where a and b are exponential of rate 1.
  Tensor<D, T> rsample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Laplace.rsample", here});
    const detail::Shape shape = this->extended_shape(n);
    const Tensor<D, T> a = detail::standard_exponential<D, T>(shape, loc_.device()),
                       b = detail::standard_exponential<D, T>(shape, loc_.device());
    return loc_ + scale_ * (a - b);
  }
  /// -|x - loc| / scale - log(2 scale).
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Laplace.log_prob", here});
    detail::check("the value", x, detail::real);
    return -abs(x - loc_) / scale_ - log(2 * scale_);
  }
  /// (1 - sign(z) (e^-|z| - 1)) / 2, where z = (x - loc) / scale.
  Tensor<D, T> cdf(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Laplace.cdf", here});
    detail::check("the value", x, detail::real);
    const Tensor<D, T> z = (x - loc_) / scale_;
    return 0.5 - 0.5 * sign(z) * expm1(-abs(z));
  }
  /// loc - scale sign(p - 1/2) log(1 - |2 p - 1|).
  Tensor<D, T> icdf(const Tensor<D, T>& p, CallSite here = {}) const {
    const CallScope call({"Laplace.icdf", here});
    const Tensor<D, T> side = 2 * p - 1;
    return loc_ - scale_ * sign(side) * log1p(-abs(side));
  }
  /// 1 + log(2 scale).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Laplace.entropy", here});
    return 1 + log(2 * scale_);
  }

 private:
  Tensor<D, T> loc_, scale_;
};
template <class A, class B>
Laplace(const A&, const B&, CallSite = {}) -> Laplace<detail::device_of<A, B>, detail::element_of<A, B>>;

/// r e^(-d / p.scale) + d / q.scale - 1 - log(r), where r = p.scale / q.scale and d = |p.loc - q.loc|.
template <class D, class T>
Tensor<D, T> kl_divergence(const Laplace<D, T>& p, const Laplace<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  const Tensor<D, T> ratio = p.scale() / q.scale(), distance = abs(p.loc() - q.loc());
  return ratio * exp(-distance / p.scale()) + distance / q.scale() - 1 - log(ratio);
}

}}}  // namespace tern::distributions
