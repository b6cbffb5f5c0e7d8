// Variance, standard deviation, and the logarithm of a sum of exponentials.
#pragma once
#include "exponential.hpp"
#include "reduce.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// finish(sum over dim of (x - mean)^2 / (n - correction)). The mean keeps the precision of the calculation.
template <class G, class D, class T>
Tensor<D, T> variance(const CallSite& op, const Tensor<D, T>& x, const Dims& dim, double correction, bool keepdim,
                      const G& finish) {
  const Array& a = *x.checked(op);
  const Index count = reduced_count(a.shape_ref(), dim_mask(op, dim, a.ndim));
  const double degrees = std::max(0.0, double(count) - correction);
  const auto middle = reduce<backend::Sum, T, compute_t<T>>(op, identity, divide_by(count), dim, true, x);
  const auto squared = [](auto v, auto m) { return (v - m) * (v - m); };
  return reduce<backend::Sum, T, T>(
      op, squared, [=](auto v) { return finish(v / decltype(v)(degrees)); }, dim, keepdim, x, middle);
}

/// g (x - mean over mask of x), calculated with the precision of compute_t<T>.
template <class D, class T>
Tensor<D, T> centred(const Tensor<D, T>& g, const Tensor<D, T>& x, unsigned mask) {
  const Type<compute_t<T>> promoted;
  const auto input = to_type(x, promoted), middle = mean(input, masked_dims(mask), true);
  const auto rule = [](auto h, auto v, auto m) { return h * (v - m); };
  return to_type(Gradient{rule}(to_type(g, promoted), input, middle), Type<T>{});
}

}  // namespace detail

/// sum over dim of (x - mean)^2 / (n - correction), where n is the number of elements.
template <Device D, Floating T>
Tensor<D, T> var(const Tensor<D, T>& x, detail::Dims dim = {}, detail::RealNumber correction = 1, bool keepdim = false,
                 CallSite here = {}) {
  const Tensor<D, T> y = detail::variance({"var", here}, x, dim, correction, keepdim, detail::identity);
  const detail::Shape shape = x.shape();
  const unsigned mask = detail::dim_mask({"var", here}, dim, shape.n);
  const double factor = 2 / (double(detail::reduced_count(shape, mask)) - correction);
  record({"var", here}, y, wrt(x, saved(x), [=](const auto& g, const auto& input) {
           return detail::centred(mul(detail::with_dims(g, shape, mask), factor), input, mask);
         }));
  return y;
}

/// LibTorch's var(x, unbiased) and std(x, unbiased), over all elements.
template <Device D, Floating T, std::same_as<bool> B>
Tensor<D, T> var(const Tensor<D, T>& x, B unbiased, CallSite here = {}) {
  return var(x, {}, unbiased, false, here);
}
template <Device D, Floating T, std::same_as<bool> B>
Tensor<D, T> std(const Tensor<D, T>& x, B unbiased, CallSite here = {}) {
  return tern::std(x, {}, unbiased, false, here);
}

/// The square root of var(x), with the same defaults (tensor/tensor.hpp). Where it is 0, the gradient is 0.
template <Device D, Floating T>
Tensor<D, T> std(const Tensor<D, T>& x, detail::Dims dim, detail::RealNumber correction, bool keepdim, CallSite here) {
  const Tensor<D, T> y = detail::variance({"std", here}, x, dim, correction, keepdim, [](auto v) { return sqrt(v); });
  const detail::Shape shape = x.shape();
  const unsigned mask = detail::dim_mask({"std", here}, dim, shape.n);
  const double degrees = double(detail::reduced_count(shape, mask)) - correction;
  record({"std", here}, y, wrt(x, saved(x, y), [=](const auto& g, const auto& input, const auto& output) {
           const auto scale = detail::Gradient{[](auto h, auto s) { return where(s == 0, 0, h / s); }}(g, output);
           return detail::centred(div(detail::with_dims(scale, shape, mask), degrees), input, mask);
         }));
  return y;
}

TERN_OF_FLOATS(var)
TERN_OF_FLOATS(std)

/// log(sum over dim of e^x), calculated without overflow.
template <Device D, Floating T>
Tensor<D, T> logsumexp(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  if constexpr (detail::is_half_v<T>) {  // a rounded result would be a wrong scale for the gradient
    const CallScope scope({"logsumexp", here});
    return detail::rounded_once([&](const auto& v) { return logsumexp(v, dim, keepdim, here); }, x);
  }
  const detail::Shape shape = x.checked({"logsumexp", here})->shape();
  const unsigned mask = detail::dim_mask({"logsumexp", here}, dim, shape.n);
  // An infinite maximum would give inf - inf.
  const auto finite = [](auto v) { return where(isfinite(v) | (v != v), v, 0); };
  const auto top =
      detail::reduce<detail::backend::Maximum, T, T>({"logsumexp", here}, detail::identity, finite, dim, true, x);
  const auto shifted = [](auto v, auto m) { return exp(v - m); };
  const auto total = detail::reduce<detail::backend::Sum, T, T>(
      {"logsumexp", CallSite::unknown}, shifted, [](auto v) { return log(v); }, dim, keepdim, x, top);
  const auto y = detail::map<T>({"logsumexp", here}, detail::add_expression, total, top.detach().view(total.shape()));
  record(
      {"logsumexp", here}, y, wrt(x, saved(x, y), [shape, mask](const auto& g, const auto& input, const auto& output) {
        const auto rule = [](auto h, auto v, auto l) { return h * exp(v - l); };
        return detail::Gradient{rule}(detail::with_dims(g, shape, mask), input, detail::with_dims(output, shape, mask));
      }));
  return y;
}

}}  // namespace tern
