#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/losses.hpp"

namespace ops_losses {
using namespace tern;
using namespace tern_test;

namespace {

const std::vector<std::pair<std::string, Reduction>> reductions = {
    {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};

/// Calls f(name, loss) for each loss, loss(x, target, reduction).
template <class F>
void each_loss(const F& f) {
  f("mse_loss", [](const auto& x, const auto& t, Reduction r) { return mse_loss(x, t, {.reduction = r}); });
  f("l1_loss", [](const auto& x, const auto& t, Reduction r) { return l1_loss(x, t, {.reduction = r}); });
  f("huber_loss", [](const auto& x, const auto& t, Reduction r) { return huber_loss(x, t, {.reduction = r}); });
  f("smooth_l1_loss", [](const auto& x, const auto& t, Reduction r) { return smooth_l1_loss(x, t, {.reduction = r}); });
}

}  // namespace

TEMPLATE_TEST_CASE("losses of differences as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  each_loss([](const std::string& name, const auto& loss) {
    for (const auto& [suffix, reduction] : reductions) {
      const RecordedCase c(name + ", " + suffix);
      const auto x = c.input<D>(0), target = c.input<D>(1);
      c.check(loss(x, target, reduction), x, target);
    }
    if (name == "smooth_l1_loss") return;
    const RecordedCase nothing(name + " of nothing");
    const auto x = nothing.input<D>(0), target = nothing.input<D>(1);
    nothing.check(loss(x, target, Reduction::mean), x, target);
  });
  const RecordedCase wide("huber_loss, delta 2");
  const auto x = wide.input<D>(0), target = wide.input<D>(1);
  wide.check(huber_loss(x, target, {.delta = wide.number("delta", 1)}), x, target);
}

TEMPLATE_TEST_CASE("gradients of losses of differences", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  auto x = spread_tensor<TestType>({2, 3}, -3, 3).requires_grad_(),
       t = spread_tensor<TestType>({2, 3}, -1, 0.5).requires_grad_();
  each_loss([&](const std::string& name, const auto& loss) {
    for (const auto& [suffix, reduction] : reductions) {
      INFO(name << ", " << suffix);
      const auto f = [&, kind = reduction](const auto& a, const auto& b) { return loss(a * a, b, kind); };
      CHECK(gradcheck(f, std::tuple{x, t}));
      CHECK(gradgradcheck(f, std::tuple{x, t}));
    }
  });
  const auto smooth = [](const auto& a, const auto& b) { return smooth_l1_loss(a, b, {.beta = 0.5}); };
  CHECK(gradcheck(smooth, std::tuple{x, t}));
  CHECK(gradgradcheck(smooth, std::tuple{x, t}));
}

TEMPLATE_TEST_CASE("reduction and delta by position", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({0, 0}), y = tensor_of<TestType>({0.5, 4});
  check_close(values_of(huber_loss(x, y, "none", 2)), {0.125, 6});
  check_close(values_of(smooth_l1_loss(x, y, Reduction::none, 2)), {0.0625, 3});
}

TEMPLATE_TEST_CASE("smooth_l1_loss with beta 0 is l1_loss", "[ops]", TERN_TEST_DEVICES) {
  auto x = tensor_of<TestType>({-2, 0, 3}).requires_grad_();
  const auto y = smooth_l1_loss(x, zeros_like(x), {.reduction = Reduction::none, .beta = 0});
  check_close(values_of(y), {2, 0, 3});
  y.backward(ones_like(y));
  check_close(values_of(x.grad()), {-1, 0, 1});
}

TEMPLATE_TEST_CASE("the mean of 16-bit losses whose sum overflows is right", "[ops]", TERN_TEST_DEVICES) {
  auto x = full<TestType, half>({1000}, 20).requires_grad_();
  const auto y = mse_loss(x, zeros_like(x));
  CHECK(float(y.item()) == 400);
  y.backward();
  CHECK(values_of(x.grad())[0] == Approx(0.04).epsilon(1e-3));
}

TEMPLATE_TEST_CASE("losses of differences refuse", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2}), y = zeros<TestType>({3});
  each_loss([&](const std::string& name, const auto& loss) {
    for (const auto& each : reductions) {
      const Reduction reduction = each.second;  // with OpenMP, clang++ 16 captures no structured binding
      const auto refusal = [&](const auto& a, const auto& b) { return error_of([&] { loss(a, b, reduction); }); };
      const std::string rule = " must have the same shape; view or expand one of them";
      CHECK(refusal(x, y) == name + ": input [2] and target [3]" + rule);
      CHECK(refusal(zeros<TestType>({8, 1}), zeros<TestType>(8)) == name + ": input [8, 1] and target [8]" + rule);
      CHECK(refusal(x, zeros<TestType>({})) == name + ": input [2] and target []" + rule);
    }
  });
  CHECK(error_of([&] { huber_loss(x, x, {.delta = 0}); }) == "huber_loss: delta must be positive, not 0");
  CHECK(error_of([&] { smooth_l1_loss(x, x, {.beta = -1}); }) ==
        "smooth_l1_loss: beta must not be negative, but is -1");
}

TEST_CASE("reductions as texts", "[ops]") {
  CHECK(LossOptions{.reduction = "none"}.reduction == Reduction::none);
  CHECK(HuberLossOptions{.reduction = "mean"}.reduction == Reduction::mean);
  CHECK(SmoothL1LossOptions{.reduction = "sum"}.reduction == Reduction::sum);
}

}  // namespace ops_losses
