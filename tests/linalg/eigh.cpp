// Eigenvalues and eigenvectors against PyTorch's.
#include "tern/linalg/eigh.hpp"
#include "recorded_linalg.hpp"

namespace linalg_eigh {
using namespace tern;
using namespace tern_test;

namespace {

template <class T>
Results<T> invariants(const Tensor<Cpu, T>& a, char uplo = 'L') {
  const auto [values, vectors] = linalg::eigh(a, uplo);
  return {values, matmul(vectors * steps<T>(a.size(-1)), vectors.mT())};
}
template <class T>
Tensor<Cpu, T> symmetric(const Tensor<Cpu, T>& x) {
  return x + x.mT();
}

/// Whether eigenvalues and eigenvectors of a are right to a few roundings.
template <class T>
void check_eigh(const Tensor<Cpu, T>& a) {
  const auto [values, vectors] = linalg::eigh(a);
  const auto v = vectors.to(f64);
  const double few = 100 * std::numeric_limits<T>::epsilon(), n = double(a.size(-1));
  check_near(values_of(matmul(v * values.to(f64), v.mT())), values_of(a), few * std::sqrt(n));
  check_near(values_of(matmul(v.mT(), v)), values_of(eye<Cpu, double>(a.size(-1))), few);
  const auto ordered = values_of(values);
  CHECK(std::is_sorted(ordered.begin(), ordered.end()));
  check_near(values_of(linalg::eigvalsh(a)), ordered, few * std::sqrt(n));
}

}  // namespace

TEST_CASE("eigh is PyTorch's", "[linalg]") {
  check_recorded("eigh", [](const auto& x) { return invariants(x[0]); });
  check_recorded("eigh, U", [](const auto& x) { return invariants(x[0], 'U'); });
  check_recorded("eigvalsh", [](const auto& x) { return std::vector{linalg::eigvalsh(x[0])}; });
}

TEST_CASE("eigh can be differentiated twice", "[linalg][gradcheck]") {
  check_gradients([](const auto& x) { return linalg::eigh(symmetric(x)).eigenvalues; }, {2, 3, 3});
  check_gradients([](const auto& x) { return invariants(symmetric(x))[1]; }, {2, 3, 3});
}

TEST_CASE("eigenvectors of equal eigenvalues have no gradient, eigenvalues have one", "[linalg]") {
  const auto a = eye<Cpu, double>(2).requires_grad_();
  sum(linalg::eigh(a).eigenvalues).backward();
  CHECK(values_of(a.grad()) == std::vector<double>{1, 0, 0, 1});
  a.set_grad({});
  sum(linalg::eigh(a).eigenvectors * tensor<Cpu, double>({{1, 2}, {3, 4}})).backward();
  CHECK(!all(isfinite(a.grad())).item());
}

TEMPLATE_TEST_CASE("eigh of large, clustered and graded matrices", "[linalg]", float, double) {
  using T = TestType;
  manual_seed(1);
  for (const Index n : {33, 64, 65, 130, 200}) {
    const auto x = randn<Cpu, T>({n, n});
    check_eigh(x + x.mT());
    check_eigh(matmul(x.narrow(1, 0, 3), x.narrow(1, 0, 3).mT()));  // nearly all eigenvalues are 0
    check_eigh(eye<Cpu, T>(n));
    const auto i = to_type(arange<Cpu>(n), detail::Type<T>{});
    const auto near_diagonal = abs(unsqueeze(i, 1) - i).eq(1).to(detail::Type<T>{});
    check_eigh(diag(i * 0 + 2) - near_diagonal);                        // second differences
    check_eigh(diag(abs(i - T(n / 2))) + near_diagonal);                // Wilkinson: pairs equal to rounding
    check_eigh(diag(pow(T(10), i * T(-0.4))) + near_diagonal * 1e-20);  // graded
    check_eigh((x + x.mT()) * (std::numeric_limits<T>::max() * T(0.01)));
    check_eigh((x + x.mT()) * std::numeric_limits<T>::min());
  }
}

TEST_CASE("eigh refuses NaN, infinity and other shapes", "[linalg][refusal]") {
  CHECK(error_of([] { linalg::eigh(full<Cpu>({2, 2}, NAN)); }) == "eigh: matrix 0 of the batch has NaN or infinity");
  CHECK(error_of([] { linalg::eigvalsh(full<Cpu>({2, 2}, INFINITY)); }) ==
        "eigvalsh: matrix 0 of the batch has NaN or infinity");
  CHECK(error_of([] { linalg::eigh(ones<Cpu>({2, 3})); }) == "eigh: the matrices must be square, not [2, 3]");
  CHECK(error_of([] { linalg::eigh(ones<Cpu>({2, 2}), 'X'); }) == "eigh: UPLO must be 'L' or 'U', not 'X'");
}

}  // namespace linalg_eigh
