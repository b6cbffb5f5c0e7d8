// Covariance and correlation against PyTorch's values.
#include "tern/ops/covariance.hpp"
#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_covariance {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("covariances and correlations of rows are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& x : layouts(tensor_of<D>({1, 5, 2, 4, 3, 9}, {2, 3}))) {
    check_close(values_of(cov(x)), {13. / 3, -17. / 6, -17. / 6, 31. / 3});
    check_close(values_of(x.cov(0)), {26. / 9, -17. / 9, -17. / 9, 62. / 9});
    const double r = -17. / 6 / std::sqrt(13. / 3 * 31. / 3);
    check_close(values_of(x.corrcoef()), {1, r, r, 1});
    check_close(values_of(cov(x[0])), {13. / 3});
    check_close(values_of(corrcoef(x[1])), {1});
  }
  CHECK(std::isnan(values_of(cov(ones<D>({2, 1})))[0]));
}

TEMPLATE_TEST_CASE("gradients of covariances", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 5}, -1, 2).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  };
  check([](const auto& a) { return cov(a * a); });
  check([](const auto& a) { return corrcoef(a * a); });
  check_rounded_once_in_16_bits([](const auto& a) { return cov(a); }, x.detach());
}

TEMPLATE_TEST_CASE("covariances refuse what is no matrix", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([&] { cov(ones<D>({2, 2, 2})); }) == "cov: a matrix or a vector is needed, not [2, 2, 2]");
  CHECK(error_of([&] { corrcoef(full<D>({}, 1)); }) == "corrcoef: a matrix or a vector is needed, not []");
}

}  // namespace ops_covariance
