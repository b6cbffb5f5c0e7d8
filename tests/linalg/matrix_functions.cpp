// Powers and exponentials of matrices against PyTorch's and against series.
#include "tern/linalg/matrix_functions.hpp"
#include "recorded_linalg.hpp"

namespace linalg_matrix_functions {
using namespace tern;
using namespace tern_test;

TEST_CASE("matrix_power is PyTorch's", "[linalg]") {
  for (const Index n : {1, 2, 3, 6, -1, -2})
    check_recorded("matrix_power, " + std::to_string(n),
                   [n](const auto& x) { return std::vector{linalg::matrix_power(x[0], n)}; });
}

TEST_CASE("matrix_exp is PyTorch's", "[linalg]") {
  check_recorded("matrix_exp", [](const auto& x) { return std::vector{linalg::matrix_exp(x[0])}; });
}

TEMPLATE_TEST_CASE("powers of whole numbers are exact", "[linalg]", TERN_TEST_DEVICES) {
  const auto a = tensor_of<TestType>({1, 1, 0, 1}, {2, 2});
  for (const Index n : {0, 1, 2, 3, 7, 12})
    CHECK(values_of(linalg::matrix_power(a, n)) == std::vector<double>{1, double(n), 0, 1});
  CHECK(linalg::matrix_power(a, 1).impl()->data != a.impl()->data);
  if constexpr (!std::is_same_v<TestType, Cpu>)
    CHECK(error_of([&] { linalg::matrix_power(a, -1); }) ==
          "matrix_power: inverses are computed on the CPU: move the tensor with .cpu()");
}

TEMPLATE_TEST_CASE("exponentials of rotations and of nilpotent and diagonal matrices", "[linalg]", TERN_TEST_DEVICES) {
  for (const double angle : {1e-3, 0.7, 3., 40.}) {
    const auto y = linalg::matrix_exp(tensor_of<TestType>({0, -angle, angle, 0}, {2, 2}));
    check_near(values_of(y), {std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle)}, 1e-13);
  }
  const auto nilpotent = linalg::matrix_exp(tensor_of<TestType>({0, 2, 3, 0, 0, 4, 0, 0, 0}, {3, 3}));
  check_near(values_of(nilpotent), {1, 2, 7, 0, 1, 4, 0, 0, 1}, 1e-15);
  const auto each = linalg::matrix_exp(tensor_of<TestType>({-50, 0, 0, 1, 0.5, 0, 0, 0}, {2, 2, 2}));
  check_close(values_of(each), {std::exp(-50.), 0, 0, std::exp(1.), std::exp(0.5), 0, 0, 1}, 1e-12, 1e-30);
}

TEST_CASE("matrix_exp of what is not finite", "[linalg]") {
  const auto y = values_of(linalg::matrix_exp(tensor<Cpu, double>({{NAN, 0}, {0, 1}})));
  CHECK(std::all_of(y.begin(), y.end(), [](double v) { return v != v; }));
  CHECK(values_of(linalg::matrix_exp(tensor<Cpu, double>({{800}}))) == std::vector<double>{INFINITY});
}

TEMPLATE_TEST_CASE("matrix_power and matrix_exp can be differentiated twice", "[linalg][gradcheck]",
                   TERN_TEST_DEVICES) {
  const auto check = [](const auto& f, const auto& x) {
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  };
  const auto x = spread_tensor<TestType>({2, 3, 3}).requires_grad_();
  check([](const auto& a) { return linalg::matrix_power(a, 3); }, x);
  check([](const auto& a) { return linalg::matrix_exp(a); }, x);
  const auto far = (spread_tensor<TestType>({2, 2}) * 3).detach().requires_grad_();
  check([](const auto& a) { return linalg::matrix_exp(a); }, far);
  if constexpr (std::is_same_v<TestType, Cpu>) check([](const auto& a) { return linalg::matrix_power(a, -2); }, x);
}

TEST_CASE("matrix_power and matrix_exp refuse what is not square or has no inverse", "[linalg][refusal]") {
  const auto a = ones<Cpu>({2, 3});
  CHECK(error_of([&] { linalg::matrix_power(a, 2); }) == "matrix_power: the matrices must be square, not [2, 3]");
  CHECK(error_of([&] { linalg::matrix_exp(a); }) == "matrix_exp: the matrices must be square, not [2, 3]");
  CHECK(error_of([] { linalg::matrix_exp(ones<Cpu>(2)); }) ==
        "matrix_exp: a matrix or a batch of matrices is needed, not [2]");
  CHECK(error_of([] { linalg::matrix_power(zeros<Cpu>({2, 2}), -1); }) ==
        "matrix_power: matrix 0 of the batch is singular: pivot 0 is 0");
}

TEST_CASE("powers and exponentials of matrices are methods too", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, 1}, {1, 3}});
  CHECK(values_of(a.matrix_power(2)) == std::vector<double>{5, 5, 5, 10});
  CHECK(values_of(a.matrix_exp()) == values_of(linalg::matrix_exp(a)));
}

}  // namespace linalg_matrix_functions
