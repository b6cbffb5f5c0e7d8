// Linear equations against PyTorch's.
#include "tern/linalg/solve.hpp"
#include "recorded_linalg.hpp"

namespace linalg_solve {
using namespace tern;
using namespace tern_test;

TEST_CASE("solve is PyTorch's", "[linalg]") {
  check_recorded("solve", [](const auto& x) { return std::vector{linalg::solve(x[0], x[1])}; });
  check_recorded("solve, right", [](const auto& x) { return std::vector{linalg::solve(x[0], x[1], false)}; });
}

TEST_CASE("solve can be differentiated twice", "[linalg][gradcheck]") {
  const auto b = spread_tensor<Cpu>({2, 3, 2}, -1, 3).requires_grad_();
  const auto f = [](const auto& a, const auto& y) { return linalg::solve(a, y); };
  const auto inputs = std::tuple{spread_tensor<Cpu>({3, 3}).requires_grad_(), b};
  CHECK(gradcheck(f, inputs));
  CHECK(gradgradcheck(f, inputs));
}

TEST_CASE("solve refuses what does not fit", "[linalg][refusal]") {
  const auto a = eye<Cpu>(3);
  CHECK(error_of([&] { linalg::solve(a, ones<Cpu>({2, 3})); }) ==
        "solve: matrices of shape [3, 3] do not fit right sides of shape [2, 3]");
  CHECK(error_of([&] { linalg::solve(a, ones<Cpu>(2)); }) ==
        "solve: matrices of shape [3, 3] do not fit right sides of shape [2, 1]");
  CHECK(error_of([&] { linalg::solve(a, ones<Cpu>(3), false); }) ==
        "solve: x a = b needs matrices b, not vectors of shape [3]");
  CHECK(error_of([&] { linalg::solve(a * 0, ones<Cpu>(3)); }) ==
        "solve: matrix 0 of the batch is singular: pivot 0 is 0");
}

TEST_CASE("solve of a large matrix", "[linalg]") {
  manual_seed(1);
  for (const Index n : {64, 130, 257}) {
    const auto a = randn<Cpu, double>({n, n}), b = spread_tensor<Cpu>({n, 3});
    check_near(values_of(matmul(a, linalg::solve(a, b))), values_of(b), 1e-9);
  }
}

}  // namespace linalg_solve
