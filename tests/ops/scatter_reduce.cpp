// Reductions of what goes to one position, against loops over the elements, and PyTorch's values where a choice is to
// be made.
#include "tern/ops/scatter_reduce.hpp"
#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_scatter_reduce {
using namespace tern;
using namespace tern_test;

namespace {

using Values = std::vector<double>;

const char* const reductions[] = {"sum", "prod", "mean", "amax", "amin"};

/// The reduction of rows of `columns` elements, element j of source row i going to row at[i * columns + j].
Values naive(const std::string& reduce, Values x, Index columns, const Values& at, const Values& source,
             bool include_self) {
  std::vector<Values> gathered(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    if (include_self) gathered[i] = {x[i]};
  for (std::size_t i = 0; i < at.size(); ++i)
    gathered[std::size_t(at[i]) * std::size_t(columns) + i % std::size_t(columns)].push_back(source[i]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Values& all = gathered[i];
    if (all.empty()) continue;
    double sum = 0, product = 1, largest = all[0], smallest = all[0];
    for (const double v : all) sum += v, product *= v, largest = std::max(largest, v), smallest = std::min(smallest, v);
    x[i] = reduce == "sum"    ? sum
           : reduce == "prod" ? product
           : reduce == "mean" ? sum / double(all.size())
           : reduce == "amax" ? largest
                              : smallest;
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("every reduction, with and without the tensor itself, in any layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  Values at;
  for (int i = 0; i < 15; ++i) at.push_back(i * 7 % 4);
  const auto numbers = tensor_of<D, Index>(at, {5, 3});
  const auto x = spread_tensor<D>({5, 3}, -2, 2), source = spread_tensor<D>({5, 3}, 3, -1).clone();
  for (const char* const reduce : reductions)
    for (const bool include_self : {true, false}) {
      INFO(reduce << (include_self ? " with itself" : ""));
      const Values expected = naive(reduce, values_of(x), 3, at, values_of(source), include_self);
      for (const auto& layout : layouts(x))
        for (const auto& added : layouts(source))
          check_close(values_of(scatter_reduce(layout, 0, numbers, added, reduce, include_self)), expected);
      const auto y = x.clone();
      CHECK(&y.scatter_reduce_(-2, numbers, source, reduce, include_self) == &y);
      check_close(values_of(y), expected);
    }
}

TEMPLATE_TEST_CASE("many sources to few positions are reduced the same way every time", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  Values at;
  for (int i = 0; i < 3000; ++i) at.push_back(i % 1000 ? 1 : 0);  // beyond the parts that the sums are cut into
  const auto numbers = tensor_of<D, Index>(at, {3000, 1});
  const auto x = spread_tensor<D>({3, 1}, 0.9, 1.1), source = spread_tensor<D>({3000, 1}, 0.999, 1.001);
  for (const char* const reduce : reductions) {
    INFO(reduce);
    const auto y = values_of(scatter_reduce(x, 0, numbers, source, reduce));
    check_close(y, naive(reduce, values_of(x), 1, at, values_of(source), true));
    CHECK(values_of(scatter_reduce(x, 0, numbers, source, reduce)) == y);
  }
}

TEMPLATE_TEST_CASE("reductions of every element type, of NaN, of nothing and of one number", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto at = tensor_of<D, Index>({0, 0, 1});
  const auto check = [&](auto type) {
    using T = typename decltype(type)::type;
    const auto x = tensor_of<D, T>({2, 3, 4}), source = tensor_of<D, T>({5, 2, 6});
    CHECK(values_of(scatter_reduce(x, 0, at, source, "sum")) == Values{9, 9, 4});
    CHECK(values_of(scatter_reduce(x, 0, at, source, "prod", false)) == Values{10, 6, 4});
    CHECK(values_of(scatter_reduce(x, 0, at, source, "amax")) == Values{5, 6, 4});
    CHECK(values_of(scatter_reduce(x, 0, at, source, "amin", false)) == Values{2, 6, 4});
    CHECK(values_of(scatter_reduce(x, 0, at, source, "mean")) ==
          (detail::is_floating_v<T> ? Values{3, 4.5, 4} : Values{3, 4, 4}));
  };
  check(f64), check(f32), check(bf16), check(f16), check(i64), check(i32), check(u8);
  CHECK(values_of(scatter_reduce(tensor_of<D, bool>({0, 1, 1}), 0, at, tensor_of<D, bool>({1, 0, 0}), "amax", false)) ==
        Values{1, 0, 1});
  // A mean of integers is rounded down.
  CHECK(values_of(scatter_reduce(zeros<D, Index>({2}), 0, at, tensor_of<D, Index>({7, -8, -3}), "mean")) ==
        Values{-1, -2});
  const auto lowest = values_of(scatter_reduce(zeros<D>({3}), 0, at, tensor_of<D, float>({1, NAN, 2}), "amin"));
  CHECK((std::isnan(lowest[0]) && lowest[1] == 0));
  CHECK(values_of(scatter_reduce(ones<D>({2}), 0, zeros<D, Index>({0}), zeros<D>({0}), "mean", false)) == Values{1, 1});
  CHECK(scatter_reduce(full<D>({}, 2), 0, zeros<D, Index>({}), full<D>({}, 3), "prod").item() == 6);
}

TEMPLATE_TEST_CASE("gradients of reductions", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto at = tensor_of<D, Index>({0, 2, 0, 2, 2, 0, 0, 1}, {4, 2});
  const auto x = spread_tensor<D>({3, 2}, 1, 2).requires_grad_(),
             source = spread_tensor<D>({4, 3}, 0.7, 3).requires_grad_();
  for (const char* const reduce : reductions)
    for (const bool include_self : {true, false}) {
      INFO(reduce << (include_self ? " with itself" : ""));
      const auto f = [&](const auto& a, const auto& b) {
        return scatter_reduce(a * a, 0, at, b * b, reduce, include_self);
      };
      CHECK(gradcheck(f, std::tuple{x, source}));
      CHECK(gradgradcheck(f, std::tuple{x, source}));
    }
  // PyTorch's: equal extremes share the gradient; a factor's is the product of the others, also if it or they are zero.
  auto a = tensor_of<D>({3, 1}).requires_grad_(), b = tensor_of<D>({3, 3, 0, 7}).requires_grad_();
  scatter_reduce(a, 0, tensor_of<D, Index>({0, 0, 0, 1}), b, "amax").sum().backward();
  check_close(values_of(a.grad()), {1 / 3., 0});
  check_close(values_of(b.grad()), {1 / 3., 1 / 3., 0, 1});
  auto c = tensor_of<D>({2, 3}).requires_grad_(), d = tensor_of<D>({0, 5, 0, 0, 4}).requires_grad_();
  scatter_reduce(c, 0, tensor_of<D, Index>({0, 0, 1, 1, 1}), d, "prod").sum().backward();
  check_close(values_of(c.grad()), {0, 0});
  check_close(values_of(d.grad()), {10, 0, 0, 0, 0});
  // What does not count shares no gradient, even if it is equal.
  auto e = tensor_of<D>({5}).requires_grad_(), f = tensor_of<D>({5}).requires_grad_();
  scatter_reduce(e, 0, zeros<D, Index>({1}), f, "amax", false).sum().backward();
  check_close(values_of(e.grad()), {0});
  check_close(values_of(f.grad()), {1});
}

TEMPLATE_TEST_CASE("the second derivative of a product with one zero, and with two", "[ops][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({2, 3}).requires_grad_();
  const auto product = [](const auto& a, const auto& b) {
    return scatter_reduce(a, 0, tensor_of<D, Index>({0, 0, 1, 1}), b, "prod");
  };
  CHECK(gradgradcheck(product, std::tuple{x, tensor_of<D>({0, 5, 2, 4}).requires_grad_()}));
  const auto zeros_there = tensor_of<D>({0, 5, 0, 0}).requires_grad_();
  const auto g = grad(product(x, zeros_there).sum(), zeros_there, {.create_graph = true});
  CHECK(error_of([&] { g.sum().backward(); }).find("several factors of a product are zero") != std::string::npos);
}

TEMPLATE_TEST_CASE("reductions in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3}, 1, 1.5), source = spread_tensor<D>({30}, 0.9, 1.2);
  Values rows;
  for (int i = 0; i < 30; ++i) rows.push_back(i % 3);
  const auto at = tensor_of<D, Index>(rows);
  for (const char* const reduce : {"sum", "prod", "mean", "amax"})
    check_rounded_once_in_16_bits([&](const auto& a, const auto& b) { return scatter_reduce(a, 0, at, b, reduce); }, x,
                                  source);
}

TEMPLATE_TEST_CASE("scatter_reduce refuses what does not fit", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({3, 2}), one = ones<D>({1, 1});
  const auto at = zeros<D, Index>({1, 1}), outside = full<D, Index>({1, 1}, 3);
  CHECK(error_of([&] { scatter_reduce(x, 0, at, one, "max"); }) ==
        "scatter_reduce: reduce is sum, prod, mean, amax or amin, not max");
  CHECK(error_of([&] { scatter_reduce_(x, 2, at, one, "sum"); }) ==
        "scatter_reduce_: dimension 2 is out of range [-2, 1]");
  for (const char* const reduce : reductions)
    CHECK(error_of([&] { values_of(scatter_reduce(x, 0, outside, one, reduce)); }) ==
          "scatter_reduce: index 3 is out of range for a dimension of size 3");
  CHECK(error_of([&] { scatter_reduce(x, 0, zeros<D, Index>({1, 3}), x, "prod"); }) ==
        "scatter_reduce: index of shape [1, 3] does not fit a tensor of shape [3, 2]");
}

}  // namespace ops_scatter_reduce
