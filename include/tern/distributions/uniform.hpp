// The uniform distribution.
#pragma once
#include <limits>

#include "../ops/where.hpp"
#include "distribution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// Uniform in [low, high), where low < high.
template <Device D, Floating T = float>
class Uniform : public Distribution<Uniform<D, T>> {
 public:
  Uniform(const detail::Parameter<D, T>& low, const detail::Parameter<D, T>& high, CallSite here = {}) {
    const CallScope call({"Uniform", here});
    const auto both = broadcast_tensors({low.tensor(high), high.tensor(low)});
    low_ = both[0], high_ = both[1];
    detail::check("high - low", width(), detail::positive);
    this->batch_shape_ = low_.shape();
  }

  Tensor<D, T> low() const { return low_; }
  Tensor<D, T> high() const { return high_; }
  /// (low + high) / 2.
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"Uniform.mean", here});
    return 0.5 * (low_ + high_);
  }
  /// (high - low)² / 12.
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Uniform.variance", here});
    return square(width()) / 12;
  }
  /// low + (high - low) u, where u is uniform in [0, 1).
  Tensor<D, T> rsample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Uniform.rsample", here});
    return low_ + width() * rand<D, T>(this->extended_shape(n), low_.device());
  }
  /// -log(high - low), and -inf at high. Error if x is not in [low, high].
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Uniform.log_prob", here});
    check_support(x);
    return where(ge(x, low_) & lt(x, high_), -log(width()), -std::numeric_limits<double>::infinity());
  }
  /// (x - low) / (high - low). Error if x is not in [low, high].
  Tensor<D, T> cdf(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Uniform.cdf", here});
    check_support(x);
    return (x - low_) / width();
  }
  /// low + (high - low) p.
  Tensor<D, T> icdf(const Tensor<D, T>& p, CallSite here = {}) const {
    const CallScope call({"Uniform.icdf", here});
    return low_ + width() * p;
  }
  /// log(high - low).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Uniform.entropy", here});
    return log(width());
  }

 private:
  Tensor<D, T> width() const { return high_ - low_; }
  void check_support(const Tensor<D, T>& x) const {
    detail::check("the value - low", x.detach() - low_.detach(), detail::nonnegative);
    detail::check("high - the value", high_.detach() - x.detach(), detail::nonnegative);
  }

  Tensor<D, T> low_, high_;
};
template <class A, class B>
Uniform(const A&, const B&, CallSite = {}) -> Uniform<detail::device_of<A, B>, detail::element_of<A, B>>;

/// log((q.high - q.low) / (p.high - p.low)); infinite where p has samples that q has not.
template <class D, class T>
Tensor<D, T> kl_divergence(const Uniform<D, T>& p, const Uniform<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  return where(gt(q.low(), p.low()) | lt(q.high(), p.high()), std::numeric_limits<double>::infinity(),
               log((q.high() - q.low()) / (p.high() - p.low())));
}

}}}  // namespace tern::distributions
