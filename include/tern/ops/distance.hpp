// Norms under PyTorch's other names, and distances made of them.
#pragma once
#include "../core/options.hpp"
#include "blas.hpp"
#include "matmul.hpp"
#include "norm.hpp"
#include "statistics.hpp"
#include "triangle.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace linalg {

/// (sum over dim of |x|^ord)^(1/ord), as tern::norm.
template <Device D, Floating T>
Tensor<D, T> vector_norm(const Tensor<D, T>& x, detail::RealNumber ord = 2, tern::detail::Dims dim = {},
                         bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"vector_norm", here});
  return tern::norm(x, ord, dim, keepdim, here);
}

}  // namespace linalg

/// The norm of x1 - x2 + eps over the last dimension.
template <Device D, Floating T>
Tensor<D, T> pairwise_distance(const Tensor<D, T>& x1, const Tensor<D, T>& x2, detail::RealNumber p = 2,
                               detail::RealNumber eps = 1e-6, bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"pairwise_distance", here});
  const auto distance = [&](const auto& a, const auto& b) {
    return norm(add(sub(a, b, here), eps, here), p, -1, keepdim, here);
  };
  return detail::rounded_once(distance, x1, x2);
}

/// The norm of a - b, over all elements.
template <Device D, Floating T>
Tensor<D, T> dist(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber p = 2, CallSite here = {}) {
  const CallScope scope({"dist", here});
  return norm(sub(a, b, here), p, {}, false, here);
}
TERN_SAME_PLACE(dist)

/// x with the part at each position of dim multiplied by maxnorm / norm where its norm is larger than maxnorm.
template <Device D, Floating T>
Tensor<D, T> renorm(const Tensor<D, T>& x, detail::RealNumber p, Index dim, detail::RealNumber maxnorm,
                    CallSite here = {}) {
  const CallSite op{"renorm", here};
  const CallScope scope(op);
  const int d = detail::wrap_dim(op, dim, x.checked(op)->ndim);
  if (x.dim() < 2) Error::fail(op, {"at least two dimensions are needed, not ", x.shape()});
  if (!(p > 0 && maxnorm >= 0))
    Error::fail(op, {"p must be positive and maxnorm not negative: ", p.value(), ", ", maxnorm.value()});
  detail::Dims others;
  for (int i = 0; i < x.dim(); ++i)
    if (i != d) others.push_back(i);
  const auto limited = [&](const auto& v) {
    const auto length = norm(v, p, others, true, here);
    const auto factor = mul(reciprocal(add(length, 1e-7, here), here), maxnorm, here);
    return mul(v, where(gt(length, maxnorm, here), factor, 1, here), here);
  };
  return detail::rounded_once(limited, x);
}

/// x / max(norm(x), eps), with the norm over dim.
template <Device D, Floating T>
Tensor<D, T> normalize(const Tensor<D, T>& x, detail::RealNumber p = 2, detail::Dims dim = 1,
                       detail::RealNumber eps = 1e-12, CallSite here = {}) {
  const CallScope scope({"normalize", here});
  return detail::rounded_once(
      [&](const auto& v) { return div(v, clamp_min(norm(v, p, dim, true, here), eps, here), here); }, x);
}

struct NormalizeFuncOptions {
  detail::ByName by_name{};
  double p = 2;
  detail::Dims dim = 1;
  double eps = 1e-12;
};
/// The same with options by name.
template <Device D, Floating T>
Tensor<D, T> normalize(const Tensor<D, T>& x, const NormalizeFuncOptions& options, CallSite here = {}) {
  return normalize(x, options.p, options.dim, options.eps, here);
}

/// The cosine of the angle between x1 and x2 along dim: the inner product divided by the norms, each at least eps.
template <Device D, Floating T>
Tensor<D, T> cosine_similarity(const Tensor<D, T>& x1, const Tensor<D, T>& x2, Index dim = 1,
                               detail::RealNumber eps = 1e-8, CallSite here = {}) {
  const CallScope scope({"cosine_similarity", here});
  const auto unit = [&](const auto& x) { return div(x, clamp_min(norm(x, 2, dim, true, here), eps, here), here); };
  const auto cosine = [&](const auto& a, const auto& b) {
    const detail::Shape shape = detail::broadcast_shapes({"cosine_similarity", here}, a.shape(), b.shape());
    return sum(mul(unit(expand(a, shape, here)), unit(expand(b, shape, here)), here), dim, false, here);
  };
  x1.checked({"cosine_similarity", here}), x2.checked({"cosine_similarity", here});
  return detail::rounded_once(cosine, x1, x2);
}
struct CosineSimilarityFuncOptions {
  detail::ByName by_name{};
  Index dim = 1;
  double eps = 1e-8;
};
/// The same with options by name.
template <Device D, Floating T>
Tensor<D, T> cosine_similarity(const Tensor<D, T>& x1, const Tensor<D, T>& x2,
                               const CosineSimilarityFuncOptions& options, CallSite here = {}) {
  return cosine_similarity(x1, x2, options.dim, options.eps, here);
}

namespace detail {

/// The gradient of the distances y by the rows of a, summed over the rows of b in one pass.
template <class D, class T>
Tensor<D, T> cdist_gradient(const Tensor<D, T>& g, const Tensor<D, T>& a, const Tensor<D, T>& b, const Tensor<D, T>& y,
                            double p) {
  const Tensor<D, T> h = unsqueeze(g, -1), u = unsqueeze(a, -2), v = unsqueeze(b, -3), n = unsqueeze(y, -1);
  const auto summed = [&](const auto& rule) {
    if (GradMode::is_enabled()) return sum(rule(h, u, v, n), -2);
    return reduce<backend::Sum, T, T>({"cdist", CallSite::unknown}, rule, identity, -2, false, h, u, v, n);
  };
  if (p == 0) return zeros_like(a);
  if (p == 1) return summed([](auto w, auto s, auto t, auto) { return w * sign(s - t); });
  if (p == 2)
    return summed([](auto w, auto s, auto t, auto d) { return where(d == 0, 0, (s - t) * (w / where(d == 0, 1, d))); });
  if (std::isinf(p))
    return summed([](auto w, auto s, auto t, auto d) { return where(abs(s - t) == d, w * sign(s - t), 0); });
  return summed([p](auto w, auto s, auto t, auto d) {
    return where((s == t) | (d == 0), 0,
                 w * sign(s - t) * pow(where(s == t, 1, abs(s - t)) / where(d == 0, 1, d), p - 1));
  });
}

/// The same for p = 2 by products, without differences.
template <class D, class T>
Tensor<D, T> euclidean_gradient(const Tensor<D, T>& g, const Tensor<D, T>& a, const Tensor<D, T>& b,
                                const Tensor<D, T>& y) {
  const Tensor<D, T> ratio = where(eq(y, 0), 0, div(g, where(eq(y, 0), 1, y)));
  return sub(mul(a, sum(ratio, -1, true)), matmul(ratio, b));
}

/// (sum of |a_k - b_k|^p)^(1/p) for all rows of a and of b.
template <class D, class T>
Tensor<D, T> distances(const CallSite& op, const Tensor<D, T>& x1, const Tensor<D, T>& x2, double p) {
  const Tensor<D, T> a = unsqueeze(x1.detach(), -2), b = unsqueeze(x2.detach(), -3);
  const auto reduced = [&]<class R>(R, const auto& f, const auto& finish) {
    return reduce<R, T, T>(op, f, finish, -1, false, a, b);
  };
  const auto apart = [](auto s, auto t) { return abs(s - t); };
  if (p == 0) return reduced(backend::Sum(), [](auto s, auto t) { return where(s != t, decltype(s)(1), 0); }, identity);
  if (p == 1 || x1.size(-1) == 0) return reduced(backend::Sum(), apart, identity);
  if (p == 2)
    return reduced(backend::Sum(), [](auto s, auto t) { return (s - t) * (s - t); }, [](auto v) { return sqrt(v); });
  if (std::isinf(p)) return reduced(backend::Maximum(), apart, identity);
  return reduced(
      backend::Sum(), [p](auto s, auto t) { return pow(abs(s - t), decltype(s)(p)); },
      [p](auto v) { return pow(v, decltype(v)(1 / p)); });
}

/// The same, with gradients.
template <class D, class T>
Tensor<D, T> recorded_distances(const CallSite& op, const Tensor<D, T>& x1, const Tensor<D, T>& x2, double p) {
  const Tensor<D, T> y = distances(op, x1, x2, p);
  const auto rule = [p](const auto& g, const auto& a, const auto& b, const auto& d) {
    return cdist_gradient(g, a, b, d, p);
  };
  record(op, y, wrt(x1, saved(x1, x2, y), rule),
         wrt(x2, saved(x1, x2, y), [rule](const auto& g, const auto& a, const auto& b, const auto& d) {
           return rule(transpose(g, -2, -1), b, a, transpose(d, -2, -1));
         }));
  return y;
}

/// |a - b|, as the root of a² + b² - 2 a b.
template <class D, class T>
Tensor<D, T> euclidean_distances(const CallSite& op, const Tensor<D, T>& x1, const Tensor<D, T>& x2) {
  const NoGradGuard off;
  const auto squares = [&](const auto& x) {
    return reduce<backend::Sum, T, T>(op, [](auto v) { return v * v; }, identity, -1, true, x);
  };
  const auto root = [](auto product, auto a, auto b) { return sqrt(max(a + b - 2 * product, decltype(a)(0))); };
  return map<T>(op, root, matmul(x1, transpose(x2, -2, -1)), squares(x1), transpose(squares(x2), -2, -1));
}

}  // namespace detail

/// The distances (sum over k of |x1[.., i, k] - x2[.., j, k]|^p)^(1/p) of all rows i of x1 and j of x2, p from 0 to
/// infinity. For p = 2 and more than 25 rows they are computed by a product, which is faster and has larger rounding
/// errors. Where a distance is 0, the gradient is 0.
template <Device D, Floating T>
Tensor<D, T> cdist(const Tensor<D, T>& x1, const Tensor<D, T>& x2, detail::RealNumber p = 2, CallSite here = {}) {
  const CallSite op{"cdist", here};
  const CallScope scope(op);
  if (x1.checked(op)->ndim < 2 || x2.checked(op)->ndim < 2 || x1.size(-1) != x2.size(-1))
    Error::fail(op, {"matrices with equally many columns are needed, not ", x1.shape(), " and ", x2.shape()});
  if (!(p >= 0)) Error::fail(op, {"p must not be negative: ", p.value()});
  if constexpr (detail::is_half_v<T>)
    return detail::rounded_once([&](const auto& a, const auto& b) { return cdist(a, b, p, here); }, x1, x2);
  if (p == 2 && (x1.size(-2) > 25 || x2.size(-2) > 25)) {
    const Tensor<D, T> y = detail::euclidean_distances(op, x1, x2);
    const auto rule = [](const auto& g, const auto& a, const auto& b, const auto& d) {
      return detail::euclidean_gradient(g, a, b, d);
    };
    record(op, y, wrt(x1, saved(x1, x2, y), rule),
           wrt(x2, saved(x1, x2, y), [rule](const auto& g, const auto& a, const auto& b, const auto& d) {
             return rule(transpose(g, -2, -1), b, a, transpose(d, -2, -1));
           }));
    return y;
  }
  return detail::recorded_distances(op, x1, x2, p);
}

/// The distances (sum over k of |x[i, k] - x[j, k]|^p)^(1/p) of all rows i < j of x [n, m], p from 0 to infinity, as
/// a vector: the elements of cdist(x, x, p) above its diagonal, always computed from differences. The host waits for
/// their number.
template <Device D, Floating T>
Tensor<D, T> pdist(const Tensor<D, T>& x, detail::RealNumber p = 2, CallSite here = {}) {
  const CallSite op{"pdist", here};
  const CallScope scope(op);
  if (x.checked(op)->ndim != 2) Error::fail(op, {"a matrix is needed, not ", x.shape()});
  if (!(p >= 0)) Error::fail(op, {"p must not be negative: ", p.value()});
  const auto above = triu(ones<D, bool>({x.size(0), x.size(0)}, x.device()), 1, here);
  const auto distances = [&](const auto& v) {
    return masked_select(detail::recorded_distances(op, v, v, p), above, here);
  };
  return detail::rounded_once(distances, x);
}

TERN_SAME_PLACE(cdist)
TERN_SAME_PLACE(pairwise_distance)
TERN_SAME_PLACE(cosine_similarity)

}}  // namespace tern
