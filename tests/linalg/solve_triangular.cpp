// Triangular equations against PyTorch's.
#include "tern/linalg/solve_triangular.hpp"
#include "recorded_linalg.hpp"

namespace linalg_solve_triangular {
using namespace tern;
using namespace tern_test;
using linalg::solve_triangular;

TEST_CASE("solve_triangular is PyTorch's", "[linalg]") {
  check_recorded("solve_triangular, upper",
                 [](const auto& x) { return std::vector{solve_triangular(x[0], x[1], true)}; });
  check_recorded("solve_triangular, lower",
                 [](const auto& x) { return std::vector{solve_triangular(x[0], x[1], false)}; });
  check_recorded("solve_triangular, lower, right, unit",
                 [](const auto& x) { return std::vector{solve_triangular(x[0], x[1], false, false, true)}; });
}

TEST_CASE("solve_triangular can be differentiated twice", "[linalg][gradcheck]") {
  for (const bool upper : {false, true})
    for (const bool left : {false, true})
      for (const bool unit : {false, true}) {
        const auto f = [=](const auto& a, const auto& b) { return solve_triangular(a, b, upper, left, unit); };
        const auto inputs = std::tuple{spread_tensor<Cpu>({3, 3}).requires_grad_(),
                                       spread_tensor<Cpu>({2, 3, 3}, -1, 3).requires_grad_()};
        CHECK(gradcheck(f, inputs));
        CHECK(gradgradcheck(f, inputs));
      }
}

TEST_CASE("solve_triangular reads one triangle", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, NAN}, {1, 4}}), b = tensor_of<Cpu>({2, 9}, {2, 1});
  CHECK(values_of(solve_triangular(a, b, false)) == std::vector<double>{1, 2});
  CHECK(values_of(solve_triangular(a.mT(), b, true)) == std::vector<double>{-0.125, 2.25});
}

}  // namespace linalg_solve_triangular
