#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/nn/loss.hpp"
#include "tern/ops/ctc_loss.hpp"

namespace ops_ctc_loss {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("ctc_loss as PyTorch has it", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const std::string& name, CtcLossOptions options) {
    const RecordedCase c(name);
    const auto x = c.input<D>(0);
    c.check(ctc_loss(x, c.input<D, Index>(1), c.input<Cpu, Index>(2), c.input<Cpu, Index>(3), options), x);
  };
  const std::pair<const char*, Reduction> reductions[] = {
      {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};
  for (const auto& [name, reduction] : reductions) {
    check(std::string("ctc_loss, ") + name, {.reduction = reduction});
    check(std::string("ctc_loss, zero_infinity, ") + name, {.reduction = reduction, .zero_infinity = true});
  }
  check("ctc_loss: infinity", {.reduction = "none"});
  check("ctc_loss: labels in a row", {});
  check("ctc_loss: one sample", {});
  check("ctc_loss: another blank", {.blank = 4, .reduction = "sum"});
}

TEMPLATE_TEST_CASE("ctc_loss is the sum over all ways to say the labels", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = log_softmax(
      tensor<D>({{0.5f, -1.f, 0.25f}, {1.f, 0.f, -0.5f}, {0.f, 0.75f, 0.5f}, {-0.25f, 0.1f, 1.f}}).to(f64), 1);
  const std::vector<double> log_probs = values_of(x);
  double expected = 0;
  for (int path = 0; path < 81; ++path) {
    const int said[] = {path % 3, path / 3 % 3, path / 9 % 3, path / 27};
    std::vector<int> labels;
    double log_prob = 0;
    for (int t = 0; t < 4; ++t) {
      log_prob += log_probs[std::size_t(3 * t + said[t])];
      if (said[t] && (t == 0 || said[t] != said[t - 1])) labels.push_back(said[t]);
    }
    if (labels == std::vector<int>{2, 2}) expected += std::exp(log_prob);
  }
  const auto lengths = tensor<D, Index>({4}).select(0, 0), labels = tensor<D, Index>({2, 2});
  check_close(
      values_of(ctc_loss(x, labels, lengths, tensor<D, Index>({2}).select(0, 0), {.reduction = Reduction::sum})),
      {-std::log(expected)});
  check_close(values_of(ctc_loss(x, labels, {4}, {2}, {.reduction = Reduction::sum})), {-std::log(expected)});
  const std::vector<Index> steps{4}, said{2};
  check_close(values_of(ctc_loss(x, labels, steps, said)), {-std::log(expected) / 2});
  const nn::CTCLoss<D, double> module({.reduction = "sum"});
  check_close(values_of(module(x, labels, steps, said)), {-std::log(expected)});
  const nn::CTCLoss<D, double> by_position(0, "sum", true), blank(0);
  CHECK(by_position.options.zero_infinity);
  check_close(values_of(by_position(x, labels, steps, said)), {-std::log(expected)});
  check_close(values_of(blank(x, labels, steps, said)), {-std::log(expected) / 2});
  check_close(values_of(module.forward(x, labels, lengths, tensor<D, Index>({2}).select(0, 0))), {-std::log(expected)});
}

TEMPLATE_TEST_CASE("ctc_loss: log-probabilities of -inf, and 16 bits", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor<D>({{-INFINITY, 0.f}, {-0.5f, -1.f}}).unsqueeze(1).requires_grad_();
  const auto labels = tensor<D, Index>({1}), two = tensor<D, Index>({2}), one = tensor<D, Index>({1});
  ctc_loss(x, labels, two, one, {.reduction = Reduction::sum}).backward();
  // The paths are 1 blank and 1 1: log(e^-0.5 + e^-1) = -0.0259.
  check_close(values_of(x.grad()),
              {0, 1 - 1, std::exp(-0.5) * (1 - 1 / (std::exp(-0.5) + std::exp(-1.))),
               std::exp(-1.) * (1 - 1 / (std::exp(-0.5) + std::exp(-1.)))},
              1e-6, 1e-6);
  const auto rounded = x.detach().to(bf16);
  CHECK(ctc_loss(rounded, labels, two, one).dtype() == DType::bfloat16);
  check_close(values_of(ctc_loss(rounded, labels, two, one)), {-std::log(std::exp(-0.5) + std::exp(-1.))}, 1e-2, 1e-3);
}

TEMPLATE_TEST_CASE("ctc_loss says what does not fit", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({5, 2, 3});
  const auto labels = ones<D, Index>({2, 4});
  const auto lengths = [](Index a, Index b) { return tensor<Cpu, Index>({a, b}); };
  const auto error = [&](const auto&... arguments) { return error_of([&] { ctc_loss(arguments...); }); };
  CHECK(error(x, labels, lengths(6, 5), lengths(1, 1)) == "ctc_loss: input_length 6 of sample 0 does not fit 5 steps");
  CHECK(error_of([&] { ctc_loss(x, labels, {6, 5}, {1, 1}); }) ==
        "ctc_loss: input_length 6 of sample 0 does not fit 5 steps");
  CHECK(error(x, labels, lengths(5, -1), lengths(1, 1)) ==
        "ctc_loss: input_length -1 of sample 1 does not fit 5 steps");
  CHECK(error(x, labels, lengths(5, 5), lengths(1, 5)) ==
        "ctc_loss: target_length 5 of sample 1 does not fit targets of shape [2, 4]");
  CHECK(error(x, ones<D, Index>({4}), lengths(5, 5), lengths(2, 1)) ==
        "ctc_loss: target_lengths name 3 labels, the targets have 4");
  CHECK(error(x, ones<D, Index>({3, 4}), lengths(5, 5), lengths(2, 1)) ==
        "ctc_loss: targets must be of shape [2, labels] or [labels], not [3, 4]");
  CHECK(error(x, labels, tensor<Cpu, Index>({5, 5, 5}), lengths(2, 1)) ==
        "ctc_loss: the lengths of 2 samples must be of shape [2], not [3]");
  CHECK(error(x, labels, lengths(5, 5), lengths(1, 1), CtcLossOptions{.blank = 3}) ==
        "ctc_loss: blank 3 is not one of 3 classes");
  CHECK(error(zeros<D>({5, 2, 0}), labels, lengths(5, 5), lengths(1, 1)) ==
        "ctc_loss: log_probs of shape [5, 2, 0] have no elements");
  CHECK(error_of([&] {
          values_of(ctc_loss(x, full<D, Index>({2, 4}, 3), lengths(5, 5), lengths(1, 1)));
        }).find("ctc_loss: ") == 0);
}

}  // namespace ops_ctc_loss
