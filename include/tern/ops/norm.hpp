// Vector norms.
#pragma once
#include <cmath>
#include <cstring>

#include "extrema.hpp"
#include "power.hpp"
#include "rounding.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

inline constexpr auto absolute_of = [](auto v) { return abs(v); };
inline constexpr auto share_with_sign = [](auto g, auto x, auto y, auto ties) {
  return where(abs(x) == y, sign(x) * g / ties, 0);
};
inline constexpr auto norm2_rule = [](auto g, auto x, auto y) { return where(y == 0, 0, x * (g / y)); };

}  // namespace detail

/// (sum over dim of |x|^p)^(1/p). p = 0 counts the elements that are not zero; p = inf and -inf give the largest and
/// the smallest |x|. Where the norm is 0, the gradient is 0.
template <Device D, Floating T>
Tensor<D, T> norm(const Tensor<D, T>& x, detail::RealNumber p = 2, detail::Dims dim = {}, bool keepdim = false,
                  CallSite here = {}) {
  using namespace detail;
  const CallSite op{"norm", here};
  const detail::Shape shape = x.checked({"norm", here})->shape();
  const unsigned mask = detail::dim_mask({"norm", here}, dim, shape.n);
  if (std::isinf(p.value())) {
    if (p < 0) return extreme<detail::backend::Minimum>(op, absolute_of, share_with_sign, x, dim, keepdim);
    return extreme<detail::backend::Maximum>(op, absolute_of, share_with_sign, x, dim, keepdim);
  }
  if (p == 0) return reduce<detail::backend::Sum, T, T>({"norm", here}, is_nonzero, identity, dim, keepdim, x);
  if (p == 1) return map_sum(op, absolute_of, dim, keepdim, 1, x);
  if (p == 2) {
    const auto square_root = [](auto v) { return sqrt(v); };
    const Tensor<D, T> y = reduce<detail::backend::Sum, T, T>(
        {"norm", CallSite::unknown}, [](auto v) { return v * v; }, square_root, dim, keepdim, x);
    record(op, y, wrt(x, saved(x, y), [shape, mask](const auto& g, const auto& input, const auto& output) {
             return Gradient{norm2_rule}(with_dims(g, shape, mask), input, with_dims(output, shape, mask));
           }));
    return y;
  }
  const auto power = [p = p.value()](auto v) { return pow(abs(v), decltype(v)(p)); };
  const auto root = [p = p.value()](auto v) { return pow(v, decltype(v)(1 / p)); };
  const Tensor<D, T> y = reduce<detail::backend::Sum, T, T>({"norm", here}, power, root, dim, keepdim, x);
  record(op, y, wrt(x, saved(x, y), [shape, mask, p = p.value()](const auto& g, const auto& input, const auto& output) {
           const auto rule = [p](auto h, auto v, auto n) {
             return where(v == 0, 0, where(n == 0, 0, h * sign(v) * pow(abs(v) / n, p - 1)));
           };
           return Gradient{rule}(with_dims(g, shape, mask), input, with_dims(output, shape, mask));
         }));
  return y;
}

/// "fro", Frobenius' norm: the root of the sum of squares, as p = 2. Other norms of matrices: linalg::matrix_norm.
template <Device D, Floating T, std::size_t N>
Tensor<D, T> norm(const Tensor<D, T>& x, const char (&p)[N], detail::Dims dim = {}, bool keepdim = false,
                  CallSite here = {}) {
  if (std::strcmp(p, "fro")) Error::fail({"norm", here}, {"p is a number or \"fro\", not \"", p, "\""});
  return norm(x, 2, dim, keepdim, here);
}

}}  // namespace tern
