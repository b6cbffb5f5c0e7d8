// Linear least squares. linalg.hpp does not include this header: without the compiled library it brings Eigen, which
// takes longer to compile than the rest.
#pragma once
#include <string_view>

#include "../backend/cpu/linalg/least_squares.hpp"
#include "pinv.hpp"
#include "solve.hpp"

namespace tern { inline namespace TERN_BUILD { namespace linalg {

/// The results of lstsq. Those that it does not give are of size 0.
template <class D, class T>
struct LeastSquares {
  Tensor<D, T> solution, residuals;
  Tensor<D, Index> rank;
  Tensor<D, T> singular_values;
};

/// The x with the least |a x - b| in each column, and of several that with the least |x|, for a [.., m, n] and b
/// [.., m, k] or vectors [.., m] of a's batch. Batches broadcast. Singular values up to rcond times the largest one, by
/// default max(m, n) times T's rounding, count as 0. The driver is "gelsy", which finds the rank from a factorisation
/// with pivots, "gels", which takes it for full, or "gelsd" or "gelss", which find it from the singular values [.., k].
/// All but "gelsy" give, for m > n and matrices of full rank, the residuals |a x - b|² [.., k]. The solution's and the
/// residuals' gradient is that at matrices of a's rank. Error if a has NaN or infinity.
template <Device D, Floating T>
LeastSquares<D, T> lstsq(const Tensor<D, T>& a, const Tensor<D, T>& b, std::optional<double> rcond = {},
                         const char* driver = "gelsy", CallSite here = {}) {
  using namespace detail;
  check_computable<D, T, detail::backend::LeastSquares>();
  const CallScope scope({"lstsq", here});
  check_matrices("lstsq", *a.checked("lstsq"));
  const std::string_view by = driver;
  const bool by_values = by == "gelsd" || by == "gelss", by_pivots = by == "gelsy";
  if (!by_values && !by_pivots && by != "gels")
    Error::fail("lstsq", {"the driver must be \"gels\", \"gelsy\", \"gelsd\" or \"gelss\", not \"", driver, "\""});
  if (are_vectors(*b.checked("lstsq"), *a.impl())) {
    LeastSquares<D, T> y = lstsq(a, unsqueeze(b, -1, here), rcond, driver, here);
    y.solution = squeeze(y.solution, -1, here);
    return y;
  }
  check_matrices("lstsq", *b.impl());
  const Index m = a.size(-2), n = a.size(-1);
  const RankTolerance tolerance(a, {}, rcond);
  const auto [lefts, rights, to] = equations({"lstsq", CallSite::unknown}, a, b);
  LeastSquares<D, T> y{empty<D, T>(to, a.device()), empty<D, T>({0}, a.device()), empty<D, Index>({0}, a.device()),
                       empty<D, T>({0}, a.device())};
  if (by_values) {
    const NoGradGuard off;
    const auto [u, s, vh] = svd(lefts, false, here);
    const Tensor<D, bool> counts = tolerance.counts(s);
    const Tensor<D, T> inverses = unsqueeze(where(counts, reciprocal(s), 0), -1);
    y = {matmul(vh.mT(), mul(inverses, matmul(u.mT(), rights))).detach(), y.residuals, sum(counts, -1), s};
  } else {
    const Tensor<D, Index> rank = empty<D, Index>(tern::detail::Shape(to.begin(), to.size() - 2), a.device());
    detail::backend::run<D, T>(detail::backend::LeastSquares{*y.solution.impl(), *rank.impl(), *lefts.impl(),
                                                             *rights.impl(), by_pivots ? tolerance.rtol : 0});
    if (by_pivots) y.rank = rank;
  }
  // x = P b with the pseudo-inverse P of a: dB = Pᵀ G, and dA follows from dP = G Bᵀ.
  record({"lstsq", here}, y.solution,
         wrt(inputs(a, b), saved(a, b),
             [rtol = tolerance.rtol](const auto& g, const auto& matrices, const auto& sides,
                                     tern::detail::NeedsInputGrad needs) {
               const Tensor<D, T> p = pinv(matrices, 0., rtol);
               return std::tuple{needs[0] ? pinv_gradient(matmul(g, sides.mT()), p, matrices) : Tensor<D, T>(),
                                 needs[1] ? matmul(p.mT(), g) : Tensor<D, T>()};
             }));
  if (m > n && !by_pivots && (!by_values || all(eq(y.rank, n)).item()))
    y.residuals = sum(square(sub(matmul(a, y.solution, here), b, here)), -2);
  return y;
}

TERN_SAME_PLACE(lstsq)

}}}  // namespace tern::linalg
