// The beta distribution.
#pragma once
#include "gamma.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// The density x^(a - 1) (1 - x)^(b - 1) / B(a, b) in [0, 1], where a > 0 is concentration1 and b > 0 is
/// concentration0. Its samples have no gradient by the parameters: rsample does not compile.
template <Device D, Floating T = float>
class Beta : public Distribution<Beta<D, T>> {
 public:
  Beta(const detail::Parameter<D, T>& concentration1, const detail::Parameter<D, T>& concentration0,
       CallSite here = {}) {
    const CallScope call({"Beta", here});
    const auto both =
        broadcast_tensors({detail::checked("concentration1", concentration1, detail::positive, concentration0),
                           detail::checked("concentration0", concentration0, detail::positive, concentration1)});
    a_ = both[0], b_ = both[1];
    this->batch_shape_ = a_.shape();
  }

  Tensor<D, T> concentration1() const { return a_; }
  Tensor<D, T> concentration0() const { return b_; }
  /// a / (a + b).
  Tensor<D, T> mean(CallSite here = {}) const {
    const CallScope call({"Beta.mean", here});
    return a_ / (a_ + b_);
  }
  /// a b / ((a + b)² (a + b + 1)).
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"Beta.variance", here});
    const Tensor<D, T> total = a_ + b_;
    return a_ * b_ / (square(total) * (total + 1));
  }
  /// x / (x + y), where x and y are of Gamma(a, 1) and Gamma(b, 1): [n, batch_shape]. It has no gradient.
  Tensor<D, T> sample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"Beta.sample", here});
    const detail::Shape shape = this->extended_shape(n);
    const auto log_x = detail::log_standard_gamma(expand(a_.detach(), shape)),
               log_y = detail::log_standard_gamma(expand(b_.detach(), shape));
    return to_type(sigmoid(log_x - log_y), dtype<T>);
  }
  /// (a - 1) log(x) + (b - 1) log(1 - x) - log B(a, b). Error unless x is in [0, 1].
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"Beta.log_prob", here});
    detail::check("the value", x, detail::unit_interval);
    return xlogy(a_ - 1, x) + xlog1py(b_ - 1, -x) - log_beta();
  }
  /// log B(a, b) - (a - 1) ψ(a) - (b - 1) ψ(b) + (a + b - 2) ψ(a + b).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"Beta.entropy", here});
    const Tensor<D, T> total = a_ + b_;
    return log_beta() - (a_ - 1) * digamma(a_) - (b_ - 1) * digamma(b_) + (total - 2) * digamma(total);
  }

  /// log B(q) - log B(p) + (p.a - q.a) ψ(p.a) + (p.b - q.b) ψ(p.b) + (q.a + q.b - p.a - p.b) ψ(p.a + p.b).
  friend Tensor<D, T> kl_divergence(const Beta& p, const Beta& q, CallSite here = {}) {
    const CallScope call({"kl_divergence", here});
    const Tensor<D, T> da = p.a_ - q.a_, db = p.b_ - q.b_;
    return q.log_beta() - p.log_beta() + da * digamma(p.a_) + db * digamma(p.b_) - (da + db) * digamma(p.a_ + p.b_);
  }

 private:
  /// log B(a, b).
  Tensor<D, T> log_beta() const { return lgamma(a_) + lgamma(b_) - lgamma(a_ + b_); }

  Tensor<D, T> a_, b_;
};
template <class A, class B>
Beta(const A&, const B&, CallSite = {}) -> Beta<detail::device_of<A, B>, detail::element_of<A, B>>;

}}}  // namespace tern::distributions
