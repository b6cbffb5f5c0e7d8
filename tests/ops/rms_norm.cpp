#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/rms_norm.hpp"

namespace ops_rms_norm {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("rms_norm by its formula", "[ops]", TERN_TEST_DEVICES) {
  const double root = std::sqrt(25. / 2 + 0.5);
  for (const auto& x : layouts(tensor_of<TestType>({3, 4, 0, 0}, {2, 2}))) {
    check_close(values_of(rms_norm(x, 2, {}, 0.5)), {3 / root, 4 / root, 0, 0});
    check_close(values_of(rms_norm(x, 2, tensor_of<TestType>({2, -1}), 0.5)), {6 / root, -4 / root, 0, 0});
  }
}

TEMPLATE_TEST_CASE("gradients of rms_norm", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  auto x = spread_tensor<TestType>({2, 3}).requires_grad_(), w = spread_tensor<TestType>({3}).requires_grad_();
  const auto f = [](const auto& v, const auto& weight) { return rms_norm(v, 3, weight, 0.1); };
  CHECK(gradcheck(f, std::tuple{x, w}));
  CHECK(gradgradcheck(f, std::tuple{x, w}));
}

TEMPLATE_TEST_CASE("rms_norm refuses another shape", "[ops]", TERN_TEST_DEVICES) {
  CHECK(error_of([] { rms_norm(zeros<TestType, double>({2, 3}), 2); }) ==
        "rms_norm: normalized_shape [2] is not the end of the input's shape [2, 3]");
}

}  // namespace ops_rms_norm
