// The exponential distribution.
#pragma once
#include "distribution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

namespace detail {
/// Samples of Exponential(1).
template <class D, class T>
Tensor<D, T> standard_exponential(const Shape& shape, D device) {
  return exponential_(empty<D, T>(shape, device));
}
}  // namespace detail

/// The time to the next event, of which there are rate > 0 per unit of time.
template <Device D, Floating T = float>
class Exponential : public Distribution<Exponential<D, T>> {
 public:
  explicit Exponential(const detail::Parameter<D, T>& rate, CallSite here = {}) {
    const CallScope call({"Exponential", here});
    rate_ = detail::checked("rate", rate, detail::positive);
    this->batch_shape_ = rate_.shape();
  }

  Tensor<D, T> rate() const { return rate_; }
  /// 1 / rate.
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"Exponential.mean", here});
    return 1 / rate_;
  }
  /// 1 / rate².
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Exponential.variance", here});
    return 1 / square(rate_);
  }
  /// -log(u) / rate, where u is uniform in (0, 1).
  Tensor<D, T> rsample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Exponential.rsample", here});
    return detail::standard_exponential<D, T>(this->extended_shape(n), rate_.device()) / rate_;
  }
  /// log(rate) - rate x. Error unless x >= 0.
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Exponential.log_prob", here});
    detail::check("the value", x, detail::nonnegative);
    return log(rate_) - rate_ * x;
  }
  /// 1 - e^(-rate x). Error unless x >= 0.
  Tensor<D, T> cdf(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Exponential.cdf", here});
    detail::check("the value", x, detail::nonnegative);
    return -expm1(-rate_ * x);
  }
  /// -log(1 - p) / rate.
  Tensor<D, T> icdf(const Tensor<D, T>& p, CallSite here = {}) const {
    const CallScope call({"Exponential.icdf", here});
    return -log1p(-p) / rate_;
  }
  /// 1 - log(rate).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Exponential.entropy", here});
    return 1 - log(rate_);
  }

 private:
  Tensor<D, T> rate_;
};
template <class A>
Exponential(const A&, CallSite = {}) -> Exponential<detail::device_of<A>, detail::element_of<A>>;

/// r - 1 - log(r), where r = q.rate / p.rate.
template <class D, class T>
Tensor<D, T> kl_divergence(const Exponential<D, T>& p, const Exponential<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  const Tensor<D, T> ratio = q.rate() / p.rate();
  return ratio - 1 - log(ratio);
}

}}}  // namespace tern::distributions
