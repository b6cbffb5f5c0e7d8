#include "support/tensors.hpp"
#include "tern/ops/power.hpp"

namespace autograd_anomaly {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("anomaly mode names the op and the line of its forward call", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({-1, 0}).requires_grad_();
  const auto y = x * x;
  const auto z = sqrt(y * 0);
  const int line = __LINE__ - 1;
  const auto loss = sum(z * 0);
  {
    const AnomalyMode anomaly;
    CHECK(whole_error_of([&] { loss.backward({}, true); }) ==
          "sqrt: its backward gave a NaN (anomaly.cpp:" + std::to_string(line) + ")");
  }
  loss.backward();
  CHECK(std::isnan(values_of(x.grad())[0]));
}

TEMPLATE_TEST_CASE("anomaly mode lets a clean pass through", "[autograd]", TERN_TEST_DEVICES) {
  const AnomalyMode anomaly;
  const auto x = tensor_of<TestType>({1, 4}).requires_grad_();
  sum(sqrt(x)).backward();
  check_close(values_of(x.grad()), {0.5, 0.25});
}

}  // namespace autograd_anomaly
