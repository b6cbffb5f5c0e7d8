#include "recorded_module.hpp"

#include <tern/nn/linear.hpp>

namespace nn_linear {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("Linear has PyTorch's names, shapes and initial values", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  check_recorded_module("Linear(784, 128)", nn::Linear<D>(784, 128));
  check_recorded_module("Linear(784, 128)", nn::Linear<D, double>(784, 128));
  check_recorded_module("Linear(30, 4, bias=False)", nn::Linear<D>(30, 4, {.bias = false}));
  const nn::Linear<D> plain(3, 2, {.bias = false});
  CHECK_FALSE(plain.bias.defined());
  CHECK_FALSE(plain.to(f64).bias.defined());
}

TEMPLATE_TEST_CASE("Linear is x Wᵀ + b over the last dimension", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D, double> net(3, 2);
  net.load_state_dict({{"weight", tensor_of<D>({1, 2, 3, 4, 5, 6}, {2, 3})}, {"bias", tensor_of<D>({10, 20})}});
  const auto y = net(tensor_of<D>({1, 0, -1, 2, 1, 0}, {2, 1, 3}));
  CHECK(y.shape() == tern::detail::Shape{2, 1, 2});
  check_close(values_of(y), {8, 18, 14, 33});
  sum(y).backward();
  check_close(values_of(net.weight.grad()), {3, 1, -1, 3, 1, -1});
  check_close(values_of(net.bias.grad()), {2, 2});
  nn::Linear<D, double> plain(3, 2, {.bias = false});
  plain.load_state_dict({{"weight", tensor_of<D>({1, 2, 3, 4, 5, 6}, {2, 3})}});
  check_close(values_of(plain(tensor_of<D>({1, 1, 1}))), {6, 15});
}

TEMPLATE_TEST_CASE("Linear refuses sizes and inputs that do not fit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_THAT(error_of([] { nn::Linear<D>(3, 0); }), ContainsSubstring("Linear: ") && ContainsSubstring("3 -> 0"));
  CHECK_THAT(error_of([] { nn::Linear<D>(-1, 2); }), ContainsSubstring("Linear: "));
  nn::Linear<D> net(3, 2);
  CHECK_THAT(error_of([&] { net(ones<D>({2, 4})); }), ContainsSubstring("[2, 4]"));
  nn::Linear<D> empty;
  CHECK_THROWS_AS(empty(ones<D>({2, 4})), Error);
}

TEMPLATE_TEST_CASE("the third positional argument of Linear is bias", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_FALSE(nn::Linear<D>(3, 4, false).bias.defined());
  CHECK(nn::Linear<D>(3, 4, true).bias.defined());
  CHECK(nn::Linear<D>(3, 4, {}).bias.defined());
  static_assert(!std::is_constructible_v<nn::Linear<D>, int, int, int>);
}

}  // namespace nn_linear
