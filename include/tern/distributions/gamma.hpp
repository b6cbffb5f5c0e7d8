// The gamma distribution.
#pragma once
#include "../ops/special.hpp"
#include "../ops/where.hpp"
#include "distribution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

namespace detail {

/// Logarithms of samples of Gamma(a, 1), for each element of a: those of Gamma(a + 1, 1) by Marsaglia and Tsang ("A
/// simple method for generating gamma variables", 2000), plus log(u) / a for u uniform in (0, 1). To repeat until all
/// proposals are accepted, the host would have to wait for a GPU. So there are eight, of which the last accepted one
/// counts. Each is accepted with a probability of 0.951 or more (a = 0; 0.981 for a = 1): one sample in 3e10 has none,
/// and is the proposal's centre.
template <class D, class T>
Tensor<D, compute_t<T>> log_standard_gamma(const Tensor<D, T>& a) {
  using C = compute_t<T>;
  const CallSite op{"sample", CallSite::unknown};
  const Shape shape = a.shape();
  const auto proposed = [](auto before, auto z, auto u, auto alpha) {
    const auto d = alpha + 2.0 / 3, root = 1 + z / sqrt(9 * d), v = where(root > 0, root * root * root, 1);
    const auto accepted = (root > 0) & (log1p(-u) < 0.5 * z * z + d * (1 - v + log(v)));
    return where(accepted, log(d * v), before);
  };
  Tensor<D, C> y = tern::detail::map<C>(op, [](auto alpha) { return log(alpha + 2.0 / 3); }, a);
  for (int proposal = 0; proposal < 8; ++proposal)
    y = tern::detail::map<C>(op, proposed, y, randn<D, C>(shape, a.device()), rand<D, C>(shape, a.device()), a);
  const auto lowered = [](auto log_of_more, auto u, auto alpha) { return log_of_more + log1p(-u) / alpha; };
  return tern::detail::map<C>(op, lowered, y, rand<D, C>(shape, a.device()), a);
}

}  // namespace detail

/// The density rate^a x^(a - 1) e^(-rate x) / Γ(a), where a > 0 is the concentration, and rate > 0. Its samples have no
/// gradient by the parameters: rsample does not compile.
template <Device D, Floating T = float>
class Gamma : public Distribution<Gamma<D, T>> {
 public:
  Gamma(const detail::Parameter<D, T>& concentration, const detail::Parameter<D, T>& rate, CallSite here = {}) {
    const CallScope call({"Gamma", here});
    const auto both = broadcast_tensors({detail::checked("concentration", concentration, detail::positive, rate),
                                         detail::checked("rate", rate, detail::positive, concentration)});
    concentration_ = both[0], rate_ = both[1];
    this->batch_shape_ = rate_.shape();
  }

  Tensor<D, T> concentration() const { return concentration_; }
  Tensor<D, T> rate() const { return rate_; }
  /// a / rate.
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"Gamma.mean", here});
    return concentration_ / rate_;
  }
  /// a / rate².
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Gamma.variance", here});
    return concentration_ / square(rate_);
  }
  /// [n, batch_shape]. It has no gradient. What would be 0 is T's smallest normal number.
  Tensor<D, T> sample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Gamma.sample", here});
    const double least = std::is_same_v<T, half> ? 0x1p-14 : double(std::numeric_limits<compute_t<T>>::min());
    const auto log_of = detail::log_standard_gamma(expand(concentration_.detach(), this->extended_shape(n)));
    const auto scaled = [least](auto log_of_sample, auto r) { return max(exp(log_of_sample) / r, least); };
    return tern::detail::map<T>({"Gamma.sample", CallSite::unknown}, scaled, log_of, rate_.detach());
  }
  /// a log(rate) + (a - 1) log(x) - rate x - log Γ(a). Error unless x >= 0.
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Gamma.log_prob", here});
    detail::check("the value", x, detail::nonnegative);
    return concentration_ * log(rate_) + xlogy(concentration_ - 1, x) - rate_ * x - lgamma(concentration_);
  }
  /// a - log(rate) + log Γ(a) + (1 - a) ψ(a).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Gamma.entropy", here});
    const Tensor<D, T>& a = concentration_;
    return a - log(rate_) + lgamma(a) + (1 - a) * digamma(a);
  }

 private:
  Tensor<D, T> concentration_, rate_;
};
template <class A, class B>
Gamma(const A&, const B&, CallSite = {}) -> Gamma<detail::device_of<A, B>, detail::element_of<A, B>>;

/// b log(p.rate / q.rate) + log Γ(b) - log Γ(a) + (a - b) ψ(a) + (q.rate - p.rate) a / p.rate, of the concentrations a
/// of p and b of q.
template <class D, class T>
Tensor<D, T> kl_divergence(const Gamma<D, T>& p, const Gamma<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  const Tensor<D, T> a = p.concentration(), b = q.concentration();
  return b * log(p.rate() / q.rate()) + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate() - p.rate()) * p.mean();
}

}}}  // namespace tern::distributions
