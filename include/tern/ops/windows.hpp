// Windows for spectra: vectors that the host computes in double. A periodic window of n elements is the first n of a
// symmetric one of n + 1.
#pragma once
#include <cmath>

#include "transfer.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// f at `length` positions with equal distances in [0, 1], of which the last is 1 unless the window is periodic. One
/// element is 1.
template <class D, class T, class F>
Tensor<D, T> window(const CallSite& op, Index length, bool periodic, const F& f) {
  const CallScope scope(op);
  if (length < 0) Error::fail(op, {"the length must not be negative: ", length});
  const Tensor<Cpu, T> w = empty<Cpu, T>(length);
  for (Index i = 0; i < length; ++i) {
    const double value = length == 1 ? 1 : f(double(i) / double(periodic ? length : length - 1));
    w.data()[i] = static_cast<compute_t<T>>(value);
  }
  return to_device(w, current_device<D>());
}

inline constexpr double turn = 6.28318530717958647693;

}  // namespace detail

/// (1 - cos(2 pi t)) / 2.
template <Device D, Floating T = float>
Tensor<D, T> hann_window(Index length, bool periodic = true, detail::Type<T> = {}, CallSite here = {}) {
  return detail::window<D, T>({"hann_window", here}, length, periodic,
                              [](double t) { return 0.5 - 0.5 * std::cos(detail::turn * t); });
}

/// alpha - beta cos(2 pi t).
template <Device D, Floating T = float>
Tensor<D, T> hamming_window(Index length, bool periodic = true, double alpha = 0.54, double beta = 0.46,
                            detail::Type<T> = {}, CallSite here = {}) {
  return detail::window<D, T>({"hamming_window", here}, length, periodic,
                              [=](double t) { return alpha - beta * std::cos(detail::turn * t); });
}

/// 0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t).
template <Device D, Floating T = float>
Tensor<D, T> blackman_window(Index length, bool periodic = true, detail::Type<T> = {}, CallSite here = {}) {
  return detail::window<D, T>({"blackman_window", here}, length, periodic, [](double t) {
    return 0.42 - 0.5 * std::cos(detail::turn * t) + 0.08 * std::cos(2 * detail::turn * t);
  });
}

/// 1 - |2 t - 1|, a triangle.
template <Device D, Floating T = float>
Tensor<D, T> bartlett_window(Index length, bool periodic = true, detail::Type<T> = {}, CallSite here = {}) {
  return detail::window<D, T>({"bartlett_window", here}, length, periodic,
                              [](double t) { return 1 - std::abs(2 * t - 1); });
}

/// I0(beta sqrt(1 - (2 t - 1)^2)) / I0(beta), where I0 is the modified Bessel function of order 0.
template <Device D, Floating T = float>
Tensor<D, T> kaiser_window(Index length, bool periodic = true, double beta = 12, detail::Type<T> = {},
                           CallSite here = {}) {
  return detail::window<D, T>({"kaiser_window", here}, length, periodic, [=](double t) {
    const double root = std::sqrt(t * (1 - t)) * 2;
    return std::cyl_bessel_i(0., std::abs(beta * root)) / std::cyl_bessel_i(0., std::abs(beta));
  });
}

}}  // namespace tern
