#include "support/recorded.hpp"

#include <tern/ops/ops.hpp>

namespace functional_derivatives {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class D>
using List = std::vector<Tensor<D, double>>;

template <class D>
Tensor<D, double> f(const List<D>& x) {
  return mv(tanh(x[0]), x[1]) * sum(x[1]);
}
template <class D>
Tensor<D, double> s(const List<D>& x) {
  return sum(square(f(x))) + sum(exp(x[1]));
}
template <class D>
Tensor<D, double> recorded(const Json& j) {
  return tensor_of<D>(numbers_of(j), shape_of(j));
}
template <class D>
void check_same(const Tensor<D, double>& x, const Json& j) {
  CHECK(x.shape() == shape_of(j));
  CHECK_FALSE(x.requires_grad());
  check_close(values_of(x), numbers_of(j), 1e-11, 1e-13);
}
template <class D>
void check_same(const List<D>& list, const Json& j) {
  REQUIRE(list.size() == j.size());
  for (std::size_t i = 0; i < list.size(); ++i) check_same(list[i], j[i]);
}

template <class D>
List<D> inputs() {
  return {tensor_of<D>({1, 0.7, 0.4, 0.1, -0.2, -0.5}, {2, 3}), tensor_of<D>({1, 0.7, 0.4})};
}

}  // namespace

TEMPLATE_TEST_CASE("products with Jacobians and Hessians are PyTorch's: vjp, jvp, hvp, vhp", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Json all = recorded_cases("derivatives");
  const Json& j = all[0];
  const List<D> x = inputs<D>();
  List<D> v{empty<D, double>({2, 3}), empty<D, double>({3})};
  std::vector<double> cosines, sines;
  for (int i = 0; i < 6; ++i) cosines.push_back(std::cos(i));
  for (int i = 0; i < 3; ++i) sines.push_back(std::sin(i));
  v = {tensor_of<D>(cosines, {2, 3}), tensor_of<D>(sines)};
  const auto [y, back] = vjp(f<D>, x, tensor_of<D>({0.5, -2}));
  check_same(y, j["f"]);
  check_same(back, j["vjp"]);
  const NoGradGuard off;  // as in PyTorch, they differentiate all the same
  check_same(jvp(f<D>, x, v).second, j["jvp"]);
  const auto [value, product] = hvp(s<D>, x, v);
  check_same(value, j["s"]);
  check_same(product, j["hvp"]);
  check_same(vhp(s<D>, x, v).second, j["vhp"]);
}

TEMPLATE_TEST_CASE("Jacobians and Hessians are PyTorch's: jacobian, hessian", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Json all = recorded_cases("derivatives");
  const Json& j = all[0];
  const List<D> x = inputs<D>();
  check_same(jacobian(f<D>, x), j["jacobian"]);
  const auto rows = hessian(s<D>, x);
  REQUIRE(rows.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) check_same(rows[i], j["hessian"][i]);
  CHECK_FALSE(x[0].requires_grad());
}

TEMPLATE_TEST_CASE("derivatives of one tensor, of what does not depend on it, and of derivatives", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, -2, 3}).requires_grad_(), v = tensor_of<D>({1, 2, 0.5});
  const auto cube = [](const auto& u) { return u * u * u; };
  CHECK(values_of(jacobian(cube, x)) == std::vector<double>{3, 0, 0, 0, 12, 0, 0, 0, 27});
  CHECK(values_of(jvp(cube, x, v).second) == std::vector<double>{3, 24, 13.5});
  CHECK(values_of(vjp(cube, x, v).second) == std::vector<double>{3, 24, 13.5});
  CHECK(values_of(hessian([&](const auto& u) { return sum(cube(u)); }, x)) ==
        std::vector<double>{6, 0, 0, 0, -12, 0, 0, 0, 18});
  CHECK(values_of(jacobian([&](const auto&) { return v; }, x)) == std::vector<double>(9, 0));
  CHECK(values_of(hessian([](const auto& u) { return sum(u); }, x)) == std::vector<double>(9, 0));
  CHECK(values_of(jvp([&](const auto& u) { return 2 * u; }, x, v).second) == std::vector<double>{2, 4, 1});
  CHECK_FALSE(x.grad().defined());
  // ∂/∂x of Σ J = Σ 6 x, through the graph that x is in.
  sum(jacobian(cube, 2 * x, {.create_graph = true})).backward();
  CHECK(values_of(x.grad()) == std::vector<double>{24, -48, 72});
}

TEMPLATE_TEST_CASE("derivatives refuse what does not fit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const List<D> x = inputs<D>();
  CHECK_THAT(error_of([&] { vjp(f<D>, x, x[1]); }), ContainsSubstring("vjp: the vector has shape [3], the output [2]"));
  CHECK_THAT(error_of([&] { jvp(f<D>, x, List<D>{x[0]}); }), ContainsSubstring("jvp: 1 vectors for 2 inputs"));
  CHECK_THAT(error_of([&] { vhp(s<D>, x, List<D>{x[1], x[1]}); }),
             ContainsSubstring("vhp: vector 0 has shape [3], the input [2, 3]"));
  CHECK_THAT(error_of([&] { hessian(f<D>, x); }),
             ContainsSubstring("hessian: the function must give one number, not a tensor of shape [2]"));
  CHECK_THAT(error_of([&] { jacobian(f<D>, List<D>{}); }), ContainsSubstring("jacobian: there are no inputs"));
}

}  // namespace functional_derivatives
