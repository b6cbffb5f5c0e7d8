#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/support/pairs.hpp"

namespace ops_support_pairs {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("two statistics at once, and counts", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& x : layouts(tensor_of<TestType>({1, 3, 0, 5, 5, 2}, {2, 3}))) {
    const auto [variance, mean] = var_mean(x, 0, 0);
    check_close(values_of(variance), {4, 1, 1});
    check_close(values_of(mean), {3, 4, 1});
    const auto [deviation, same_mean] = std_mean(x, 0, 0, true);
    check_close(values_of(deviation), {2, 1, 1});
    CHECK(same_mean.shape() == detail::Shape{1, 3});
    const auto [low, high] = x.aminmax(1);
    CHECK(values_of(low) == std::vector<double>{0, 2});
    CHECK(values_of(high) == std::vector<double>{3, 5});
    CHECK(values_of(aminmax(x, 1).min) == values_of(low));
    CHECK(values_of(x.aminmax(1).max) == values_of(high));
    CHECK(values_of(x.count_nonzero(1)) == std::vector<double>{2, 3});
    CHECK(x.count_nonzero().item() == 5);
  }
  CHECK(count_nonzero(tensor_of<TestType, std::uint8_t>(std::vector<double>(300, 1))).item() == 300);
  CHECK(count_nonzero(tensor_of<TestType>({NAN, 0})).item() == 1);
}

TEMPLATE_TEST_CASE("gradients of two statistics", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  auto x = spread_tensor<TestType>({2, 3}).requires_grad_();
  const auto check = [&](const auto& f) {
    const auto product = [&](const auto& v) {
      const auto [a, b] = f(v * v);
      return a * b;
    };
    CHECK(gradcheck(product, std::tuple{x}));
    CHECK(gradgradcheck(product, std::tuple{x}));
  };
  check([](const auto& v) { return var_mean(v, 1); });
  check([](const auto& v) { return std_mean(v, 0, 0.5); });
  check([](const auto& v) { return aminmax(v, 1); });
}

TEMPLATE_TEST_CASE("two statistics refuse dimensions that are not there", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2});
  CHECK(error_of([&] { var_mean(x, 1); }) == "var_mean: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { std_mean(x, 1); }) == "std_mean: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { aminmax(x, 1); }) == "aminmax: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { count_nonzero(x, 1); }) == "count_nonzero: dimension 1 is out of range [-1, 0]");
}

}  // namespace ops_support_pairs
