// The Dirichlet distribution.
#pragma once
#include "../ops/softmax.hpp"
#include "gamma.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// Probabilities x of k numbers, with a density proportional to the product of x^(a - 1), for concentrations a > 0 [..,
/// k]. Its samples have no gradient by the parameters: rsample does not compile.
template <Device D, Floating T = float>
class Dirichlet : public Distribution<Dirichlet<D, T>> {
 public:
  explicit Dirichlet(const Tensor<D, T>& concentration, CallSite here = {}) : concentration_(concentration) {
    const CallScope call({"Dirichlet", here});
    const detail::Shape shape = concentration.checked("Dirichlet")->shape();
    if (shape.n == 0) Error::fail("Dirichlet", {"at least one dimension is needed"});
    detail::check("concentration", concentration, detail::positive);
    this->batch_shape_ = detail::Shape(shape.d, shape.n - 1);
    this->event_shape_ = shape.back();
  }

  Tensor<D, T> concentration() const { return concentration_; }
  /// a / A, where A is the sum of a.
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"Dirichlet.mean", here});
    return concentration_ / sum(concentration_, -1, true);
  }
  /// m (1 - m) / (A + 1), where m is the mean.
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Dirichlet.variance", here});
    const Tensor<D, T> m = mean();
    return m * (1 - m) / (sum(concentration_, -1, true) + 1);
  }
  /// Samples of Gamma(a, 1), divided by their sum: [n, batch_shape, k]. They have no gradient.
  Tensor<D, T> sample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Dirichlet.sample", here});
    const auto log_of = detail::log_standard_gamma(expand(concentration_.detach(), this->extended_shape(n)));
    return to_type(softmax(log_of, -1), dtype<T>);
  }
  /// The sum of (a - 1) log(x) - log Γ(a), plus log Γ(A). Error unless the x are 0 or more and their sum is 1.
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Dirichlet.log_prob", here});
    detail::check_event_shape(*this, x);
    detail::check("the value", x, detail::nonnegative);
    detail::check("the value's sum", sum(x.detach(), -1), detail::one);
    return sum(xlogy(concentration_ - 1, x), -1) - log_beta(concentration_);
  }
  /// log B(a) - (k - A) ψ(A) - sum of (a - 1) ψ(a).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Dirichlet.entropy", here});
    const Tensor<D, T>& a = concentration_;
    const Tensor<D, T> total = sum(a, -1);
    return log_beta(a) - (a.size(-1) - total) * digamma(total) - sum((a - 1) * digamma(a), -1);
  }

  /// The sum of (a - b) (ψ(a) - ψ(A)), plus log B(b) - log B(a), of the concentrations a of p and b of q.
  friend Tensor<D, T> kl_divergence(const Dirichlet& p, const Dirichlet& q, CallSite here = {}) {
    const CallScope call({"kl_divergence", here});
    const Tensor<D, T> a = p.concentration_, b = q.concentration_;
    return sum((a - b) * (digamma(a) - digamma(sum(a, -1, true))), -1) + log_beta(b) - log_beta(a);
  }

 private:
  /// log B(a): the sum of log Γ(a), less log Γ(A).
  static Tensor<D, T> log_beta(const Tensor<D, T>& a) { return sum(lgamma(a), -1) - lgamma(sum(a, -1)); }

  Tensor<D, T> concentration_;
};

}}}  // namespace tern::distributions
