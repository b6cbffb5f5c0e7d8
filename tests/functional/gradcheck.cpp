#include <tern/nn/parameter.hpp>
#include "support/tensors.hpp"
#include "tern/ops/exponential.hpp"
#include "tern/functional/gradcheck.hpp"

namespace functional_gradcheck {
using namespace tern;
using namespace tern_test;

namespace {

/// x^3 with a gradient of `factor` x^2, which is right for 3.
template <class D>
Tensor<D, double> cube(const Tensor<D, double>& x, double factor) {
  const auto y = (x * x * x).detach();
  record({"cube", CallSite::unknown}, y,
         wrt(x, saved(x), [factor](const auto& g, const auto& kept) { return factor * g * kept * kept; }));
  return y;
}

/// The same with a right gradient that is cut off the tape, so that its own derivative is missing.
template <class D>
Tensor<D, double> cube_once(const Tensor<D, double>& x) {
  const auto y = (x * x * x).detach();
  record({"cube", CallSite::unknown}, y,
         wrt(x, saved(x), [](const auto& g, const auto& kept) { return 3 * g * (kept * kept).detach(); }));
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("gradcheck accepts a right gradient and names a wrong one", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2, 2}, 1, 2).requires_grad_();
  const auto right = [](const auto& v) { return cube(v, 3); };
  const auto wrong = [](const auto& v) { return cube(v, 3.01); };
  CHECK(gradcheck(right, std::tuple{x}));
  CHECK(gradgradcheck(right, std::tuple{x}));
  const std::string error = error_of([&] { gradcheck(wrong, std::tuple{x}); });
  CHECK(error.find("gradcheck: the derivative of output element 0 by element 0 of input 0 is ") == 0);
  CHECK(error.find(" by the tape, ") != std::string::npos);
  CHECK(gradcheck(wrong, std::tuple{x}, {.rtol = 0.01}));
}

TEMPLATE_TEST_CASE("gradgradcheck finds a second derivative that is missing", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2}, 1, 2).requires_grad_();
  const auto f = [](const auto& v) { return cube_once(v); };
  CHECK(gradcheck(f, std::tuple{x}));
  CHECK(error_of([&] { gradgradcheck(f, std::tuple{x}); }).find("gradgradcheck: the derivative of output element 0") ==
        0);
}

TEMPLATE_TEST_CASE("gradcheck names the input and its element", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2}).requires_grad_(), y = spread_tensor<D>({3}).requires_grad_();
  const auto constant = spread_tensor<D>({2});
  const auto f = [](const std::vector<Tensor<D, double>>& v) {
    const auto wrong_last = tensor_of<D>({1, 1, 2});
    const auto z = (v[2] + sum(v[0]) * sum(v[1])).detach();
    record({"planted", CallSite::unknown}, z, wrt(v[2], [wrong_last](const auto& g) { return g * wrong_last; }),
           wrt(v[0], saved(v[1]), [](const auto& g, const auto& c) { return (sum(g) * sum(c)).expand({2}); }));
    return z;
  };
  const std::string error = error_of([&] { gradcheck(f, std::vector{x, constant, y}); });
  CHECK(error.find("output element 2 by element 2 of input 2 is 2 by the tape, 1 by finite") != std::string::npos);
}

TEMPLATE_TEST_CASE("gradcheck of views, unused inputs and inputs in a strided layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 2}).transpose(0, 1).detach().requires_grad_(),
             unused = spread_tensor<D>({2}).requires_grad_();
  const auto before = values_of(x);
  CHECK(gradcheck([](const auto& v, const auto&) { return exp(v.select(0, 1)); }, std::tuple{x, unused}));
  check_close(values_of(x), before, 0, 0);
}

TEMPLATE_TEST_CASE("gradcheck takes one input as it is", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2}).requires_grad_();
  const auto right = [](const auto& v) { return exp(v) * v; };
  CHECK(gradcheck(right, x));
  CHECK(gradgradcheck(right, x));
  CHECK(error_of([&] { gradcheck([](const auto& v) { return v * v.detach(); }, x); }).find("gradcheck: ") == 0);
  CHECK(error_of([&] { gradgradcheck([](const auto& v) { return v * v.detach(); }, x); }) != "");
}

TEMPLATE_TEST_CASE("gradcheck takes inputs in braces", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2}).requires_grad_(), y = spread_tensor<TestType>({2}).requires_grad_();
  const auto right = [](const auto& a, const auto& b) { return exp(a) * b; };
  CHECK(gradcheck(right, {x, y}));
  CHECK(gradgradcheck(right, {x, y}));
  const nn::Parameter<TestType, double> w(spread_tensor<TestType>({2}));
  CHECK(gradcheck(right, std::tuple{x, w}));
  CHECK(gradgradcheck(right, std::tuple{w, x}));
  CHECK(error_of([&] {
          gradcheck([](const auto& a, const auto& b) { return a * b.detach() + b; }, {x, x});
        }).find("gradcheck: ") == 0);
}

TEMPLATE_TEST_CASE("gradcheck refuses", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2});
  const auto f = [](const auto& v) { return exp(v); };
  CHECK(error_of([&] { gradcheck(f, std::tuple{x}); }) == "gradcheck: no input requires a gradient");
  const auto wide = spread_tensor<TestType>({1}).expand({3}).detach().requires_grad_();
  CHECK(error_of([&] { gradcheck(f, std::tuple{wide}); }) != "");
}

}  // namespace functional_gradcheck
