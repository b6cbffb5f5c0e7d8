// What every pointwise op of one argument must pass.
#pragma once
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

#include <functional>

namespace tern_test {

/// An op, its in-place form (or none), and what it computes.
template <class D, class T>
struct UnaryOp {
  std::string name;
  std::function<Tensor<D, T>(const Tensor<D, T>&)> f, in_place;
  std::function<double(double)> oracle;
  double low = -2, high = 2;  // where the oracle is defined and, for gradcheck, the op smooth
};

/// Values in every layout and size around a packet, NaN and infinities, and the refusal of an undefined tensor.
template <class D, class T>
void check_values(const UnaryOp<D, T>& op, double rtol) {
  INFO(op.name);
  for (Index n : {0, 1, 2, 3, 15, 16, 17, 33}) {
    const Tensor<D, T> x = spread_tensor<D, T>({n}, op.low, op.high);
    std::vector<double> expected;
    for (double v : values_of(x)) expected.push_back(op.oracle(v));
    check_close(values_of(op.f(x)), expected, rtol, rtol);
  }
  const Tensor<D, T> x = spread_tensor<D, T>({3, 5, 7}, op.low, op.high);
  std::vector<double> expected;
  for (double v : values_of(x)) expected.push_back(op.oracle(v));
  for (const Tensor<D, T>& layout : layouts(x)) {
    check_close(values_of(op.f(layout)), expected, rtol, rtol);
    if (!op.in_place) continue;
    const std::uint32_t version = layout.version();
    op.in_place(layout);
    CHECK(layout.version() > version);
    check_close(values_of(layout), expected, rtol, rtol);
  }
  const std::vector<double> edges{-INFINITY, -1, -0., 0, 1, INFINITY, NAN};
  std::vector<double> at_edges;
  for (double v : edges) at_edges.push_back(op.oracle(v));
  check_close(values_of(op.f(tensor_of<D, T>(edges))), at_edges, rtol, rtol);
  CHECK(error_of([&] { op.f({}); }).find("undefined") != std::string::npos);
}

/// First and second derivatives, on a contiguous and on a transposed input, and through the in-place form.
template <class D>
void check_gradients(const UnaryOp<D, double>& op, GradcheckOptions options = {}) {
  INFO(op.name);
  const double margin = (op.high - op.low) / 50;
  const auto x = spread_tensor<D>({2, 3}, op.low + margin, op.high - margin).requires_grad_();
  CHECK(gradcheck(op.f, std::tuple{x}, options));
  CHECK(gradgradcheck(op.f, std::tuple{x}, options));
  CHECK(gradcheck([&](const auto& v) { return op.f(v.transpose(0, 1)); }, std::tuple{x}, options));
  if (!op.in_place) return;
  const auto in_place = [&](const Tensor<D, double>& v) {
    const Tensor<D, double> y = v.clone();
    op.in_place(y);
    return y;
  };
  CHECK(gradcheck(in_place, std::tuple{x}, options));
  CHECK(error_of([&] { op.in_place(x); }).find("leaf") != std::string::npos);
}

/// An op and its in-place form from the op's name.
#define TERN_TEST_UNARY(name, oracle, ...)                                   \
  tern_test::UnaryOp<D, T> {                                                 \
    #name, [](const tern::Tensor<D, T>& x) { return tern::name(x); },        \
        [](const tern::Tensor<D, T>& x) { return tern::name##_(x); },        \
        [](double v) -> double { return oracle; } __VA_OPT__(, ) __VA_ARGS__ \
  }

}  // namespace tern_test
