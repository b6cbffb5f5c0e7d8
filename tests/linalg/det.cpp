// Determinants against PyTorch's; their gradients against cofactors.
#include "tern/linalg/det.hpp"
#include "recorded_linalg.hpp"

namespace linalg_det {
using namespace tern;
using namespace tern_test;

TEST_CASE("det is PyTorch's, and its gradient the cofactors", "[linalg]") {
  check_recorded("det", [](const auto& x) { return std::vector{linalg::det(x[0])}; });
}

TEST_CASE("slogdet is PyTorch's", "[linalg]") {
  check_recorded("slogdet", [](const auto& x) {
    const auto [sign, log] = linalg::slogdet(x[0]);
    return std::vector{sign, log};
  });
}

TEST_CASE("det and slogdet can be differentiated twice", "[linalg][gradcheck]") {
  check_gradients([](const auto& x) { return linalg::det(x); }, {2, 3, 3});
  check_gradients([](const auto& x) { return linalg::slogdet(x).logabsdet; }, {2, 3, 3});
  const auto singular = tensor<Cpu, double>({{1, 2, 0}, {0, 1, 3}, {1, 3, 3}}).requires_grad_();
  CHECK(gradgradcheck([](const auto& x) { return linalg::det(x); }, std::tuple{singular}));
}

TEST_CASE("slogdet of a singular matrix is 0 and -inf, without a gradient", "[linalg]") {
  const auto a = ones<Cpu, double>({2, 2}).requires_grad_();
  const auto [sign, log] = linalg::slogdet(a);
  CHECK(sign.item() == 0);
  CHECK(log.item() == -INFINITY);
  CHECK(error_of([&, log = log] { log.backward(); }).find("slogdet: matrix 0 of the batch is singular") == 0);
}

// Values of torch.logdet and of its gradient.
TEST_CASE("logdet is the determinant's logarithm, and NaN where that is negative", "[linalg]") {
  const auto a = tensor<Cpu, double>({{{2, 1}, {0, 4}}, {{0, 1}, {1, 0}}, {{1, 1}, {1, 1}}});
  check_close(values_of(logdet(a)), {2.0794415416798357, NAN, -INFINITY});
  const auto x = a[0].clone().requires_grad_();
  logdet(x).backward();
  check_close(values_of(x.grad()), {0.5, 0, -0.125, 0.25});
  check_gradients([](const auto& v) { return logdet(matmul(v, v.mT())); }, {2, 3, 3});
}

TEST_CASE("determinants have PyTorch's names outside of linalg too", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, 1}, {0, -4}});
  CHECK(det(a).item() == -8);
  const auto [sign, logabsdet] = slogdet(a);
  CHECK((sign.item() == -1 && logabsdet.item() == Approx(std::log(8.))));
}

TEST_CASE("determinants are methods too", "[linalg]") {
  const auto a = tensor<Cpu, double>({{2, 1}, {1, 3}});
  CHECK(a.det().item() == Approx(5));
  CHECK(a.logdet().item() == Approx(std::log(5)));
  CHECK(neg(a.slice(0, 0, 1)).slice(1, 0, 1).slogdet().sign.item() == -1);
  CHECK(error_of([] { ones<Cpu>({2, 3}).det(); }).starts_with("det: "));
}

}  // namespace linalg_det
