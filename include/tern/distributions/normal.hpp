// The normal distribution.
#pragma once
#include "../ops/special.hpp"
#include "distribution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// Normal of mean loc and standard deviation scale > 0, which broadcast; one of them may be a number, and with
/// Normal<Cpu>(0, 1) both.
template <Device D, Floating T = float>
class Normal : public Distribution<Normal<D, T>> {
 public:
  Normal(const detail::Parameter<D, T>& loc, const detail::Parameter<D, T>& scale, CallSite here = {}) {
    const CallScope call({"Normal", here});
    const auto both = broadcast_tensors(
        {detail::checked("loc", loc, detail::real, scale), detail::checked("scale", scale, detail::positive, loc)});
    loc_ = both[0], scale_ = both[1];
    this->batch_shape_ = loc_.shape();
  }

  Tensor<D, T> loc() const { return loc_; }
  Tensor<D, T> scale() const { return scale_; }
  Tensor<D, T> mean(CallSite = {}) const { return loc_; }
  Tensor<D, T> stddev(CallSite = {}) const { return scale_; }
  /// scale².
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Normal.variance", here});
    return square(scale_);
  }
  /// loc + scale z, where z is standard normal.
  Tensor<D, T> rsample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Normal.rsample", here});
    return loc_ + scale_ * randn<D, T>(this->extended_shape(n), loc_.device());
  }
  /// -((x - loc) / scale)² / 2 - log(scale) - log(2π) / 2.
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Normal.log_prob", here});
    detail::check("the value", x, detail::real);
    return -0.5 * square((x - loc_) / scale_) - log(scale_) - 0.91893853320467274178;
  }
  /// The probability of a sample of at most x.
  Tensor<D, T> cdf(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Normal.cdf", here});
    detail::check("the value", x, detail::real);
    return ndtr((x - loc_) / scale_);
  }
  /// The x whose cdf is p.
  Tensor<D, T> icdf(const Tensor<D, T>& p, CallSite here = {}) const {
    const CallScope call({"Normal.icdf", here});
    return loc_ + scale_ * (1.41421356237309504880 * erfinv(2 * p - 1));
  }
  /// log(2π) / 2 + 1 / 2 + log(scale).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Normal.entropy", here});
    return log(scale_) + 1.41893853320467274178;
  }

 private:
  Tensor<D, T> loc_, scale_;
};
template <class A, class B>
Normal(const A&, const B&, CallSite = {}) -> Normal<detail::device_of<A, B>, detail::element_of<A, B>>;

/// (r² + ((p.loc - q.loc) / q.scale)² - 1) / 2 - log(r), where r = p.scale / q.scale.
template <class D, class T>
Tensor<D, T> kl_divergence(const Normal<D, T>& p, const Normal<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  const Tensor<D, T> ratio = p.scale() / q.scale();
  return 0.5 * (square(ratio) + square((p.loc() - q.loc()) / q.scale()) - 1) - log(ratio);
}

}}}  // namespace tern::distributions
