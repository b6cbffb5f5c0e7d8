// The geometric distribution.
#pragma once
#include "../ops/rounding.hpp"
#include "exponential.hpp"
#include "probs_or_logits.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// The number of failures before the first success, whose probability is probs > 0 at each trial: Geometric(probs),
/// Geometric<Cpu>({.logits = z}).
template <Device D, Floating T = float>
class Geometric : public Distribution<Geometric<D, T>>, public detail::EventParameter<D, T> {
 public:
  explicit Geometric(const detail::Parameter<D, T>& probs, CallSite here = {})
      : Geometric(ProbsOrLogits<D, T>{probs, {}}, here) {}
  explicit Geometric(const ProbsOrLogits<D, T>& given, CallSite here = {})
      : detail::EventParameter<D, T>((CallScope({"Geometric", here}), given)) {
    const CallScope call({"Geometric", here});
    if (this->probs_.defined()) detail::check("probs", this->probs_, detail::positive);
    this->batch_shape_ = this->shape();
  }

  /// 1 / probs - 1.
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"Geometric.mean", here});
    return 1 / this->probs() - 1;
  }
  /// (1 / probs - 1) / probs.
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Geometric.variance", here});
    const Tensor<D, T> p = this->probs();
    return (1 / p - 1) / p;
  }
  /// log(u) / log(1 - probs) rounded down, where u is uniform in (0, 1): [n, batch_shape]. It has no gradient.
  Tensor<D, T> sample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Geometric.sample", here});
    const Tensor<D, T> p = this->probs().detach();
    return floor(detail::standard_exponential<D, T>(this->extended_shape(n), p.device()) / -log1p(-p));
  }
  /// x log(1 - probs) + log(probs). Error unless x is 0, 1, 2 …
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Geometric.log_prob", here});
    detail::check("the value", x, detail::nonnegative_integer);
    const Tensor<D, T> p = this->probs();
    return xlog1py(x, -p) + log(p);
  }
  /// That of a trial, divided by probs.
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Geometric.entropy", here});
    const Tensor<D, T> p = this->probs();
    return detail::cross_entropy_of(this->logits(), p) / p;
  }
};
template <class A>
Geometric(const A&, CallSite = {}) -> Geometric<detail::device_of<A>, detail::element_of<A>>;

/// -p.entropy() - log(1 - q.probs) / p.probs - q.logits.
template <class D, class T>
Tensor<D, T> kl_divergence(const Geometric<D, T>& p, const Geometric<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  return -p.entropy() - log1p(-q.probs()) / p.probs() - q.logits();
}

}}}  // namespace tern::distributions
