#include "support/emulator.hpp"
#include "support/recorded.hpp"

#include <tern/nn/module.hpp>
#include <tern/optim/clip_grad.hpp>
#include <tern/profile/ledger.hpp>

namespace optim_clip_grad {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = double>
struct Pair : nn::Module<D, T> {
  nn::Parameter<D, T> a = zeros<D, T>({2, 2}), b = zeros<D, T>({3});
  TERN_FIELDS(Pair, a, b)
};

template <Device D, class T = float>
struct Mixed : nn::Module<D, T> {
  nn::Parameter<D, double> wide = zeros<D, double>({1});
  nn::Parameter<D, bfloat16> narrow = zeros<D, bfloat16>({1});
  nn::Parameter<D, T> unused = zeros<D, T>({1});
  TERN_FIELDS(Mixed, wide, narrow, unused)
};

template <Device D, class T = float>
struct Many : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  TERN_FIELDS(Many, layers)
};

}  // namespace

TEMPLATE_TEST_CASE("clip_grad_norm_ takes many gradients at once where a call costs more than what it is told", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Many<D> net;
  for (int i = 0; i < 150; ++i) net.layers.emplace_back(i % 5 + 1, i % 3 + 1);
  const auto each = [&](const auto& f) {
    int i = 0;
    for (const auto& [name, p] : net.named_parameters()) f(p, ++i % 7 - 3);
  };
  double squares = 0;
  each([&](const Tensor<D>& p, int value) {
    p.set_grad(full<D>(p.shape(), value));
    squares += double(value * value) * double(p.numel());
  });
  if (std::is_same_v<D, Cuda> && is_emulated()) fail_call("cuLaunchKernel", 0, 0);
  CHECK(optim::clip_grad_norm_(net.parameters(), 2).item() == Approx(std::sqrt(squares)));
  if (std::is_same_v<D, Cuda> && is_emulated()) CHECK(calls_of("cuLaunchKernel") <= 10);
  each([&](const Tensor<D>& p, int value) {
    check_close(values_of(p.grad()), std::vector<double>(std::size_t(p.numel()), value * 2 / std::sqrt(squares)), 1e-6,
                1e-7);
  });
}

TEMPLATE_TEST_CASE("clip_grad_norm_ does what PyTorch's does", "", TERN_TEST_DEVICES) {
  using D = TestType;
  int seen = 0;
  for (const Json& recorded : recorded_cases("clip_grad_norm")) {
    INFO(recorded.dump());
    const Pair<D> net;
    const auto values = [&](const char* when, std::size_t i) { return numbers_of(recorded[when][i]); };
    net.a.set_grad(tensor_of<D>(values("before", 0), {2, 2}));
    net.b.set_grad(tensor_of<D>(values("before", 1), {3}));
    const double norm =
        optim::clip_grad_norm_(net.parameters(), recorded["max_norm"], number_of(recorded["norm_type"])).item();
    check_close({norm}, {number_of(recorded["norm"])}, 1e-12, 0);
    check_close(values_of(net.a.grad()), values("after", 0), 1e-12, 0);
    check_close(values_of(net.b.grad()), values("after", 1), 1e-12, 0);
    ++seen;
  }
  CHECK(seen == 9);
}

TEMPLATE_TEST_CASE("clip_grad_norm_ takes parameters of several types, some without a gradient", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const Mixed<D> net;
  CHECK(optim::clip_grad_norm_(net.parameters(), 1).item() == 0);
  net.wide.set_grad(tensor_of<D>({3}));
  net.narrow.set_grad(tensor_of<D, bfloat16>({4}));
  CHECK(optim::clip_grad_norm_(net.parameters(), 1).item() == Approx(5));
  check_close(values_of(net.wide.grad()), {0.6}, 1e-6);
  check_close(values_of(net.narrow.grad()), {0.8}, 4e-3);
  CHECK_FALSE(net.unused.grad().defined());
  CHECK_THAT(error_of([&] { optim::clip_grad_norm_(net.parameters(), 1, 0); }),
             ContainsSubstring("clip_grad_norm_: norm_type must be positive, not 0"));
}

TEMPLATE_TEST_CASE("clip_grad_norm_ waits for no device", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Pair<D> net;
  net.a.set_grad(ones<D, double>({2, 2}));
  net.b.set_grad(ones<D, double>({3}));
  ledger::expect_transfers({}, [&] { optim::clip_grad_norm_(net.parameters(), std::sqrt(7.0) / 2); });
  check_close(values_of(net.b.grad()), {0.5, 0.5, 0.5}, 1e-5);
}

TEMPLATE_TEST_CASE("clip_grad_value_ clamps each element", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Mixed<D> net;
  net.wide.set_grad(tensor_of<D>({-3}));
  net.narrow.set_grad(tensor_of<D, bfloat16>({0.25}));
  optim::clip_grad_value_(net.parameters(), 0.5);
  CHECK(values_of(net.wide.grad()) == std::vector<double>{-0.5});
  CHECK(values_of(net.narrow.grad()) == std::vector<double>{0.25});
  CHECK_FALSE(net.unused.grad().defined());
  CHECK_THAT(error_of([&] { optim::clip_grad_value_(net.parameters(), -1); }),
             ContainsSubstring("clip_grad_value_: clip_value must not be negative: -1"));
}

TEMPLATE_TEST_CASE("gradients of plain tensors are clipped", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({1}).requires_grad_(), y = ones<D>({1}).requires_grad_();
  (3 * x + 4 * y).sum().backward();
  CHECK(optim::clip_grad_norm_({x, y}, 1).item() == 5);
  check_close(values_of(x.grad()), {0.6}, 1e-6);
  const nn::Linear<D> layer(1, 1);
  layer(full<D>({1, 1}, 2)).sum().backward();
  CHECK(optim::clip_grad_norm_(layer.weight, 1).item() == 2);
  CHECK(optim::clip_grad_norm_(std::vector{layer.weight, layer.bias}, 9).item() == Approx(std::sqrt(2)));
  optim::clip_grad_value_(layer.weight, 0.5);
  check_close(values_of(layer.weight.grad()), {0.5});
  optim::clip_grad_value_({x, y}, 0.7);
  check_close(values_of(y.grad()), {0.7}, 1e-6);
  optim::clip_grad_value_(std::vector{x, y}, 0.5);
  check_close(values_of(x.grad()), {0.5});
}

TEMPLATE_TEST_CASE("a norm that is not finite is an Error on request", "[optim]", TERN_TEST_DEVICES) {
  const auto x = tensor<TestType>({3., 4.}, f64).requires_grad_();
  (x * x / 2).sum().backward();
  CHECK(optim::clip_grad_norm_({x}, 1, 2, true).item() == 5);
  x.set_grad(tensor<TestType>({1., INFINITY}, f64));
  CHECK(error_of([&] {
          optim::clip_grad_norm_({x}, 1, 2, true);
        }).starts_with("clip_grad_norm_: the norm of the gradients is inf"));
  CHECK(values_of(x.grad()) == std::vector<double>{1, INFINITY});
}

}  // namespace optim_clip_grad
