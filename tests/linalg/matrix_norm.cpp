// Norms of matrices against sums and singular values that are known; opinfo has PyTorch's.
#include "tern/linalg/matrix_norm.hpp"
#include "recorded_linalg.hpp"

namespace linalg_matrix_norm {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("norms of sums over rows and columns", "[linalg]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, -2, 3, -4, 5, -7}, {2, 3});
  CHECK(linalg::matrix_norm(x, 1).item() == 10);
  CHECK(linalg::matrix_norm(x, -1).item() == 5);
  CHECK(linalg::matrix_norm(x, INFINITY).item() == 16);
  CHECK(linalg::matrix_norm(x, -INFINITY).item() == 6);
  CHECK(linalg::matrix_norm(x).item() == Approx(std::sqrt(104.)));
  CHECK(linalg::matrix_norm(x.unsqueeze(1), 1, {0, 2}, true).shape() == detail::Shape{1, 1, 1});
  CHECK(linalg::matrix_norm(x, 1, {1, 0}).item() == 16);
}

TEMPLATE_TEST_CASE("linalg.norm is of vectors or of matrices", "[linalg]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, -2, 3, -4, 5, -7}, {2, 3});
  CHECK(linalg::norm(x).item() == Approx(std::sqrt(104.)));
  CHECK(linalg::norm(x, "fro").item() == Approx(std::sqrt(104.)));
  CHECK(linalg::norm(x, 1).item() == 10);
  CHECK(linalg::norm(x, INFINITY).item() == 16);
  CHECK(linalg::norm(x, INFINITY, {1, 0}).item() == 10);
  CHECK(values_of(linalg::norm(x, 1, 1)) == std::vector<double>{6, 16});
  check_close(values_of(linalg::norm(x, {}, 0, true)), {std::sqrt(17.), std::sqrt(29.), std::sqrt(58.)});
  CHECK(linalg::norm(x[0], 1).item() == 6);
  CHECK(linalg::norm(x.unsqueeze(0)).item() == Approx(std::sqrt(104.)));
  CHECK(error_of([&] { linalg::norm(x.unsqueeze(0), 1); }) ==
        "norm: a norm with ord is over one dimension or two, not 3");
}

TEST_CASE("norms of singular values", "[linalg]") {
  // The singular values of 5 * [a rotation] * diag(3, -4), and of diag(2, 1), in the first and the last dimension.
  const auto x = stack({tensor<Cpu, double>({{9, 16}, {12, -12}}), tensor<Cpu, double>({{2, 0}, {0, 1}})}, 1);
  check_near(values_of(linalg::matrix_norm(x, 2, {0, 2})), {20, 2}, 1e-15);
  check_near(values_of(linalg::matrix_norm(x, -2, {2, 0})), {15, 1}, 1e-15);
  check_near(values_of(linalg::matrix_norm(x, "nuc", {0, -1})), {35, 3}, 1e-15);
  CHECK(linalg::matrix_norm(x, "nuc", {0, 2}, true).shape() == detail::Shape{1, 2, 1});
  CHECK(linalg::matrix_norm(x, 2, {1, 0}).shape() == detail::Shape{2});
  CHECK(values_of(linalg::matrix_norm(x.to(bf16), "nuc", {0, 2})) == std::vector<double>{35, 3});
}

TEMPLATE_TEST_CASE("gradients of norms of matrices", "[linalg][gradcheck]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({3, 2, 2}).pow(3).requires_grad_();  // no two sums are equal
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  };
  check([](const auto& a) { return linalg::matrix_norm(a, 1); });
  check([](const auto& a) { return linalg::matrix_norm(a); });
  if constexpr (std::is_same_v<TestType, Cpu>) {
    check([](const auto& a) { return linalg::matrix_norm(a, "nuc", {0, 2}); });
    check([](const auto& a) { return linalg::matrix_norm(a, 2, {2, 0}, true); });
    check([](const auto& a) { return linalg::matrix_norm(a, -2, {0, 2}); });
  }
}

TEMPLATE_TEST_CASE("matrix_norm refuses what is no norm of matrices", "[linalg][refusal]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2, 3});
  CHECK(error_of([&] { linalg::matrix_norm(x, 3); }) == "matrix_norm: ord must be 1, -1, 2, -2, inf or -inf, not 3");
  CHECK(error_of([&] { linalg::matrix_norm(x, "max"); }) ==
        "matrix_norm: ord is \"fro\", \"nuc\" or a number, not \"max\"");
  CHECK(error_of([&] { linalg::matrix_norm(x, 1, 0); }) == "matrix_norm: two dimensions are needed, not [0] of [2, 3]");
  if constexpr (!std::is_same_v<TestType, Cpu>)
    CHECK(error_of([&] { linalg::matrix_norm(x, 2); }) ==
          "matrix_norm: singular values are computed on the CPU: move the tensor with .cpu()");
}

}  // namespace linalg_matrix_norm
