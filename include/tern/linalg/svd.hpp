// Singular values and vectors.
#pragma once
#include "../core/named_tuple.hpp"
#include "../backend/cpu/linalg/svd.hpp"
#include "matrices.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Where the results of svd lie in one tensor: the singular values, U's columns as rows, and Vᵀ. Of U and Vᵀ the
/// gradients take k columns and rows, k = min(m, n).
struct SvdShapes {
  Shape s, u, vt;
  Index size() const { return s.numel() + u.numel() + vt.numel(); }
};

/// The factors U [.., m, k], S [.., k] and Vᵀ [.., k, n] of a matrix, or their gradients. An undefined gradient is 0.
template <class D, class T>
struct SvdParts {
  Tensor<D, T> u, s, vt;

  SvdParts(const Tensor<D, T>& packed, const SvdShapes& at)
      : u(narrow(part(packed, at.s.numel(), at.u).mT(), -1, 0, at.s.back())), s(part(packed, 0, at.s)),
        vt(narrow(part(packed, at.s.numel() + at.u.numel(), at.vt), -2, 0, at.s.back())) {}
  SvdParts() = default;
};

/// The gradient of a svd. With the skew-symmetric X = Uᵀ gU - gUᵀ U and Y likewise of V, it is
/// U ((X_ij s_j + s_i Y_ij) / (s_j² - s_i²) + diag(gs)) Vᵀ, and where U is not square (1 - U Uᵀ) gU S⁻¹ Vᵀ besides,
/// likewise for V. It does not exist for U and V where singular values are equal: the result is infinite or NaN.
template <class D, class T>
Tensor<D, T> svd_gradient(const SvdParts<D, T>& g, const SvdParts<D, T>& of) {
  const auto& [u, s, vt] = of;
  const bool tall = u.size(-2) > vt.size(-1);
  if (!g.u.defined() && !g.vt.defined())
    return tall ? matmul(u, mul(unsqueeze(g.s, -1), vt)) : matmul(mul(u, unsqueeze(g.s, -2)), vt);
  const auto skew = [](const Tensor<D, T>& x) { return sub(x, x.mT()); };
  Tensor<D, T> inner;
  if (g.u.defined()) inner = mul(skew(matmul(u.mT(), g.u)), unsqueeze(s, -2));
  if (g.vt.defined()) {
    const Tensor<D, T> y = mul(unsqueeze(s, -1), skew(matmul(vt, g.vt.mT())));
    inner = inner.defined() ? add(inner, y) : y;
  }
  inner = div(inner, differences(square(s)));
  if (g.s.defined()) inner = add(inner, diagonal_matrices(g.s));
  if (u.size(-2) > s.size(-1) && g.u.defined()) {
    const Tensor<D, T> x = div(g.u, unsqueeze(s, -2));
    return matmul(add(matmul(u, inner), sub(x, matmul(u, matmul(u.mT(), x)))), vt);
  }
  if (vt.size(-1) > s.size(-1) && g.vt.defined()) {
    const Tensor<D, T> y = div(g.vt, unsqueeze(s, -1));
    return matmul(u, add(matmul(inner, vt), sub(y, matmul(matmul(y, vt.mT()), vt))));
  }
  return tall ? matmul(u, matmul(inner, vt)) : matmul(matmul(u, inner), vt);
}

/// The gradient of U alone or of Vᵀ alone. Of full matrices only the first k columns and rows have one.
template <class D, class T>
Tensor<D, T> singular_vector_gradient(const Tensor<D, T>& gu, const Tensor<D, T>& gvt, const SvdParts<D, T>& of) {
  SvdParts<D, T> g;
  const Index k = of.s.size(-1);
  if (gu.defined()) g.u = narrow(gu, -1, 0, k);
  if (gvt.defined()) g.vt = narrow(gvt, -2, 0, k);
  return svd_gradient(g, of);
}

}  // namespace detail

namespace linalg {

/// The results of svd: a = U diag(s) Vᵀ with the singular values s in descending order, and orthonormal columns of U
/// and rows of Vᵀ.
template <class D, class T>
struct SingularValues : std::tuple<Tensor<D, T>, Tensor<D, T>, Tensor<D, T>> {
  using Tuple = std::tuple<Tensor<D, T>, Tensor<D, T>, Tensor<D, T>>;
  Tensor<D, T>& U = std::get<0>(*this);
  Tensor<D, T>& S = std::get<1>(*this);
  Tensor<D, T>& Vh = std::get<2>(*this);

  SingularValues(Tensor<D, T> u, Tensor<D, T> s, Tensor<D, T> vh) : Tuple(std::move(u), std::move(s), std::move(vh)) {}
  TERN_NAMED_TUPLE(SingularValues)
};

/// The singular value decomposition of a [.., m, n]. U is [.., m, m] and Vᵀ [.., n, n]; without full_matrices they have
/// only min(m, n) columns and rows. Those beyond have no gradient. U and Vᵀ have none where singular values are equal:
/// it is infinite or NaN. Error if a has NaN or infinity.
template <Device D, Floating T>
SingularValues<D, T> svd(const Tensor<D, T>& a, bool full_matrices = true, CallSite here = {}) {
  using namespace detail;
  check_computable<D, T, detail::backend::Svd>();
  const CallScope scope({"svd", here});
  check_matrices("svd", *a.checked("svd"));
  const Index m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const SvdShapes at{vectors_of(*a.impl(), k), matrices_of(*a.impl(), full_matrices ? m : k, m),
                     matrices_of(*a.impl(), full_matrices ? n : k, n)};
  const Tensor<D, T> in = dense(a), packed = empty<D, T>(at.size(), a.device());
  const Tensor<D, T> s = own_part(packed, 0, at.s), rows = own_part(packed, at.s.numel(), at.u),
                     vt = own_part(packed, at.s.numel() + at.u.numel(), at.vt);
  detail::backend::run<D, T>(detail::backend::Svd{rows.impl(), *s.impl(), vt.impl(), *in.impl()});
  const Tensor<D, T> u = Tensor<D, T>(transposed_matrices(rows.impl()));
  // Each gradient needs all results. It takes them from `packed`, whose own gradient serves second derivatives.
  record({"svd", here}, packed, wrt(a, saved(packed), [at](const auto& g, const auto& factors) {
           return svd_gradient(SvdParts<D, T>(g, at), SvdParts<D, T>(factors, at));
         }));
  record({"svd", here}, u, wrt(a, saved(packed), [at](const auto& g, const auto& factors) {
           return singular_vector_gradient(g, {}, SvdParts<D, T>(factors, at));
         }));
  record({"svd", here}, s, wrt(a, saved(packed), [at](const auto& g, const auto& factors) {
           SvdParts<D, T> gradient;
           gradient.s = g;
           return svd_gradient(gradient, SvdParts<D, T>(factors, at));
         }));
  record({"svd", here}, vt, wrt(a, saved(packed), [at](const auto& g, const auto& factors) {
           return singular_vector_gradient({}, g, SvdParts<D, T>(factors, at));
         }));
  return {u, s, vt};
}

/// The singular values alone.
template <Device D, Floating T>
Tensor<D, T> svdvals(const Tensor<D, T>& a, CallSite here = {}) {
  const CallScope scope({"svdvals", here});
  a.checked("svdvals");
  if (tern::detail::records(a)) return svd(a, false, here).S;
  detail::check_computable<D, T, detail::backend::Svd>();
  detail::check_matrices("svdvals", *a.impl());
  const Tensor<D, T> in = detail::dense(a);
  const Tensor<D, T> s = empty<D, T>(detail::vectors_of(*a.impl(), std::min(a.size(-2), a.size(-1))), a.device());
  detail::backend::run<D, T>(detail::backend::Svd{nullptr, *s.impl(), nullptr, *in.impl()});
  return s;
}

}  // namespace linalg
}}  // namespace tern

TERN_NAMED_TUPLE_SIZE(tern::linalg::SingularValues, 3)
