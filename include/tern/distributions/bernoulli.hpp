// The distribution of 0 and 1.
#pragma once
#include "probs_or_logits.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// 1 with probability probs, else 0: Bernoulli(probs), Bernoulli<Cpu>({.logits = z}).
template <Device D, Floating T = float>
class Bernoulli : public Distribution<Bernoulli<D, T>>, public detail::EventParameter<D, T> {
 public:
  explicit Bernoulli(const detail::Parameter<D, T>& probs, CallSite here = {})
      : Bernoulli(ProbsOrLogits<D, T>{probs, {}}, here) {}
  explicit Bernoulli(const ProbsOrLogits<D, T>& given, CallSite here = {})
      : detail::EventParameter<D, T>((CallScope({"Bernoulli", here}), given)) {
    this->batch_shape_ = this->shape();
  }

  Tensor<D, T> mean(CallSite here = {}) const { return this->probs(here); }
  /// probs (1 - probs).
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Bernoulli.variance", here});
    const Tensor<D, T> p = this->probs();
    return p * (1 - p);
  }
  /// [n, batch_shape]. It has no gradient.
  Tensor<D, T> sample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Bernoulli.sample", here});
    return bernoulli(expand(this->probs().detach(), this->extended_shape(n)));
  }
  /// x log(probs) + (1 - x) log(1 - probs). Error unless x is 0 or 1.
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Bernoulli.log_prob", here});
    detail::check("the value", x, detail::boolean);
    return -detail::cross_entropy_of(this->logits(), x);
  }
  /// -probs log(probs) - (1 - probs) log(1 - probs).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Bernoulli.entropy", here});
    return detail::cross_entropy_of(this->logits(), this->probs());
  }
};
template <class A>
Bernoulli(const A&, CallSite = {}) -> Bernoulli<detail::device_of<A>, detail::element_of<A>>;

/// p log(p / q) + (1 - p) log((1 - p) / (1 - q)) of the probabilities; infinite where p has samples that q has not.
template <class D, class T>
Tensor<D, T> kl_divergence(const Bernoulli<D, T>& p, const Bernoulli<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor<D, T> a = p.probs(), b = q.probs(), z = p.logits(), w = q.logits();
  const Tensor<D, T> one = where(eq(b, 0), infinity, a * (logsigmoid(z) - logsigmoid(w)));
  const Tensor<D, T> zero = where(eq(b, 1), infinity, (1 - a) * (logsigmoid(-z) - logsigmoid(-w)));
  return where(eq(a, 0), 0, one) + where(eq(a, 1), 0, zero);
}

}}}  // namespace tern::distributions
