// Singular values and vectors against PyTorch's.
#include "tern/linalg/svd.hpp"
#include "recorded_linalg.hpp"

namespace linalg_svd {
using namespace tern;
using namespace tern_test;

namespace {

template <class T>
Results<T> invariants(const Tensor<Cpu, T>& a, bool full_matrices) {
  const auto [all_u, s, all_vh] = linalg::svd(a, full_matrices);
  const Index m = a.size(-2), n = a.size(-1), k = s.size(-1);
  REQUIRE(all_u.size(-1) == (full_matrices ? m : k));
  REQUIRE(all_vh.size(-2) == (full_matrices ? n : k));
  const auto u = all_u.narrow(-1, 0, k), vh = all_vh.narrow(-2, 0, k), w = u * steps<T>(k), v = vh.mT() * steps<T>(k);
  return {s, matmul(w, vh), matmul(w, u.mT()), matmul(v, vh)};
}

/// Whether all factors of a are right to a few roundings.
template <class T>
void check_svd(const Tensor<Cpu, T>& a) {
  for (const bool full_matrices : {false, true}) {
    const auto [factor_u, values, factor_vh] = linalg::svd(a, full_matrices);
    const auto u = factor_u.to(f64), vh = factor_vh.to(f64), s = values.to(f64);
    const double few = 100 * std::numeric_limits<T>::epsilon();
    const Index k = s.size(-1);
    check_near(values_of(matmul(u.narrow(-1, 0, k) * s, vh.narrow(-2, 0, k))), values_of(a),
               few * std::sqrt(double(k)));
    check_near(values_of(matmul(u.mT(), u)), values_of(eye<Cpu, double>(u.size(-1))), few);
    check_near(values_of(matmul(vh, vh.mT())), values_of(eye<Cpu, double>(vh.size(-2))), few);
    const auto ordered = values_of(s);
    CHECK(std::is_sorted(ordered.rbegin(), ordered.rend()));
    CHECK(ordered.back() >= 0);
    check_near(values_of(linalg::svdvals(a)), ordered, few);
  }
}

}  // namespace

TEST_CASE("svd is PyTorch's", "[linalg]") {
  check_recorded("svd", [](const auto& x) { return invariants(x[0], true); });
  check_recorded("svd, reduced", [](const auto& x) { return invariants(x[0], false); });
  check_recorded("svdvals", [](const auto& x) { return std::vector{linalg::svdvals(x[0])}; });
  check_recorded("svd, u", [](const auto& x) { return std::vector{invariants(x[0], false)[2]}; });
  check_recorded("svd, vt", [](const auto& x) { return std::vector{invariants(x[0], false)[3]}; });
}

TEST_CASE("svd's results have PyTorch's names and are a tuple", "[linalg]") {
  const auto a = tensor<Cpu, double>({{3, 0, 0}, {0, 4, 0}});
  auto found = linalg::svd(a);
  check_close(values_of(found.S), {4, 3});
  CHECK(found.U.shape() == detail::Shape{2, 2});
  CHECK(found.Vh.shape() == detail::Shape{3, 3});
  CHECK(std::get<1>(found).impl() == found.S.impl());
  Tensor<Cpu, double> u, s, vh;
  std::tie(u, s, vh) = found;
  const auto copy = found;
  found.S = zeros<Cpu, double>({2});
  check_close(values_of(copy.S), {4, 3});  // its own
  check_close(values_of(s), {4, 3});
}

TEST_CASE("svd can be differentiated twice", "[linalg][gradcheck]") {
  for (const detail::Shape& shape : {detail::Shape{2, 3, 3}, detail::Shape{4, 2}, detail::Shape{2, 4}})
    for (const std::size_t i : {0, 1, 2, 3})
      check_gradients([i](const auto& x) { return invariants(x, false)[i]; }, shape);
}

TEST_CASE("singular vectors of equal singular values have no gradient, singular values have one", "[linalg]") {
  const auto a = eye<Cpu, double>(2).requires_grad_();
  sum(linalg::svd(a).S).backward();
  CHECK(values_of(a.grad()) == std::vector<double>{1, 0, 0, 1});
  a.set_grad({});
  sum(linalg::svd(a).U * tensor<Cpu, double>({{1, 2}, {3, 4}})).backward();
  CHECK(!all(isfinite(a.grad())).item());
}

TEMPLATE_TEST_CASE("svd of large, clustered and graded matrices", "[linalg]", float, double) {
  using T = TestType;
  manual_seed(1);
  for (const detail::Shape& shape :
       {detail::Shape{33, 33}, detail::Shape{130, 130}, detail::Shape{150, 40}, detail::Shape{40, 150}}) {
    const Index m = shape[0], n = shape[1];
    const auto x = randn<Cpu, T>(shape);
    check_svd(x);
    check_svd(eye<Cpu, T>(m, n));
    check_svd(zeros<Cpu, T>(shape));
    check_svd(matmul(x.narrow(1, 0, 3), randn<Cpu, T>({3, n})));  // nearly all singular values are 0
    const auto i = to_type(arange<Cpu>(n), detail::Type<T>{});
    check_svd(x * pow(T(10), i * T(-0.2)));  // graded
    check_svd(x * (std::numeric_limits<T>::max() * T(0.001)));
    check_svd(x * std::numeric_limits<T>::min());
  }
}

TEST_CASE("svd refuses NaN, infinity and vectors", "[linalg][refusal]") {
  CHECK(error_of([] { linalg::svd(full<Cpu>({2, 2}, NAN)); }) == "svd: matrix 0 of the batch has NaN or infinity");
  CHECK(error_of([] { linalg::svdvals(full<Cpu>({2, 2}, INFINITY)); }) ==
        "svdvals: matrix 0 of the batch has NaN or infinity");
  CHECK(error_of([] { linalg::svd(ones<Cpu>(2)); }) == "svd: a matrix or a batch of matrices is needed, not [2]");
}

}  // namespace linalg_svd
