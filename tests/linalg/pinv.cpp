// Pseudo-inverses against PyTorch's, and ranks.
#include "tern/linalg/pinv.hpp"
#include "recorded_linalg.hpp"

namespace linalg_pinv {
using namespace tern;
using namespace tern_test;

TEST_CASE("pinv is PyTorch's", "[linalg]") {
  check_recorded("pinv", [](const auto& x) { return std::vector{linalg::pinv(x[0])}; });
  check_recorded("pinv, atol", [](const auto& x) { return std::vector{linalg::pinv(x[0], 0.5)}; });
  check_recorded("pinv, rtol", [](const auto& x) { return std::vector{linalg::pinv(x[0], {}, 0.5)}; });
  check_recorded("pinv, hermitian", [](const auto& x) {
    // The gradient of a's lower triangle, as the recorded function's.
    return std::vector{linalg::pinv(tril(x[0]) + tril(x[0], -1).mT(), {}, {}, true)};
  });
}

TEST_CASE("pinv can be differentiated twice", "[linalg][gradcheck]") {
  for (const detail::Shape& shape : {detail::Shape{4, 2}, detail::Shape{2, 3, 3}, detail::Shape{2, 4}})
    check_gradients([](const auto& x) { return linalg::pinv(x); }, shape);
  check_gradients([](const auto& x) { return linalg::pinv(x + x.mT(), {}, {}, true); }, {2, 3, 3});
  // Of rank 2 at each x, with singular values that are equal.
  check_gradients([](const auto& x) { return linalg::pinv(matmul(x, x.mT())); }, {4, 2});
  const auto one = eye<Cpu, double>(3).requires_grad_();
  CHECK(gradcheck([](const auto& x) { return linalg::pinv(x); }, std::tuple{one}));
}

TEST_CASE("pinv has the four properties of a pseudo-inverse", "[linalg]") {
  manual_seed(1);
  for (const detail::Shape& shape : {detail::Shape{130, 40}, detail::Shape{40, 130}, detail::Shape{70, 70}}) {
    const auto a = matmul(randn<Cpu, double>({shape[0], 20}), randn<Cpu, double>({20, shape[1]})), p = linalg::pinv(a);
    const auto ap = matmul(a, p), pa = matmul(p, a);
    check_near(values_of(matmul(ap, a)), values_of(a), 1e-12);
    check_near(values_of(matmul(pa, p)), values_of(p), 1e-12);
    check_near(values_of(ap), values_of(ap.mT()), 1e-12);
    check_near(values_of(pa), values_of(pa.mT()), 1e-12);
    CHECK(linalg::matrix_rank(a).item() == 20);
  }
}

TEST_CASE("with hermitian pinv and matrix_rank read one triangle", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, NAN}, {0, -4}});
  check_near(values_of(linalg::pinv(a, {}, {}, true)), {0.5, 0, 0, -0.25}, 1e-15);
  CHECK(linalg::matrix_rank(a, 3., {}, true).item() == 1);
}

TEST_CASE("matrix_rank counts singular values", "[linalg]") {
  const auto square = tensor<Cpu, double>({{1, 0, 0}, {0, 0.5, 0}, {0, 0, 1e-14}}), a = pad(square, {0, 997});
  const auto rank = [&](std::optional<double> atol, std::optional<double> rtol) {
    return linalg::matrix_rank(a, atol, rtol).item();
  };
  CHECK(rank({}, {}) == 2);
  CHECK(rank(0., 0.) == 3);
  CHECK(rank(0.5, {}) == 1);
  CHECK(rank(1e-20, {}) == 3);
  CHECK(rank({}, 0.6) == 1);
  CHECK(rank(0.4, 0.6) == 1);
  CHECK(rank(2., 0.1) == 0);
  const auto batch = stack({square, eye<Cpu, double>(3), zeros<Cpu, double>({3, 3})});
  CHECK(values_of(linalg::matrix_rank(batch)) == std::vector<double>{3, 3, 0});
  CHECK(values_of(linalg::matrix_rank(zeros<Cpu>({2, 0, 3}))) == std::vector<double>{0, 0});
  CHECK(linalg::matrix_rank(ones<Cpu>({2, 3}).requires_grad_()).item() == 1);
}

TEST_CASE("pinv and matrix_rank refuse what is no matrix", "[linalg][refusal]") {
  CHECK(error_of([] { linalg::pinv(ones<Cpu>(3)); }) == "pinv: a matrix or a batch of matrices is needed, not [3]");
  CHECK(error_of([] { linalg::pinv(ones<Cpu>({2, 3}), {}, {}, true); }) ==
        "pinv: the matrices must be square, not [2, 3]");
  CHECK(error_of([] { linalg::pinv(ones<Cpu>({2, 2, 2}) * NAN); }) ==
        "pinv: matrix 0 of the batch has NaN or infinity");
  CHECK(error_of([] { linalg::matrix_rank(ones<Cpu>(3)); }) ==
        "matrix_rank: a matrix or a batch of matrices is needed, not [3]");
  CHECK(error_of([] { linalg::matrix_rank(ones<Cpu>({2, 3}), {}, {}, true); }) ==
        "matrix_rank: the matrices must be square, not [2, 3]");
}

TEST_CASE("pinverse is pinv with a relative tolerance", "[linalg]") {
  const auto a = tensor<Cpu, double>({{4, 0, 0}, {0, 1e-3, 0}});
  check_close(values_of(pinverse(a)), {0.25, 0, 0, 1000, 0, 0});
  check_close(values_of(pinverse(a, 1e-2)), {0.25, 0, 0, 0, 0, 0});
}

TEST_CASE("the pseudo-inverse is a method too", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, 1}, {1, 3}});
  check_close(values_of(a.pinverse()), {0.6, -0.2, -0.2, 0.4});
  check_close(values_of(tensor<Cpu, double>({{1, 0}, {0, 0.1}}).pinverse(0.5)), {1, 0, 0, 0});
}

}  // namespace linalg_pinv
