// Probabilities, given as themselves or as logits.
#pragma once
#include <limits>

#include "../ops/activations.hpp"
#include "../ops/binary_cross_entropy.hpp"
#include "../ops/where.hpp"
#include "distribution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// The parameters of Bernoulli, Geometric and Categorical, of which one is given: {.probs = p} or {.logits = z}.
template <class D, class T>
struct ProbsOrLogits {
  detail::Parameter<D, T> probs = {}, logits = {};
};

namespace detail {

template <class D, class T>
void check_one_given(const ProbsOrLogits<D, T>& given) {
  if (given.probs.given() == given.logits.given())
    Error::fail("distribution", {"one of probs and logits must be given, and not both"});
}

/// p limited to [eps, 1 - eps], where eps is the distance of 1 from the next larger number, so that its logits are
/// finite.
template <class D, class T>
Tensor<D, T> clamped(const Tensor<D, T>& p) {
  constexpr double eps = std::is_same_v<T, half>       ? 0x1p-10
                         : std::is_same_v<T, bfloat16> ? 0x1p-7
                                                       : std::numeric_limits<compute_t<T>>::epsilon();
  return clamp(p, eps, 1 - eps);
}

/// -x log(p) - (1 - x) log(1 - p) for the probability p of these logits.
template <class D, class T>
Tensor<D, T> cross_entropy_of(const Tensor<D, T>& logits, const Tensor<D, T>& x) {
  const auto both = broadcast_tensors({logits, x});
  return binary_cross_entropy_with_logits(both[0], both[1], {.reduction = Reduction::none});
}

/// The parameter of an event that happens or does not.
template <class D, class T>
class EventParameter {
 public:
  /// The probability of the event: what was given, or sigmoid(logits).
  Tensor<D, T> probs(CallSite here = {}) const {
    const CallScope call({"probs", here});
    return logits_.defined() ? sigmoid(logits_) : probs_;
  }
  /// What was given, or log(p / (1 - p)) of the probabilities p, limited to [eps, 1 - eps].
  Tensor<D, T> logits(CallSite here = {}) const {
    const CallScope call({"logits", here});
    if (logits_.defined()) return logits_;
    const Tensor<D, T> p = clamped(probs_);
    return log(p) - log1p(-p);
  }

 protected:
  explicit EventParameter(const ProbsOrLogits<D, T>& given) {
    check_one_given(given);
    if (given.probs.given()) probs_ = checked("probs", given.probs, unit_interval);
    else logits_ = checked("logits", given.logits, real);
  }
  Shape shape() const { return (logits_.defined() ? logits_ : probs_).shape(); }

  Tensor<D, T> probs_, logits_;
};

}  // namespace detail

}}}  // namespace tern::distributions
