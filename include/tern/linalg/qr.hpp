// QR factorisation.
#pragma once
#include "../core/named_tuple.hpp"
#include "../backend/cpu/linalg/qr.hpp"
#include "../ops/cat.hpp"
#include "solve_triangular.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The factors Q and R of a matrix, or their gradients. An undefined gradient is 0.
template <class D, class T>
struct QrParts {
  Tensor<D, T> q, r;

  QrParts(const Tensor<D, T>& packed, const Shape& shape_q, const Shape& shape_r)
      : q(part(packed, 0, shape_q)), r(part(packed, shape_q.numel(), shape_r)) {}
  QrParts(const Tensor<D, T>& a, const Tensor<D, T>& b) : q(a), r(b) {}
};

/// The gradient of a QR factorisation with at least as many rows as columns. With M the upper triangle of gR Rᵀ - Qᵀ gQ
/// and S the symmetric matrix that has it, it is (gQ + Q S) R⁻ᵀ.
template <class D, class T>
Tensor<D, T> qr_gradient(const QrParts<D, T>& g, const QrParts<D, T>& of) {
  const auto& [q, r] = of;
  const Index k = r.size(-2);
  if (r.size(-1) > k) {  // the columns beyond k are Q R₂: they depend on Q, which only the first k determine
    const Index beyond = r.size(-1) - k;
    QrParts<D, T> first(g.q, {});
    Tensor<D, T> rest = zeros<D, T>(matrices_of(*r.impl(), q.size(-2), beyond), r.device());
    if (g.r.defined()) {
      const Tensor<D, T> g2 = narrow(g.r, -1, k, beyond),
                         through_q = matmul(q, matmul(narrow(r, -1, k, beyond), g2.mT()));
      first = {g.q.defined() ? add(g.q, through_q) : through_q, narrow(g.r, -1, 0, k)};
      rest = matmul(q, g2);
    }
    return cat(std::vector{qr_gradient(first, QrParts<D, T>(q, narrow(r, -1, 0, k))), rest}, -1);
  }
  Tensor<D, T> m;
  if (g.r.defined()) m = matmul(g.r, r.mT());
  if (g.q.defined()) m = m.defined() ? sub(m, matmul(q.mT(), g.q)) : neg(matmul(q.mT(), g.q));
  Tensor<D, T> y = matmul(q, add(triu(m), triu(m, 1).mT()));
  if (g.q.defined()) y = add(y, g.q);
  return linalg::solve_triangular(r.mT(), y, false, false);
}

/// How many columns the Q of a mode has. Error if there is no such mode.
TERN_API Index columns_of_q(const char* mode, Index m, Index n);

}  // namespace detail

namespace linalg {

/// The results of qr: a = Q R with orthonormal columns of Q and an upper triangular R.
template <class D, class T>
struct QrFactors : std::tuple<Tensor<D, T>, Tensor<D, T>> {
  using Tuple = std::tuple<Tensor<D, T>, Tensor<D, T>>;
  Tensor<D, T>& Q = std::get<0>(*this);
  Tensor<D, T>& R = std::get<1>(*this);

  QrFactors(Tensor<D, T> q, Tensor<D, T> r) : Tuple(std::move(q), std::move(r)) {}
  TERN_NAMED_TUPLE(QrFactors)
};

/// The QR factorisation of a [.., m, n]. With mode "reduced", Q is [.., m, k] and R [.., k, n], k = min(m, n); with
/// "complete" Q is [.., m, m] and R [.., m, n]; with "r", R is that of "reduced", and Q is undefined. "r", and
/// "complete" with m > n, have no gradient: their backward pass is an Error.
template <Device D, Floating T>
QrFactors<D, T> qr(const Tensor<D, T>& a, const char* mode = "reduced", CallSite here = {}) {
  using namespace detail;
  check_computable<D, T, detail::backend::Qr>();
  const CallScope scope({"qr", here});
  check_matrices("qr", *a.checked("qr"));
  const Index m = a.size(-2), n = a.size(-1), p = columns_of_q(mode, m, n);
  const bool only_r = mode[0] == 'r' && mode[1] == 0;
  const tern::detail::Shape shape_q = matrices_of(*a.impl(), m, only_r ? 0 : p), shape_r = matrices_of(*a.impl(), p, n);
  const Tensor<D, T> in = dense(a), packed = empty<D, T>(shape_q.numel() + shape_r.numel(), a.device());
  const Tensor<D, T> q = own_part(packed, 0, shape_q), r = own_part(packed, shape_q.numel(), shape_r);
  detail::backend::run<D, T>(detail::backend::Qr{only_r ? nullptr : q.impl(), *r.impl(), *in.impl()});
  if (only_r || p > n) {
    const auto refused = [only_r](const Tensor<D, T>&) -> Tensor<D, T> {
      if (only_r) Error::fail("qr", {"mode \"r\" has no gradient, because that needs Q; use mode \"reduced\""});
      Error::fail("qr", {"mode \"complete\" has no gradient for more rows than columns; use mode \"reduced\""});
    };
    record({"qr", here}, q, wrt(a, refused));
    record({"qr", here}, r, wrt(a, refused));
    return {only_r ? Tensor<D, T>() : q, r};
  }
  // Both gradients need both factors. They take them from `packed`, whose own gradient serves second derivatives.
  record({"qr", here}, packed, wrt(a, saved(packed), [shape_q, shape_r](const auto& g, const auto& factors) {
           return qr_gradient(QrParts<D, T>(g, shape_q, shape_r), QrParts<D, T>(factors, shape_q, shape_r));
         }));
  record({"qr", here}, q, wrt(a, saved(packed), [shape_q, shape_r](const auto& g, const auto& factors) {
           return qr_gradient(QrParts<D, T>(g, {}), QrParts<D, T>(factors, shape_q, shape_r));
         }));
  record({"qr", here}, r, wrt(a, saved(packed), [shape_q, shape_r](const auto& g, const auto& factors) {
           return qr_gradient(QrParts<D, T>({}, g), QrParts<D, T>(factors, shape_q, shape_r));
         }));
  return {q, r};
}

}  // namespace linalg

using linalg::qr;

}}  // namespace tern

TERN_NAMED_TUPLE_SIZE(tern::linalg::QrFactors, 2)

#ifndef TERN_COMPILED
#include "qr.ipp"
#endif
