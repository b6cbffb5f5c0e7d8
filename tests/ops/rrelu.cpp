#include "tern/ops/rrelu.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_rrelu {
using namespace tern;
using namespace tern_test;

// Values of torch.nn.functional.rrelu.
TEMPLATE_TEST_CASE("rrelu in evaluation takes the mean slope", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({-2, -0.5, 0, 0.5, 3, NAN});
  check_close(values_of(rrelu(x)), {-0.4583333333333333, -0.11458333333333333, 0, 0.5, 3, NAN});
  check_close(values_of(rrelu(x, 0.2, 0.4)), {-0.6, -0.15, 0, 0.5, 3, NAN});
}

TEMPLATE_TEST_CASE("rrelu in training draws a slope for each element", "[ops][random]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Index n = 20000;
  const auto x = full<D, double>({n}, -2).requires_grad_();
  manual_seed(1);
  const auto y = rrelu(x, 0.1, 0.4, true);
  double sum = 0, squares = 0;
  const auto values = values_of(y);
  for (const double v : values) {
    REQUIRE((v <= -0.2 && v > -0.8));
    sum += v / -2, squares += v * v / 4;
  }
  CHECK(sum / double(n) == Approx(0.25).margin(0.003));
  CHECK(squares / double(n) - sum / double(n) * sum / double(n) == Approx(0.0075).margin(0.0003));
  y.sum().backward();
  const auto slopes = values_of(x.grad());
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == -2 * slopes[i]);
  const auto positive = spread_tensor<D>({5}, 0.1, 1).requires_grad_();
  const auto same = rrelu(positive, 0.1, 0.4, true);
  CHECK(values_of(same) == values_of(positive));
  same.sum().backward();
  CHECK(values_of(positive.grad()) == std::vector<double>(5, 1));
}

TEMPLATE_TEST_CASE("rrelu's slopes follow from the seed", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 4}).requires_grad_();
  const auto f = [](const auto& v) {
    manual_seed(3);
    return rrelu(v, 0.1, 0.9, true);
  };
  CHECK(values_of(f(x)) == values_of(f(x)));
  CHECK(gradcheck(f, std::tuple{x}));
  CHECK(gradgradcheck(f, std::tuple{x}));
  CHECK(values_of(rrelu(x, 0.3, 0.3, true)) == values_of(rrelu(x, 0.3, 0.3)));
}

TEMPLATE_TEST_CASE("rrelu refuses bounds in the wrong order", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3});
  CHECK(error_of([&] { rrelu(x, 0.5, 0.25); }) == "rrelu: lower 0.5 is above upper 0.25");
  CHECK(error_of([&] { rrelu(x, 0, NAN, true); }).find("rrelu: ") == 0);
  CHECK(error_of([&] { rrelu(Tensor<D>(), 0, 1, true); }) == "rrelu: a tensor is undefined");
  TERN_TEST_LINE(rrelu(x, 0.5, 0.25));
}

}  // namespace ops_rrelu
