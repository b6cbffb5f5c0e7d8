// The distribution of the numbers 0 … k - 1.
#pragma once
#include "../ops/gather.hpp"
#include "../ops/multinomial.hpp"
#include "../ops/softmax.hpp"
#include "probs_or_logits.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// The number i of 0 … k - 1 with a probability proportional to probs[.., i], or to e^logits[.., i]:
/// Categorical(probs), Categorical<Cpu>({.logits = z}), of [batch_shape, k].
template <Device D, Floating T = float>
class Categorical : public Distribution<Categorical<D, T>> {
 public:
  explicit Categorical(const Tensor<D, T>& probs, CallSite here = {})
      : Categorical(ProbsOrLogits<D, T>{probs, {}}, here) {}
  explicit Categorical(const ProbsOrLogits<D, T>& given, CallSite here = {}) {
    const CallScope call({"Categorical", here});
    detail::check_one_given(given);
    const Tensor<D, T> x = given.probs.given() ? detail::checked("probs", given.probs, detail::nonnegative)
                                               : detail::checked("logits", given.logits, detail::real);
    if (x.dim() == 0) Error::fail("Categorical", {"at least one dimension is needed"});
    if (given.probs.given()) {
      const Tensor<D, T> total = sum(x, -1, true);
      detail::check("the sum of probs", total, detail::positive);
      probs_ = x / total;
    } else {
      logits_ = log_softmax(x, -1);
    }
    this->batch_shape_ = detail::Shape(x.shape().d, x.dim() - 1);
  }

  /// The probabilities: their sum is 1.
  Tensor<D, T> probs(CallSite here = {}) const {
    const CallScope call({"Categorical.probs", here});
    return probs_.defined() ? probs_ : exp(logits_);
  }
  /// Their logarithms; of given probabilities, of those limited to [eps, 1 - eps].
  Tensor<D, T> logits(CallSite here = {}) const {
    const CallScope call({"Categorical.logits", here});
    return probs_.defined() ? log(detail::clamped(probs_)) : logits_;
  }
  /// NaN, as in PyTorch: the numbers are names.
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"Categorical.mean", here});
    return full<D, T>(this->batch_shape_, std::numeric_limits<double>::quiet_NaN(), probs().device());
  }
  Tensor<D, T> variance(CallSite here = {}) const { return mean(here); }

  /// [n, batch_shape]. It has no gradient. The host waits for multinomial's check of the probabilities.
  Tensor<D, Index> sample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Categorical.sample", here});
    const Tensor<D, T> p = probs().detach();
    const Tensor<D, Index> drawn = multinomial(reshape(p, {-1, p.size(-1)}), n.numel(), true);
    return reshape(drawn.t(), this->extended_shape(n));
  }
  /// logits[.., x]. Error if x is not in 0 … k - 1.
  Tensor<D, T> log_prob(const Tensor<D, Index>& x, CallSite here = {}) const {
    const CallSite op{"Categorical.log_prob", here};
    const CallScope call(op);
    const Tensor<D, T> z = logits();
    const detail::Shape shape = tern::detail::broadcast_shapes(op, x.checked(op)->shape_ref(), this->batch_shape_);
    const Tensor<D, Index> at = unsqueeze(expand(x, shape), -1);
    return squeeze(gather(expand(z, detail::joined(shape, z.size(-1))), -1, at), -1);
  }
  /// -sum of probs logits, where 0 of -inf is 0.
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Categorical.entropy", here});
    return -sum(clamp_min(logits(), -tern::detail::largest_of<T>) * probs(), -1);
  }

 private:
  Tensor<D, T> probs_, logits_;
};

/// The sum of p.probs (p.logits - q.logits); infinite where p has samples that q has not.
template <class D, class T>
Tensor<D, T> kl_divergence(const Categorical<D, T>& p, const Categorical<D, T>& q, CallSite here = {}) {
  const CallScope call({"kl_divergence", here});
  const Tensor<D, T> a = p.probs(), terms = where(eq(q.probs(), 0), std::numeric_limits<double>::infinity(),
                                                  a * (p.logits() - q.logits()));
  return sum(where(eq(a, 0), 0, terms), -1);
}

}}}  // namespace tern::distributions
