// Random tensors. Each call takes the next stream of the program's random numbers, so the same calls after manual_seed
// give the same numbers.
#pragma once
#include <limits>

#include "../backend/random.hpp"
#include "../backend/gather.hpp"
#include "reduce.hpp"
#include "transfer.hpp"

namespace tern { inline namespace TERN_BUILD {

/// Uniform in [low, high).
template <Device D, Element T = float>
Tensor<D, T> uniform(const detail::Shape& shape, detail::RealNumber low, detail::RealNumber high,
                     D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"uniform", here});
  static_assert(detail::is_floating_v<T>);
  Tensor<D, T> x = empty<D, T>(shape, device);
  detail::backend::run<D, T>(detail::backend::Uniform{*x.impl(), detail::next_random(), low, high});
  return x;
}

/// The same with the element type as an argument.
template <Device D, Element T>
Tensor<D, T> uniform(const detail::Shape& shape, detail::RealNumber low, detail::RealNumber high, detail::Type<T>,
                     D device = detail::current_device<D>(), CallSite here = {}) {
  return uniform<D, T>(shape, low, high, device, here);
}

/// Uniform in [0, 1).
template <Device D, Element T = float>
Tensor<D, T> rand(const detail::Shape& shape, D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"rand", here});
  return uniform<D, T>(shape, 0, 1, device);
}

namespace detail {

/// Error if a standard deviation is negative or NaN.
TERN_API void check_deviation(CallSite op, double std);

/// Error if an element of p is no probability. On Cuda it is thrown when the host next waits for the device. op must
/// outlive the kernel.
template <class D, class T>
void refuse_improbable(const char* op, const Tensor<D, T>& p) {
  const auto improbable = [](auto v) { return where(abs(v - 0.5) <= 0.5, decltype(v)(0), decltype(v)(1)); };
  const Tensor<D, bool> found =
      reduce<backend::Maximum, T, bool>({op, CallSite::unknown}, improbable, is_positive, {}, false, p);
  backend::run<D>(backend::RefuseIf{op, BadElement::probability, *found.impl()});
}

}  // namespace detail

/// Normal with mean 0 and standard deviation 1.
template <Device D, Element T = float>
Tensor<D, T> randn(const detail::Shape& shape, D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"randn", here});
  static_assert(detail::is_floating_v<T>);
  Tensor<D, T> x = empty<D, T>(shape, device);
  detail::backend::run<D, T>(detail::backend::Normal{*x.impl(), detail::next_random(), 0, 1});
  return x;
}

TERN_FORMS_OF_SHAPE(rand)
TERN_FORMS_OF_SHAPE(randn)
#undef TERN_FORMS_OF_SHAPE

/// Normal with this mean and standard deviation.
template <Device D, Element T = float>
Tensor<D, T> normal(detail::RealNumber mean, detail::RealNumber std, const detail::Shape& shape,
                    D device = detail::current_device<D>(), CallSite here = {}) {
  static_assert(detail::is_floating_v<T>);
  const CallScope scope({"normal", here});
  detail::check_deviation({"normal", CallSite::unknown}, std);
  Tensor<D, T> x = empty<D, T>(shape, device);
  detail::backend::run<D, T>(detail::backend::Normal{*x.impl(), detail::next_random(), mean, std});
  return x;
}

/// The same with the element type as an argument.
template <Device D, Element T>
Tensor<D, T> normal(detail::RealNumber mean, detail::RealNumber std, const detail::Shape& shape, detail::Type<T>,
                    D device = detail::current_device<D>(), CallSite here = {}) {
  return normal<D, T>(mean, std, shape, device, here);
}

/// Normal, with a mean and a standard deviation for each element. The two are broadcast. The result is not on the tape;
/// mean + std * randn_like(mean) is. The host waits for the check that no deviation is negative.
template <Device D, Floating T>
Tensor<D, T> normal(const Tensor<D, T>& mean, const Tensor<D, T>& std, CallSite here = {}) {
  const CallScope scope({"normal", here});
  const detail::Shape shape = detail::broadcast_shapes(
      {"normal", CallSite::unknown}, mean.checked("normal")->shape_ref(), std.checked("normal")->shape_ref());
  if (!all(ge(std, 0)).item(here)) Error::fail("normal", {"a standard deviation is negative or NaN"});
  const auto scaled = [](auto z, auto m, auto s) { return m + s * z; };
  return detail::map<T>({"normal", CallSite::unknown}, scaled, randn<D, T>(shape, mean.device()), mean, std);
}
/// The same with a number as the standard deviation, or as the mean.
template <Device D, Floating T>
Tensor<D, T> normal(const Tensor<D, T>& mean, detail::RealNumber std = 1, CallSite here = {}) {
  const CallScope scope({"normal", here});
  detail::check_deviation({"normal", CallSite::unknown}, std);
  const auto scaled = [std = std.value()](auto z, auto m) { return m + decltype(m)(std) * z; };
  return detail::map<T>({"normal", CallSite::unknown}, scaled,
                        randn<D, T>(mean.checked("normal")->shape(), mean.device()), mean);
}
template <Device D, Floating T>
Tensor<D, T> normal(detail::RealNumber mean, const Tensor<D, T>& std, CallSite here = {}) {
  const CallScope scope({"normal", here});
  std.checked("normal");
  return normal(full<D, T>({}, mean, std.device()), std, here);
}
TERN_SAME_PLACE(normal)

/// Integers in [low, high), all equally likely.
template <Device D, Element T = Index>
Tensor<D, T> randint(Index low, Index high, const detail::Shape& shape, D device = detail::current_device<D>(),
                     CallSite here = {}) {
  const CallScope scope({"randint", here});
  if (low >= high) Error::fail("randint", {"the range is empty: ", low, " to ", high});
  if constexpr (std::is_integral_v<T>)
    if (Index(T(low)) != low || Index(T(high - 1)) != high - 1)
      Error::fail("randint", {"numbers from ", low, " to ", high - 1, " do not fit ", detail::name_of(dtype_of<T>)});
  Tensor<D, T> x = empty<D, T>(shape, device);
  detail::backend::run<D, T>(detail::backend::Integers{*x.impl(), detail::next_random(), low, high});
  return x;
}

/// Integers in [0, high).
template <Device D, Element T = Index>
Tensor<D, T> randint(Index high, const detail::Shape& shape, D device = detail::current_device<D>(),
                     CallSite here = {}) {
  return randint<D, T>(0, high, shape, device, here);
}
/// The same with the element type as an argument.
template <Device D, Element T>
Tensor<D, T> randint(Index low, Index high, const detail::Shape& shape, detail::Type<T>,
                     D device = detail::current_device<D>(), CallSite here = {}) {
  return randint<D, T>(low, high, shape, device, here);
}
template <Device D, Element T>
Tensor<D, T> randint(Index high, const detail::Shape& shape, detail::Type<T>, D device = detail::current_device<D>(),
                     CallSite here = {}) {
  return randint<D, T>(0, high, shape, device, here);
}

namespace detail {

TERN_API Tensor<Cpu, Index> random_permutation(Index n);

}  // namespace detail

/// The numbers 0 … n - 1 in random order (Fisher, Yates). The algorithm is sequential, so the host draws them for every
/// device.
template <Device D>
Tensor<D, Index> randperm(Index n, D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"randperm", here});
  return to_device(detail::random_permutation(n), device);
}
/// The same with PyTorch's element type, which is int64.
template <Device D>
Tensor<D, Index> randperm(Index n, detail::Type<Index>, D device = detail::current_device<D>(), CallSite here = {}) {
  return randperm<D>(n, device, here);
}

namespace detail {
/// x = the numbers that kernel R makes of a and b: in place, unless x is not row-major or the gradient must know of it.
template <class R, class D, class T>
const Tensor<D, T>& fill_randomly(const CallSite& op, const Tensor<D, T>& x, double a, double b) {
  static_assert(is_floating_v<T>);
  check_writable(op, x.checked(op));
  const bool in_place = x.impl()->contiguous && !records(x);
  const Tensor<D, T> values = in_place ? x : empty<D, T>(x.shape(), x.device());
  backend::run<D, T>(R{*values.impl(), next_random(), a, b});
  if (!in_place) return copy_(x, values, op);
  bump_version(x.impl());
  return x;
}
}  // namespace detail

/// Fills x with uniform numbers in [low, high).
template <Device D, Element T>
const Tensor<D, T>& uniform_(const Tensor<D, T>& x, detail::RealNumber low = 0, detail::RealNumber high = 1,
                             CallSite here = {}) {
  const CallSite op{"uniform_", here};
  if (!(low <= high)) Error::fail(op, {"the bounds ", low.value(), " and ", high.value(), " are in the wrong order"});
  return detail::fill_randomly<detail::backend::Uniform>(op, x, low, high);
}

/// Fills x with integers in [low, high), all equally likely. Error if T does not hold them.
template <Device D, Element T>
const Tensor<D, T>& random_(const Tensor<D, T>& x, Index low, Index high, CallSite here = {}) {
  const CallSite op{"random_", here};
  const CallScope scope(op);
  detail::check_writable(op, x.checked(op));
  return copy_(x, randint<D, T>(low, high, x.shape(), x.device(), here), here);
}
template <Device D, Element T>
const Tensor<D, T>& random_(const Tensor<D, T>& x, Index high, CallSite here = {}) {
  return random_(x, 0, high, here);
}

/// Fills x with normal numbers.
template <Device D, Element T>
const Tensor<D, T>& normal_(const Tensor<D, T>& x, detail::RealNumber mean = 0, detail::RealNumber std = 1,
                            CallSite here = {}) {
  const CallSite op{"normal_", here};
  detail::check_deviation(op, std);
  return detail::fill_randomly<detail::backend::Normal>(op, x, mean, std);
}

/// Fills x with positive numbers of the exponential distribution of rate lambda, whose mean is 1 / lambda. Error unless
/// lambda > 0.
template <Device D, Floating T>
const Tensor<D, T>& exponential_(const Tensor<D, T>& x, double lambda = 1, CallSite here = {}) {
  const CallSite op{"exponential_", here};
  if (!(lambda > 0)) Error::fail(op, {"lambda must be positive, not ", lambda});
  detail::check_writable(op, x.checked(op));
  const double least = std::numeric_limits<compute_t<T>>::epsilon() / 2;  // where u is 0
  const auto time = [lambda, least](auto u) { return max(-log1p(-u), least) / lambda; };
  const auto u = uniform<D, compute_t<T>>(x.shape(), 0, 1, x.device());
  return copy_(x, detail::map<T>(op, time, u), here);
}

/// 1 with the probability that p gives for each element, else 0. Error if p is outside [0, 1]; on Cuda it is thrown
/// when the host next waits for the device.
template <Device D, Element T>
Tensor<D, T> bernoulli(const Tensor<D, T>& p, CallSite here = {}) {
  const CallScope scope({"bernoulli", here});
  detail::refuse_improbable("bernoulli", p);
  return detail::map<T>(
      {"bernoulli", CallSite::unknown}, [](auto u, auto q) { return where(u < q, decltype(u)(1), decltype(u)(0)); },
      uniform<D, T>(p.shape(), 0, 1, p.device()), p);
}

/// Sets each element of x to 1 with probability p, else to 0.
template <Device D, Element T>
const Tensor<D, T>& bernoulli_(const Tensor<D, T>& x, detail::RealNumber p = 0.5, CallSite here = {}) {
  if (!(p >= 0 && p <= 1)) Error::fail({"bernoulli_", here}, {"the probability must be in [0, 1], not ", p.value()});
  const auto below = [p = p.value()](auto u) { return where(u < p, decltype(u)(1), decltype(u)(0)); };
  return copy_(x, detail::map<T>({"bernoulli_", here}, below, rand<D>(x.shape(), x.device())), here);
}

/// Of x's shape, and of its element type unless another is given.
template <class D, class T, Element U = T>
Tensor<D, U> rand_like(const Tensor<D, T>& x, detail::Type<U> = {}, CallSite here = {}) {
  const CallScope scope({"rand_like", here});
  return rand<D, U>(x.shape(), x.device());
}
template <class D, class T, Element U = T>
Tensor<D, U> randn_like(const Tensor<D, T>& x, detail::Type<U> = {}, CallSite here = {}) {
  const CallScope scope({"randn_like", here});
  return randn<D, U>(x.shape(), x.device());
}
template <class D, class T, Element U = T>
Tensor<D, U> randint_like(const Tensor<D, T>& x, Index low, Index high, detail::Type<U> = {}, CallSite here = {}) {
  const CallScope scope({"randint_like", here});
  return randint<D, U>(low, high, x.shape(), x.device());
}
template <class D, class T, Element U = T>
Tensor<D, U> randint_like(const Tensor<D, T>& x, Index high, detail::Type<U> type = {}, CallSite here = {}) {
  return randint_like(x, 0, high, type, here);
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "random.ipp"
#endif
