#include "support/recorded.hpp"

#include "tern/ops/binary_cross_entropy.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_binary_cross_entropy {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("binary cross entropy as PyTorch has it", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const RecordedCase limits("binary_cross_entropy at its limits"),
      logits("binary_cross_entropy_with_logits at its limits"),
      weighted("binary_cross_entropy_with_logits, pos_weight and weight");
  const auto x = limits.input<D>(0), y = logits.input<D>(0), z = weighted.input<D>(0);
  limits.check(binary_cross_entropy(x, limits.optional<D>("target"), {.reduction = "none"}), x);
  logits.check(binary_cross_entropy_with_logits(y, logits.optional<D>("target"), {.reduction = "none"}), y);
  weighted.check(binary_cross_entropy_with_logits(
                     z, weighted.optional<D>("target"),
                     {.weight = weighted.optional<D>("weight"), .pos_weight = weighted.optional<D>("pos_weight")}),
                 z);
}

TEMPLATE_TEST_CASE("binary cross entropy and its logits form agree with the formula", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 5}, -3, 3), t = spread_tensor<D>({3, 5}, 0, 1), w = spread_tensor<D>({5}, 0.5, 2);
  const auto p = sigmoid(x);
  const auto expected = -w * (t * log(p) + (1 - t) * log(1 - p));
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    const auto whole = reduction == Reduction::none  ? expected
                       : reduction == Reduction::sum ? sum(expected)
                                                     : mean(expected);
    check_close(values_of(binary_cross_entropy(p, t, {.weight = w, .reduction = reduction})), values_of(whole));
    check_close(values_of(binary_cross_entropy_with_logits(x, t, {.weight = w, .reduction = reduction})),
                values_of(whole));
  }
}

TEMPLATE_TEST_CASE("gradients of binary cross entropy", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({2, 3}, 0.1, 0.9).requires_grad_(), t = spread_tensor<D>({2, 3}, 0.2, 0.7).requires_grad_();
  const auto w = spread_tensor<D>({3}, 0.5, 2), q = spread_tensor<D>({2, 1}, 0.5, 3);
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    const auto plain = [&](const auto& a, const auto& b) {
      return binary_cross_entropy(a, b, {.weight = w, .reduction = reduction});
    };
    const auto logits = [&](const auto& a, const auto& b) {
      return binary_cross_entropy_with_logits(a * 3 - 1, b, {.weight = w, .reduction = reduction, .pos_weight = q});
    };
    CHECK(gradcheck(plain, std::tuple{x, t}));
    CHECK(gradgradcheck(plain, std::tuple{x, t}));
    CHECK(gradcheck(logits, std::tuple{x, t}));
    CHECK(gradgradcheck(logits, std::tuple{x, t}));
  }
}

TEMPLATE_TEST_CASE("binary cross entropy refuses", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({2});
  CHECK(error_of([&] { binary_cross_entropy(tensor_of<D>({0.5, 1.5}), zeros<D, double>({2})); }) ==
        "binary_cross_entropy: an element of the input is outside [0, 1]");
  CHECK(error_of([&] { binary_cross_entropy(x, zeros<D>({3})); }) ==
        "binary_cross_entropy: the target must have the input's shape [2], not [3]");
  CHECK(error_of([&] { binary_cross_entropy_with_logits(x, zeros<D>({1})); }) ==
        "binary_cross_entropy_with_logits: the target must have the input's shape [2], not [1]");
  CHECK(error_of([&] { binary_cross_entropy_with_logits(x, x, {.weight = zeros<D>({3})}); }) ==
        "binary_cross_entropy_with_logits: shapes do not broadcast: [2] and [3]");
  CHECK(error_of([&] { binary_cross_entropy_with_logits(x, x, {.pos_weight = zeros<D>({3, 2})}); }) ==
        "binary_cross_entropy_with_logits: a weight of shape [3, 2] does not broadcast to the input's shape [2]");
}

}  // namespace ops_binary_cross_entropy
