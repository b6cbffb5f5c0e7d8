// Inverses against PyTorch's.
#include "tern/linalg/inv.hpp"
#include "recorded_linalg.hpp"

namespace linalg_inv {
using namespace tern;
using namespace tern_test;

TEST_CASE("inv is PyTorch's", "[linalg]") {
  check_recorded("inv", [](const auto& x) { return std::vector{linalg::inv(x[0])}; });
}

TEST_CASE("inv can be differentiated twice", "[linalg][gradcheck]") {
  check_gradients([](const auto& x) { return linalg::inv(x); }, {2, 3, 3});
}

TEST_CASE("inv names the singular matrix and its pivot", "[linalg][refusal]") {
  const auto a = stack(std::vector{eye<Cpu, double>(3), zeros<Cpu, double>({3, 3})});
  CHECK(error_of([&] { linalg::inv(a); }) == "inv: matrix 1 of the batch is singular: pivot 0 is 0");
  CHECK(error_of([] { linalg::inv(ones<Cpu>({2, 2})); }) == "inv: matrix 0 of the batch is singular: pivot 1 is 0");
  CHECK(error_of([] { linalg::inv(ones<Cpu>({2, 3})); }) == "inv: the matrices must be square, not [2, 3]");
  CHECK(error_of([] { linalg::inv(ones<Cpu>({2})); }) == "inv: a matrix or a batch of matrices is needed, not [2]");
}

TEST_CASE("inv of a large matrix", "[linalg]") {
  manual_seed(1);
  for (const Index n : {64, 130, 257}) {
    const auto a = randn<Cpu, double>({n, n});
    check_near(values_of(matmul(a, linalg::inv(a))), values_of(eye<Cpu, double>(n)), 1e-9);
  }
}

TEST_CASE("inverse is inv under its other name", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, 1}, {0, 4}});
  check_close(values_of(inverse(a)), {0.5, -0.125, 0, 0.25});
  CHECK(error_of([] { inverse(zeros<Cpu>({2, 2})); }).find("inverse: ") == 0);
}

TEST_CASE("the inverse is a method too", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, 1}, {1, 3}});
  check_close(values_of(a.inverse()), {0.6, -0.2, -0.2, 0.4});
}

}  // namespace linalg_inv
