// cat and stack against the definition, element by element; gradients against finite differences.
#include "support/tensors.hpp"

#include <tern/ops/cat.hpp>
#include <tern/ops/exponential.hpp>
#include <tern/functional/gradcheck.hpp>
#include <tern/nn/parameter.hpp>

namespace ops_cat {
using namespace tern;
using namespace tern_test;

namespace {

/// Pieces of the given lengths along dim, other sizes from shape, filled with different numbers; and what cat should
/// make of them.
template <class D, class T>
void check_cat(const detail::Shape& shape, int dim, const std::vector<Index>& lengths, std::size_t layout) {
  std::vector<Tensor<D, T>> pieces;
  Index total = 0;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    detail::Shape part = shape;
    part[dim] = lengths[k];
    std::vector<double> values;
    for (Index i = 0; i < part.numel(); ++i)
      values.push_back(double((17 * Index(k) + i) % (std::is_same_v<T, bool> ? 2 : 120)));
    const Tensor<D, T> x = tensor_of<D, T>(values, part);
    pieces.push_back(x.numel() && x.dim() ? layouts(x)[layout] : x);
    total += lengths[k];
  }
  const Tensor<D, T> y = cat(pieces, dim);
  detail::Shape expected = shape;
  expected[dim] = total;
  REQUIRE(y.shape() == expected);
  Index start = 0;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    INFO("piece " << k << " along dimension " << dim << " in layout " << layout);
    REQUIRE(values_of(y.narrow(dim, start, lengths[k])) == values_of(pieces[k]));
    start += lengths[k];
  }
}

template <class D, class T>
void check_type() {
  for (std::size_t layout = 0; layout < 4; ++layout) {
    for (int dim = 0; dim < 3; ++dim) {
      check_cat<D, T>({2, 3, 5}, dim, {1, 2, 3}, layout);
      check_cat<D, T>({3, 17, 2}, dim, {16, 1, 33}, layout);
      check_cat<D, T>({1, 2, 3}, dim, {4}, layout);
      check_cat<D, T>({2, 2, 2}, dim, {0, 3, 0, 1}, layout);
    }
    check_cat<D, T>({300, 70, 9}, 1, {70, 1, 40}, layout);  // more than one thread's share
  }
  check_cat<D, T>({0, 3}, 1, {2, 2}, 0);
}

}  // namespace

TEMPLATE_TEST_CASE("tensors stand end to end", "[cat]", TERN_TEST_DEVICES) {
  check_type<TestType, float>();
  check_type<TestType, double>();
  check_type<TestType, bfloat16>();
  check_type<TestType, std::int64_t>();
  check_type<TestType, std::uint8_t>();
  check_type<TestType, bool>();
}

TEMPLATE_TEST_CASE("a tensor of shape [0] is passed over", "[cat]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2, 3}), none = zeros<TestType, double>({0});
  CHECK(values_of(cat(std::vector{none, x, none}, -1)) == values_of(x));
  CHECK(cat(std::vector{none, none}).shape() == detail::Shape{0});
}

TEMPLATE_TEST_CASE("stack puts tensors side by side along a new dimension", "[cat]", TERN_TEST_DEVICES) {
  const auto a = spread_tensor<TestType>({2, 3}), b = a * 2;
  for (int dim = -3; dim < 3; ++dim) {
    const auto y = stack(std::vector{a, b}, dim);
    CHECK(y.size(dim) == 2);
    CHECK(values_of(y.select(dim, 0)) == values_of(a));
    CHECK(values_of(y.select(dim, 1)) == values_of(b));
  }
  CHECK(values_of(stack(std::vector{full<TestType>({}, 1), full<TestType>({}, 2)})) == std::vector<double>{1, 2});
}

TEMPLATE_TEST_CASE("cat and stack take parameters", "[cat]", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::Parameter<D, double> p(tensor_of<D>({1, 2})), q(tensor_of<D>({3, 4}));
  const auto joined = cat(std::vector{p, q});
  CHECK(values_of(joined) == std::vector<double>{1, 2, 3, 4});
  CHECK(stack(std::vector{p, q}, 1).shape() == detail::Shape{2, 2});
  (joined * joined).sum().backward();
  check_close(values_of(q.grad()), {6, 8});
}

TEMPLATE_TEST_CASE("gradients of cat and stack", "[cat][gradcheck]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto a = spread_tensor<TestType>({2, 3}).requires_grad_(),
             b = spread_tensor<TestType>({2, 1}, -1, 1).requires_grad_();
  const auto joined = [](const X& x, const X& y) { return cat(std::vector{x.exp(), y, x, y.exp()}, 1).exp(); };
  CHECK(gradcheck(joined, std::tuple{a, b}));
  CHECK(gradgradcheck(joined, std::tuple{a, b}));
  const auto stacked = [](const X& x, const X& y) { return stack(std::vector{x.exp(), y.expand({2, 3}), x}, 1).exp(); };
  CHECK(gradcheck(stacked, std::tuple{a, b}));
  CHECK(gradgradcheck(stacked, std::tuple{a, b}));
}

TEMPLATE_TEST_CASE("cat of channels-last tensors is channels-last", "[cat]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 4, 5}), y = spread_tensor<D>({2, 1, 4, 5}), z = spread_tensor<D>({2, 2, 4, 5});
  const auto joined = cat(std::vector{x.contiguous(channels_last), y, z}, 1);
  CHECK(joined.is_contiguous(channels_last));
  CHECK(values_of(joined) == values_of(cat(std::vector{x, y, z}, 1)));
}

TEMPLATE_TEST_CASE("more tensors than a node has edges", "[cat]", TERN_TEST_DEVICES) {
  for (const std::size_t n : {std::size_t(255), std::size_t(256), std::size_t(1000)}) {
    const auto x = spread_tensor<TestType>({3}).requires_grad_();
    const auto y = cat(std::vector(n, x));
    CHECK(y.numel() == 3 * Index(n));
    y.sum().backward();
    CHECK(values_of(x.grad()) == std::vector<double>(3, double(n)));
  }
}

TEMPLATE_TEST_CASE("tensors that do not fit together are refused", "[cat][refusal]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto a = spread_tensor<TestType>({2, 3}), b = spread_tensor<TestType>({2, 4});
  CHECK(error_of([&] { cat(std::vector{a, b}); }) ==
        "cat: shapes [2, 3] and [2, 4] differ in a dimension other than 0");
  CHECK(error_of([&] { cat(std::vector{a, a.select(0, 0)}); }) ==
        "cat: shapes [2, 3] and [3] differ in a dimension other than 0");
  CHECK(error_of([&] { cat(std::vector{a, a}, 2); }) != "");
  CHECK(error_of([&] { cat(std::vector<X>()); }) == "cat: at least one tensor is needed");
  CHECK(error_of([&] { cat(std::vector{a, X()}); }) != "");
  CHECK(error_of([&] { cat(std::vector{full<TestType, double>({}, 1)}); }) ==
        "cat: a 0-d tensor cannot be concatenated; use stack");
  CHECK(error_of([&] { stack(std::vector{a, b}); }) == "stack: shapes differ: [2, 3] and [2, 4]");
  CHECK(error_of([&] { stack(std::vector{a, a}, 3); }) != "");
  CHECK(error_of([&] { stack(std::vector<X>()); }) == "stack: at least one tensor is needed");
  CHECK(error_of([&] { stack(std::vector{X()}); }) != "");
}

TEMPLATE_TEST_CASE("tensors to join may stand in braces", "[cat]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = tensor_of<D>({1, 2, 3, 4}, {2, 2}), b = tensor_of<D>({5, 6, 7, 8}, {2, 2});
  const std::vector list{a, b};
  CHECK(values_of(cat({a, b})) == values_of(cat(list)));
  CHECK(values_of(cat({a, b}, 1)) == std::vector<double>{1, 2, 5, 6, 3, 4, 7, 8});
  CHECK(values_of(cat({a, b}, -1)) == values_of(cat(std::vector{a, b}, 1)));
  CHECK(values_of(cat({a})) == values_of(a));
  CHECK(values_of(cat({a[0], b.select(1, 0), a.view(4)})) == std::vector<double>{1, 2, 5, 7, 1, 2, 3, 4});
  CHECK(stack({a, b}).shape() == detail::Shape{2, 2, 2});
  CHECK(values_of(stack({a, b}, 2)) == std::vector<double>{1, 5, 2, 6, 3, 7, 4, 8});
  CHECK(values_of(stack({a + b, a})) == values_of(stack(std::vector{a + b, a})));
  auto x = a.clone().requires_grad_();
  (cat({x, b}, 1) * cat({b, x}, 1)).sum().backward();
  CHECK(values_of(x.grad()) == std::vector<double>{10, 12, 14, 16});
}

}  // namespace ops_cat
