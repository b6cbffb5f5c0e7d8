// What tests of ops share: tensors from lists, the same elements in other memory layouts, and comparison with an
// oracle.
#pragma once
#include "errors.hpp"
#include "catch.hpp"
#include "devices.hpp"
#include "tern/autograd/backward.hpp"
#include "tern/ops/support/grad_ops.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace tern_test {
template <class F>
struct Own;
}
template <class F>
constexpr bool tern::detail::backend::of_program<tern_test::Own<F>> = true;

namespace tern_test {

using namespace tern;

/// An elementwise function of a test's own. The compiled library has no kernel of it.
template <class F>
struct Own {
  F f;

  template <class... V>
  [[gnu::always_inline]] auto operator()(V... v) const {
    return f(v...);
  }
};
template <class F>
Own(F) -> Own<F>;

/// f for each element.
template <class Out, class F, class D, class... T>
Tensor<D, Out> mapped(const F& f, const Tensor<D, T>&... x) {
  return detail::map<Out>({"map", CallSite::unknown}, Own<F>{f}, x...);
}

/// A tensor of the values in row-major order.
template <class D, class T = double>
Tensor<D, T> tensor_of(const std::vector<double>& values, const detail::Shape& shape) {
  using Host = std::conditional_t<HostDevice<D>, D, Cpu>;
  const Tensor<Host, T> x = empty<Host, T>(shape);
  REQUIRE(Index(values.size()) == x.numel());
  T* const to = x.data();
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = T(compute_t<T>(values[i]));
  return to_device(x, detail::current_device<D>());
}
template <class D, class T = double>
Tensor<D, T> tensor_of(const std::vector<double>& values) {
  return tensor_of<D, T>(values, detail::Shape(Index(values.size())));
}

/// The elements in row-major order, as doubles.
template <class D, class T>
std::vector<double> values_of(const Tensor<D, T>& x) {
  const auto y = to_device(contiguous(x.detach()), std::conditional_t<HostDevice<D>, D, Cpu>{});
  std::vector<double> values(std::size_t(y.numel()));
  const T* const from = y.data();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(compute_t<T>(from[i]));
  return values;
}

/// Bytes held by tensors, on every device.
inline Index memory_in_use() {
  cuda::synchronize();  // memory that was freed is free once the device has come that far
  return detail::cpu::memory_stats().current + cuda::memory_stats().current + Index(RemoteMemory::instance().in_use());
}

/// Numbers that fill [low, high] unevenly, all different.
inline std::vector<double> spread_values(Index n, double low = -2, double high = 2) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(low + (high - low) * double((i * 7919 + 13) % 10007) / 10007);
  return values;
}
template <class D, class T = double>
Tensor<D, T> spread_tensor(const detail::Shape& shape, double low = -2, double high = 2) {
  return tensor_of<D, T>(spread_values(shape.numel(), low, high), shape);
}

/// Within |a - b| <= atol + rtol |b|; NaN equals NaN, an infinity itself.
inline bool close(double a, double b, double rtol, double atol) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= atol + rtol * std::fabs(b);
}
inline void check_close(const std::vector<double>& actual, const std::vector<double>& expected, double rtol = 1e-12,
                        double atol = 1e-12) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!close(actual[i], expected[i], rtol, atol))
      FAIL("element " << i << ": " << actual[i] << ", expected " << expected[i]);
}

/// The same elements in four layouts: contiguous, transposed, a slice of every other, and with a gap after each row.
template <class D, class T>
std::vector<Tensor<D, T>> layouts(const Tensor<D, T>& x) {
  std::vector<Tensor<D, T>> all{x.clone()};
  if (x.dim() == 0) return all;
  all.push_back(x.transpose(0, -1).contiguous().transpose(0, -1));
  detail::Shape wide = x.shape(), long_rows = x.shape();
  wide[0] = 2 * wide[0];
  long_rows[long_rows.n - 1] += 3;
  all.push_back(zeros<D, T>(wide).slice(0, {0, Slice::open, 2}));
  all.push_back(zeros<D, T>(long_rows).narrow(-1, 1, x.size(-1)));
  all[2].copy_(x);
  all[3].copy_(x);
  return all;
}

}  // namespace tern_test
