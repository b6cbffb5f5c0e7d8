// The distribution of the exponential of a normal variable.
#pragma once
#include "normal.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// e^z for z of Normal(loc, scale).
template <Device D, Floating T = float>
class LogNormal : public Distribution<LogNormal<D, T>> {
 public:
  LogNormal(const detail::Parameter<D, T>& loc, const detail::Parameter<D, T>& scale, CallSite here = {})
      : normal_((CallScope({"LogNormal", here}), Normal<D, T>(loc, scale))) {
    this->batch_shape_ = normal_.batch_shape();
  }

  Tensor<D, T> loc() const { return normal_.loc(); }
  Tensor<D, T> scale() const { return normal_.scale(); }
  /// e^(loc + scale² / 2).
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"LogNormal.mean", here});
    return exp(loc() + 0.5 * square(scale()));
  }
  /// (e^(scale²) - 1) e^(2 loc + scale²).
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"LogNormal.variance", here});
    const Tensor<D, T> squared = square(scale());
    return expm1(squared) * exp(2 * loc() + squared);
  }
  Tensor<D, T> rsample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"LogNormal.rsample", here});
    return exp(normal_.rsample(n));
  }
  /// That of the normal distribution at log(x), less log(x). Error unless x > 0.
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"LogNormal.log_prob", here});
    detail::check("the value", x, detail::positive);
    const Tensor<D, T> z = log(x);
    return normal_.log_prob(z) - z;
  }
  /// The probability of a sample of at most x. Error unless x >= 0.
  Tensor<D, T> cdf(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"LogNormal.cdf", here});
    detail::check("the value", x, detail::nonnegative);
    return normal_.cdf(log(x));
  }
  /// The x whose cdf is p.
  Tensor<D, T> icdf(const Tensor<D, T>& p, CallSite here = {}) const {
    const CallScope call({"LogNormal.icdf", here});
    return exp(normal_.icdf(p));
  }
  /// That of the normal distribution, plus loc.
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"LogNormal.entropy", here});
    return normal_.entropy() + loc();
  }
  /// That of the normal distributions.
  friend Tensor<D, T> kl_divergence(const LogNormal& p, const LogNormal& q, CallSite here = {}) {
    return kl_divergence(p.normal_, q.normal_, here);
  }

 private:
  Normal<D, T> normal_;
};
template <class A, class B>
LogNormal(const A&, const B&, CallSite = {}) -> LogNormal<detail::device_of<A, B>, detail::element_of<A, B>>;

}}}  // namespace tern::distributions
