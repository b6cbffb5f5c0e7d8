// The normal distribution of vectors, on the CPU.
#pragma once
#include "../linalg/cholesky.hpp"
#include "../ops/equality.hpp"
#include "distribution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// The parameters of MultivariateNormal besides loc, of which one is given.
template <class D, class T>
struct MultivariateNormalOptions {
  Tensor<D, T> covariance_matrix = {};  // symmetric and positive definite
  Tensor<D, T> scale_tril = {};         // the lower triangular L with the covariance L Lᵀ; its diagonal is positive
};

/// Vectors of mean loc [.., k], whose covariance [.., k, k] is given by a matrix, or as scale_tril:
/// MultivariateNormal(loc, covariance), MultivariateNormal(loc, {.scale_tril = l}). The batches broadcast.
template <Device D, Floating T = float>
class MultivariateNormal : public Distribution<MultivariateNormal<D, T>> {
 public:
  MultivariateNormal(const Tensor<D, T>& loc, const Tensor<D, T>& covariance_matrix, CallSite here = {})
      : MultivariateNormal(loc, MultivariateNormalOptions<D, T>{.covariance_matrix = covariance_matrix}, here) {}
  MultivariateNormal(const Tensor<D, T>& loc, const MultivariateNormalOptions<D, T>& options, CallSite here = {}) {
    const CallSite op{"MultivariateNormal", here};
    const CallScope call(op);
    const bool by_factor = options.scale_tril.defined();
    if (by_factor == options.covariance_matrix.defined())
      Error::fail(op, {"one of covariance_matrix and scale_tril must be given, and not both"});
    const Tensor<D, T>& matrix = by_factor ? options.scale_tril : options.covariance_matrix;
    const detail::Shape sizes = matrix.shape();
    detail::check("loc", loc, detail::real);
    if (loc.dim() < 1 || sizes.n < 2 || sizes[-1] != loc.size(-1) || sizes[-2] != loc.size(-1))
      Error::fail(op, {"a matrix of shape ", sizes, " does not fit loc of shape ", loc.shape()});
    if (by_factor) {
      detail::check("the diagonal of scale_tril", diagonal(matrix, 0, -2, -1), detail::positive);
      if (!equal(tril(matrix), matrix)) Error::fail(op, {"scale_tril must be lower triangular"});
    } else if (!allclose(matrix, matrix.mT(), 1e-5, 1e-6)) {
      Error::fail(op, {"covariance_matrix must be symmetric"});
    }
    scale_tril_ = by_factor ? matrix : linalg::cholesky(matrix);
    this->event_shape_ = loc.size(-1);
    this->batch_shape_ = tern::detail::broadcast_shapes(op, {sizes.d, sizes.n - 2}, {loc.impl()->dims, loc.dim() - 1});
    loc_ = expand(loc, detail::joined(this->batch_shape_, this->event_shape_));
  }

  Tensor<D, T> loc() const { return loc_; }
  /// L, expanded to the batch.
  Tensor<D, T> scale_tril(CallSite here = {}) const {
    const CallScope call({"MultivariateNormal.scale_tril", here});
    return expand(scale_tril_,
                  detail::joined(detail::joined(this->batch_shape_, this->event_shape_), this->event_shape_));
  }
  /// L Lᵀ.
  Tensor<D, T> covariance_matrix(CallSite here = {}) const {
    const CallScope call({"MultivariateNormal.covariance_matrix", here});
    const Tensor<D, T> l = scale_tril();
    return matmul(l, l.mT());
  }
  Tensor<D, T> mean(CallSite = {}) const { return loc_; }
  /// The covariance's diagonal.
  Tensor<D, T> variance(CallSite here = {}) const {
    const CallScope call({"MultivariateNormal.variance", here});
    return sum(square(scale_tril()), -1);
  }
  /// loc + L z, where z is standard normal: [n, batch_shape, k].
  Tensor<D, T> rsample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope call({"MultivariateNormal.rsample", here});
    const Tensor<D, T> z = randn<D, T>(this->extended_shape(n), loc_.device());
    return loc_ +
           (scale_tril_.dim() == 2 ? matmul(z, scale_tril_.mT()) : squeeze(matmul(scale_tril_, unsqueeze(z, -1)), -1));
  }
  /// -(|L⁻¹ (x - loc)|² + k log(2π)) / 2 - log det(L), for x [.., k].
  Tensor<D, T> log_prob(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope call({"MultivariateNormal.log_prob", here});
    detail::check_event_shape(*this, x);
    detail::check("the value", x, detail::real);
    return -0.5 * squared_length(x - loc_) - log_det() - loc_.size(-1) * 0.91893853320467274178;
  }
  /// k (1 + log(2π)) / 2 + log det(L).
  Tensor<D, T> entropy(CallSite here = {}) const {
    const CallScope call({"MultivariateNormal.entropy", here});
    return expand(log_det() + loc_.size(-1) * 1.41893853320467274178, this->batch_shape_);
  }

  /// (|Lq⁻¹ Lp|² + |Lq⁻¹ (p.loc - q.loc)|² - k) / 2 + log det(Lq) - log det(Lp).
  friend Tensor<D, T> kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q, CallSite here = {}) {
    const CallScope call({"kl_divergence", here});
    const Tensor<D, T> ratio = linalg::solve_triangular(q.scale_tril_, p.scale_tril_, false);
    const Tensor<D, T> squares = sum(square(ratio), {-2, -1}) + q.squared_length(p.loc_ - q.loc_);
    return 0.5 * (squares - p.loc_.size(-1)) + q.log_det() - p.log_det();
  }

 private:
  Tensor<D, T> log_det() const { return sum(log(diagonal(scale_tril_, 0, -2, -1)), -1); }
  /// |L⁻¹ v|² of vectors v [.., k]. With one L they are the rows of one system.
  Tensor<D, T> squared_length(const Tensor<D, T>& v) const {
    if (scale_tril_.dim() > 2)
      return sum(square(squeeze(linalg::solve_triangular(scale_tril_, unsqueeze(v, -1), false), -1)), -1);
    const Tensor<D, T> rows = reshape(v, {-1, v.size(-1)});
    return reshape(sum(square(linalg::solve_triangular(scale_tril_.mT(), rows, true, false)), -1),
                   detail::Shape(v.shape().d, v.dim() - 1));
  }

  Tensor<D, T> loc_, scale_tril_;
};

}}}  // namespace tern::distributions
