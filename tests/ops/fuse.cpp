#include "support/sixteen_bits.hpp"
#include "tern/ops/activations.hpp"
#include "tern/ops/fuse.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_fuse {
using namespace tern;
using namespace tern_test;

namespace {
const auto swish = fuse([](auto x, auto beta) { return x / (1 + exp(-beta * x)); });
const auto gated = fuse([](auto x, auto z, auto w) { return sigmoid(x * z + w) * tanh(x - w); });

template <class D, class T>
Tensor<D, T> gated_by_ops(const Tensor<D, T>& x, const Tensor<D, T>& z, const Tensor<D, T>& w) {
  return sigmoid(x * z + w) * tanh(x - w);
}
}  // namespace

TEMPLATE_TEST_CASE("fuse computes what the ops compute", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (Index n : {0, 1, 3, 16, 17, 300}) {
    const auto x = spread_tensor<D>({n});
    check_close(values_of(swish(x, 1.5f)), values_of(x / (1 + exp(-1.5 * x))));
    check_close(values_of(swish(x, 1.5 * ones_like(x))), values_of(x / (1 + exp(-1.5 * x))));
  }
  const auto x = spread_tensor<D>({3, 4, 5}), z = spread_tensor<D>({4, 1}, 0, 1), w = spread_tensor<D>({5}, -1, 0);
  const auto expected = values_of(gated_by_ops(x, z, w));
  for (const auto& layout : layouts(x)) check_close(values_of(gated(layout, z, w)), expected);
  const auto narrow = x.to(bf16);
  check_close(values_of(gated(narrow, 0.5, narrow)), values_of(gated(narrow.to(f32), 0.5, narrow.to(f32))), 1e-2, 1e-2);
}

TEMPLATE_TEST_CASE("fuse reduces without storing the elements", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({30, 40}), z = spread_tensor<D>({40}, 0, 1), w = spread_tensor<D>({30, 1});
  const double expected = sum(gated_by_ops(x, z, w)).item();
  CHECK(gated.sum(x, z, w).item() == Approx(expected).epsilon(1e-12));
  CHECK(gated.mean(x, z, w).item() == Approx(expected / 1200).epsilon(1e-12));
  CHECK(gated.sum(spread_tensor<D>({0}), 1, 2).item() == 0);
  CHECK(std::isnan(gated.mean(spread_tensor<D>({0}), 1, 2).item()));
}

TEST_CASE("gradients of fuse", "[ops][gradcheck]") {
  const auto x = spread_tensor<Cpu>({2, 3}).requires_grad_(), z = spread_tensor<Cpu>({3}, 0, 1).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x, z}));
    CHECK(gradgradcheck(f, std::tuple{x, z}));
  };
  check([](const auto& a, const auto& b) { return gated(a, b, 0.7); });
  check([](const auto& a, const auto& b) { return gated(a, b, a); });
  check([](const auto& a, const auto& b) { return gated.sum(0.3, a, b); });
  check([](const auto& a, const auto& b) { return gated.mean(a, b, 2); });
  check([](const auto& a, const auto& b) { return swish(a, b) + swish(b, 2); });
}

TEMPLATE_TEST_CASE("derivatives that are kept are those that are calculated anew", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto gradients = [](const auto& f, Index n, bool layout) {
    std::vector<Tensor<D, double>> leaves;
    for (const detail::Shape& shape : {detail::Shape{n, 3}, detail::Shape{n, 1}, detail::Shape{3}})
      leaves.push_back(spread_tensor<D>(shape, 0.1, 1).requires_grad_());
    const auto x = layout ? leaves[0].t().contiguous().t() : leaves[0];
    const auto y = f(x, leaves[1], leaves[2]);
    y.backward(spread_tensor<D>(y.shape(), -1, 1));
    std::vector<double> all = values_of(y);
    for (const auto& leaf : leaves)
      for (const double g : values_of(leaf.grad())) all.push_back(g);
    return all;
  };
  const auto by_ops = [](const auto& x, const auto& z, const auto& w) { return gated_by_ops(x, z, w); };
  for (const Index n : {1, 7, 100, 20000})
    for (const bool layout : {false, true}) {
      check_close(gradients(gated, n, layout), gradients(by_ops, n, false), 1e-9, 1e-11);
      const auto sum = [](const auto& x, const auto& z, const auto& w) { return gated.sum(x, z, w); };
      const auto sum_by_ops = [](const auto& x, const auto& z, const auto& w) {
        return tern::sum(gated_by_ops(x, z, w));
      };
      check_close(gradients(sum, n, layout), gradients(sum_by_ops, n, false), 1e-9, 1e-11);
    }
  // Of one input only, and where an infinite factor meets a derivative that is 0.
  const auto root = fuse([](auto a, auto b) { return sqrt(a) * b; });
  auto a = tensor_of<D>({0, 4}).requires_grad_(), b = tensor_of<D>({3, 5}).requires_grad_();
  root(a, b).sum().backward();
  check_close(values_of(a.grad()), {INFINITY, 1.25});
  check_close(values_of(b.grad()), {0, 2});
  b.set_grad({});
  root(a.detach(), b).sum().backward();
  check_close(values_of(b.grad()), {0, 2});
}

TEMPLATE_TEST_CASE("gradients of fuse in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({300, 3}, 0.2, 2), z = tensor_of<TestType>({0.3, 0.7, 1.9});
  const auto ratio = fuse([](auto a, auto b) { return a / b - b; });
  check_rounded_once_in_16_bits([&](const auto& a, const auto& b) { return ratio(a, b); }, x, z);
  check_rounded_once_in_16_bits([&](const auto& a, const auto& b) { return ratio.mean(a, b); }, x, z);
}

TEST_CASE("fuse takes eight tensors, and differentiates twice", "[ops]") {
  const auto f = fuse(
      [](auto a, auto b, auto c, auto d, auto e, auto g, auto h, auto i) { return a * b + c * d + e * g + h * i * i; });
  const auto x = tensor_of<Cpu>({3}).requires_grad_();
  const auto y = f(x, x, x, x, x, x, x, x);
  CHECK(y.item() == 54);
  const auto first = grad(y, x, {.create_graph = true});
  CHECK(first.item() == 6 * 3 + 3 * 9);
  CHECK(grad(first, x).item() == 6 + 6 * 3);
}

TEST_CASE("the third derivative of a fused op is refused", "[ops]") {
  const auto x = tensor_of<Cpu>({2}).requires_grad_();
  const auto second = grad(grad(swish(x, 1), x, {.create_graph = true}), x, {.create_graph = true});
  CHECK(error_of([&] { grad(second, x); }).find("only two are derived") != std::string::npos);
}

TEMPLATE_TEST_CASE("fuse refuses", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({3}), y = spread_tensor<TestType>({2});
  CHECK(error_of([&] { swish(x, y); }) == "fuse: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { swish.sum(x, y); }) == "fuse: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { swish.mean(x, y); }) == "fuse: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { swish(x, Tensor<TestType, double>()); }) == "fuse: a tensor is undefined");
}

}  // namespace ops_fuse
