// Matrix products that are scaled and added to a tensor, and products over chosen dimensions.
#pragma once
#include "matmul.hpp"
#include "support/pointwise.hpp"
#include "reduce.hpp"
#include "shape.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// beta x + alpha product(a, b), with x broadcast to the product's shape. With beta = 0, x is ignored even if it has
/// NaNs; with alpha = 0, the product is.
template <class F, class D, class T>
Tensor<D, T> add_product(const CallSite& op, const F& product, const Tensor<D, T>& x, const Tensor<D, T>& a,
                         const Tensor<D, T>& b, double beta, double alpha) {
  x.checked(op), a.checked(op), b.checked(op);
  const auto scaled = [&](const auto& v, const auto& left, const auto& right) {
    const auto p = product(left, right);
    const int added = p.dim() - v.dim();
    bool fits = added >= 0;
    for (int i = 0; fits && i < v.dim(); ++i) fits = v.size(i) == 1 || v.size(i) == p.size(added + i);
    if (!fits) Error::fail(op, {"a tensor of shape ", v.shape(), " does not broadcast to the product's ", p.shape()});
    const auto scaled_by = [&](double factor, const auto& u) {
      if (factor == 0) return step(op, u, [](auto element) { return decltype(element)(0); });
      return factor == 1 ? u : mul(u, factor, op);
    };
    return add(scaled_by(beta, v), scaled_by(alpha, p), op);
  };
  return rounded_once(scaled, x, a, b);
}

}  // namespace detail

/// beta x + alpha a b of matrices.
template <Device D, Floating T>
Tensor<D, T> addmm(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber beta = 1,
                   detail::RealNumber alpha = 1, CallSite here = {}) {
  const CallScope scope({"addmm", here});
  return detail::add_product(
      {"addmm", here}, [&](const auto& l, const auto& r) { return mm(l, r, here); }, x, a, b, beta, alpha);
}

/// beta x + alpha a v, a matrix times a vector.
template <Device D, Floating T>
Tensor<D, T> addmv(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& v, detail::RealNumber beta = 1,
                   detail::RealNumber alpha = 1, CallSite here = {}) {
  const CallScope scope({"addmv", here});
  return detail::add_product(
      {"addmv", here}, [&](const auto& l, const auto& r) { return mv(l, r, here); }, x, a, v, beta, alpha);
}

/// beta x + alpha (sum over the batch of a b).
template <Device D, Floating T>
Tensor<D, T> addbmm(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber beta = 1,
                    detail::RealNumber alpha = 1, CallSite here = {}) {
  const CallScope scope({"addbmm", here});
  const auto product = [&](const auto& l, const auto& r) { return sum(bmm(l, r, here), 0, false, here); };
  return detail::add_product({"addbmm", here}, product, x, a, b, beta, alpha);
}

/// beta x + alpha a b for each pair of matrices of two batches.
template <Device D, Floating T>
Tensor<D, T> baddbmm(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber beta = 1,
                     detail::RealNumber alpha = 1, CallSite here = {}) {
  const CallScope scope({"baddbmm", here});
  return detail::add_product(
      {"baddbmm", here}, [&](const auto& l, const auto& r) { return bmm(l, r, here); }, x, a, b, beta, alpha);
}

/// a[i] b[j], for vectors.
template <Device D, Element T>
Tensor<D, T> outer(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  detail::check_dims({"outer", here}, *a.checked({"outer", here}), 1, *b.checked({"outer", here}), 1);
  return mul(unsqueeze(a, 1, here), b, here);
}

/// beta x + alpha a bᵀ, the outer product of two vectors.
template <Device D, Floating T>
Tensor<D, T> addr(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber beta = 1,
                  detail::RealNumber alpha = 1, CallSite here = {}) {
  const CallScope scope({"addr", here});
  return detail::add_product(
      {"addr", here}, [&](const auto& l, const auto& r) { return outer(l, r, here); }, x, a, b, beta, alpha);
}

namespace detail {
/// x summed over dims, in x's type.
template <class D, class T>
Tensor<D, T> summed_over(const Tensor<D, T>& x, const Dims& dims, CallSite here) {
  return dims.empty() ? x : to_type(sum(x, dims, true, here), Type<T>{}, here);
}
}  // namespace detail

/// The sum of products over the dimensions a_dims of a and b_dims of b, in pairs, whose sizes are equal or one of them
/// 1, which is broadcast. The result has the other dimensions of a, then those of b.
template <Device D, Element T>
Tensor<D, T> tensordot(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::Dims a_dims, detail::Dims b_dims,
                       CallSite here = {}) {
  const CallScope scope({"tensordot", here});
  const int m = a.checked({"tensordot", here})->ndim, n = b.checked({"tensordot", here})->ndim;
  if (a_dims.n != b_dims.n)
    Error::fail({"tensordot", here}, {"pairs of dimensions are needed: ", a_dims, " and ", b_dims});
  const unsigned a_mask = a_dims.n ? detail::dim_mask({"tensordot", here}, a_dims, m) : 0,
                 b_mask = b_dims.n ? detail::dim_mask({"tensordot", here}, b_dims, n) : 0;
  detail::Dims a_summed, b_summed;  // the dimensions that meet one of size 1
  for (int k = 0; k < a_dims.n; ++k) {
    const Index p = a.size(a_dims[k]), q = b.size(b_dims[k]);
    if (p == q) continue;
    if (p != 1 && q != 1)
      Error::fail({"tensordot", here},
                  {"sizes differ over ", a_dims, " and ", b_dims, ": ", a.shape(), ", ", b.shape()});
    if (q == 1) a_summed.push_back(a_dims[k]);
    else b_summed.push_back(b_dims[k]);
  }
  if (!a_summed.empty() || !b_summed.empty()) {
    const auto product = [&](const auto& u, const auto& v) {
      return tensordot(detail::summed_over(u, a_summed, here), detail::summed_over(v, b_summed, here), a_dims, b_dims,
                       here);
    };
    return detail::rounded_once(product, a, b);
  }
  detail::Dims a_order, b_order = b_dims;
  detail::Shape to;
  Index inner = 1;
  for (int i = 0; i < m; ++i)
    if (!(a_mask >> i & 1)) a_order.push_back(i), to.push_back(a.size(i));
  for (int k = 0; k < a_dims.n; ++k) {
    a_order.push_back(a_dims[k]);
    inner *= a.size(a_dims[k]);
  }
  const Index rows = to.numel();
  Index columns = 1;
  for (int i = 0; i < n; ++i)
    if (!(b_mask >> i & 1)) b_order.push_back(i), to.push_back(b.size(i)), columns *= b.size(i);
  const Tensor<D, T> left = reshape(permute(a, a_order, here), {rows, inner}, here);
  return view(mm(left, reshape(permute(b, b_order, here), {inner, columns}, here), here), to, here);
}

/// tensordot over the last `dims` dimensions of a and the first of b.
template <Device D, Element T>
Tensor<D, T> tensordot(const Tensor<D, T>& a, const Tensor<D, T>& b, Index dims = 2, CallSite here = {}) {
  if (dims < 0 || dims > a.checked({"tensordot", here})->ndim || dims > b.checked({"tensordot", here})->ndim)
    Error::fail({"tensordot", here}, {a.shape(), " and ", b.shape(), " do not have ", dims, " dimensions to sum over"});
  detail::Dims a_dims, b_dims;
  for (Index i = 0; i < dims; ++i) a_dims.push_back(a.dim() - dims + i), b_dims.push_back(i);
  return tensordot(a, b, a_dims, b_dims, here);
}

/// The dimensions of both in one list, as PyTorch's dims = ([1], [0]).
template <Device D, Element T>
Tensor<D, T> tensordot(const Tensor<D, T>& a, const Tensor<D, T>& b, const std::pair<detail::Dims, detail::Dims>& dims,
                       CallSite here = {}) {
  return tensordot(a, b, dims.first, dims.second, here);
}

/// The sums over k of a[.., k] b[.., k] for all positions before of a and of b; a b if one of them is 0-d.
template <Device D, Element T>
Tensor<D, T> inner(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallScope scope({"inner", here});
  if (a.checked("inner")->ndim == 0 || b.checked("inner")->ndim == 0) return mul(a, b, here);
  if (a.size(-1) != b.size(-1))
    Error::fail("inner", {"the last dimensions must have the same size: ", a.shape(), " and ", b.shape()});
  return tensordot(a, b, detail::Dims(-1), detail::Dims(-1), here);
}

/// Kronecker's product: b times each element of a, in a's place. Dimensions of size 1 are added in front of the shorter
/// shape.
template <Device D, Element T>
Tensor<D, T> kron(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallScope scope({"kron", here});
  const int n = std::max(a.checked("kron")->ndim, b.checked("kron")->ndim);
  if (2 * n > detail::max_dims)
    Error::fail("kron",
                {"at most ", detail::max_dims / 2, " dimensions, not those of ", a.shape(), " and ", b.shape()});
  const auto size = [n](const Tensor<D, T>& x, int i) { return i < n - x.dim() ? 1 : x.size(i - n + x.dim()); };
  detail::Shape to, of_a, of_b;
  for (int i = 0; i < n; ++i) {
    const Index p = size(a, i), q = size(b, i);
    to.push_back(detail::checked_product({"kron", CallSite::unknown}, {p, q}));
    of_a.push_back(p), of_a.push_back(1), of_b.push_back(1), of_b.push_back(q);
  }
  return reshape(mul(reshape(a, of_a, here), reshape(b, of_b, here), here), to, here);
}

/// The vector product a x b of the three elements along dim. The other dimensions are broadcast.
template <Device D, Element T>
Tensor<D, T> cross(const Tensor<D, T>& a, const Tensor<D, T>& b, Index dim = -1, CallSite here = {}) {
  const CallScope scope({"cross", here});
  const int d = detail::wrap_dim({"cross", CallSite::unknown}, dim, a.checked("cross")->ndim);
  if (b.checked("cross")->ndim != a.dim() || a.dim() == 0 || a.size(d) != 3 || b.size(d) != 3)
    Error::fail("cross", {"3 elements along dimension ", dim, " are needed: ", a.shape(), " and ", b.shape()});
  const auto turned = [&](const Tensor<D, T>& x, Index by) { return roll(x, by, d, here); };
  return sub(mul(turned(a, -1), turned(b, -2), here), mul(turned(a, -2), turned(b, -1), here), here);
}

/// The sum of a matrix's diagonal.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> trace(const Tensor<D, T>& x, CallSite here = {}) {
  if (x.checked({"trace", here})->ndim != 2) Error::fail({"trace", here}, {"a matrix is needed, not ", x.shape()});
  return sum(diagonal(x, 0, 0, 1, here), {}, false, here);
}

TERN_SAME_PLACE(addmm)
TERN_SAME_PLACE(addmv)
TERN_SAME_PLACE(addbmm)
TERN_SAME_PLACE(baddbmm)
TERN_SAME_PLACE(outer)
TERN_SAME_PLACE(addr)
TERN_SAME_PLACE(tensordot)
TERN_SAME_PLACE(inner)
TERN_SAME_PLACE(kron)
TERN_SAME_PLACE(cross)

}}  // namespace tern
