// Cholesky's factorisation, and equations with its factor, against PyTorch's.
#include "tern/linalg/cholesky.hpp"
#include "recorded_linalg.hpp"

namespace linalg_cholesky {
using namespace tern;
using namespace tern_test;

TEST_CASE("cholesky is PyTorch's", "[linalg]") {
  check_recorded("cholesky", [](const auto& x) { return std::vector{linalg::cholesky(x[0])}; });
  check_recorded("cholesky, upper", [](const auto& x) { return std::vector{linalg::cholesky(x[0], true)}; });
}

TEST_CASE("cholesky_solve is PyTorch's", "[linalg]") {
  check_recorded("cholesky_solve", [](const auto& x) { return std::vector{linalg::cholesky_solve(x[0], x[1])}; });
  check_recorded("cholesky_solve, upper",
                 [](const auto& x) { return std::vector{linalg::cholesky_solve(x[0], x[1], true)}; });
}

TEST_CASE("cholesky_solve can be differentiated twice", "[linalg][gradcheck]") {
  const auto b = spread_tensor<Cpu>({2, 3, 2}, -1, 3).requires_grad_();
  const auto l = (spread_tensor<Cpu>({3, 3}) + 2 * eye<Cpu, double>(3)).detach().requires_grad_();
  for (const bool upper : {false, true}) {
    const auto f = [upper](const auto& y, const auto& a) { return linalg::cholesky_solve(y, a, upper); };
    CHECK(gradcheck(f, std::tuple{b, l}));
    CHECK(gradgradcheck(f, std::tuple{b, l}));
  }
}

TEST_CASE("cholesky_solve refuses what does not fit", "[linalg][refusal]") {
  const auto l = eye<Cpu>(3);
  CHECK(error_of([&] { linalg::cholesky_solve(ones<Cpu>({2, 1}), l); }) ==
        "cholesky_solve: matrices of shape [3, 3] do not fit right sides of shape [2, 1]");
  CHECK(error_of([&] { linalg::cholesky_solve(ones<Cpu>(3), l); }) ==
        "cholesky_solve: a matrix or a batch of matrices is needed, not [3]");
  CHECK(error_of([&] { linalg::cholesky_solve(l, ones<Cpu>({2, 3})); }) ==
        "cholesky_solve: the matrices must be square, not [2, 3]");
}

TEST_CASE("cholesky can be differentiated twice", "[linalg][gradcheck]") {
  check_gradients([](const auto& x) { return linalg::cholesky(matmul(x, x.mT()) + eye<Cpu, double>(3)); }, {2, 3, 3});
}

TEST_CASE("cholesky reads one triangle", "[linalg]") {
  const auto a = tensor<Cpu, double>({{4, NAN}, {2, 5}});
  CHECK(values_of(linalg::cholesky(a)) == std::vector<double>{2, 0, 1, 2});
  CHECK(values_of(linalg::cholesky(a.mT(), true)) == std::vector<double>{2, 1, 0, 2});
}

TEST_CASE("cholesky names the matrix that is not positive definite, and its pivot", "[linalg][refusal]") {
  const auto a = stack(std::vector{eye<Cpu, double>(2), tensor<Cpu, double>({{1, 2}, {2, 1}})});
  CHECK(error_of([&] { linalg::cholesky(a); }) ==
        "cholesky: matrix 1 of the batch is not positive definite: pivot 1 is not positive");
  CHECK(error_of([] { linalg::cholesky(ones<Cpu>({2, 3})); }) == "cholesky: the matrices must be square, not [2, 3]");
}

TEST_CASE("cholesky of a large matrix", "[linalg]") {
  manual_seed(1);
  for (const Index n : {64, 130, 257}) {
    const auto x = randn<Cpu, double>({n, n}), a = matmul(x, x.mT()) + eye<Cpu, double>(n);
    const auto l = linalg::cholesky(a);
    check_near(values_of(matmul(l, l.mT())), values_of(a), 1e-12);
    CHECK(values_of(triu(l, 1)) == values_of(zeros<Cpu, double>({n, n})));
  }
}

TEST_CASE("cholesky_inverse is the inverse of the factored matrix", "[linalg]") {
  const auto a = tensor<Cpu, double>({{{4, 2}, {2, 5}}, {{9, 0}, {0, 1}}});
  const std::vector<double> inverses{0.3125, -0.125, -0.125, 0.25, 1. / 9, 0, 0, 1};
  check_close(values_of(cholesky_inverse(cholesky(a))), inverses);
  check_close(values_of(cholesky_inverse(cholesky(a, true), true)), inverses);
  CHECK(cholesky_solve(a, cholesky(a)).shape() == detail::Shape{2, 2, 2});
  CHECK(error_of([] { cholesky_inverse(zeros<Cpu>({2, 3})); }).find("cholesky_inverse: ") == 0);
}

TEST_CASE("cholesky is a method too", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, 1}, {1, 3}});
  const double root = std::sqrt(2), below = 1 / root, last = std::sqrt(2.5);
  check_close(values_of(a.cholesky()), {root, 0, below, last});
  check_close(values_of(a.cholesky(true)), {root, below, 0, last});
}

}  // namespace linalg_cholesky
