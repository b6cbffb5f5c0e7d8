// Positions drawn by weight: frequencies against the weights, the same numbers whatever the threads.
#include "tern/ops/multinomial.hpp"

#include "support/tensors.hpp"
#include "tern/core/parallel.hpp"

#include <set>

namespace ops_multinomial {
using namespace tern;
using namespace tern_test;

using Values = std::vector<double>;

namespace {

/// What make() gives after manual_seed(1).
template <class F>
Values seeded(const F& make) {
  manual_seed(1);
  return values_of(make());
}

/// Pearson's statistic of how often each position was drawn.
double chi_squared(const Values& drawn, const Values& expected) {
  Values counts(expected.size());
  for (double k : drawn) ++counts[std::size_t(k)];
  double sum = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == 0) CHECK(counts[i] == 0);
    else sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  return sum;
}

template <class D, class T>
void check_frequencies() {
  constexpr Index many = 4000;
  const auto p = tensor_of<D, T>({0, 1, 2, 0, 5, 0});
  const Values expected{0, many / 8., many / 4., 0, many * 5 / 8., 0};
  CHECK(chi_squared(seeded([&] { return multinomial(p, many, true); }), expected) < 20);  // with 2 degrees, 1 in 20,000
  const auto rows = p.unsqueeze(0).expand({many, 6});
  const auto first = seeded([&] { return multinomial(rows, 2).select(1, 0); });
  CHECK(chi_squared(first, expected) < 20);
  const auto alone = seeded([&] { return multinomial(rows, 1, true); });
  CHECK(chi_squared(alone, expected) < 20);
  // The second without replacement: j after i with p_i p_j / (1 - p_i).
  Values second(6);
  const Values w{0, 1 / 8., 2 / 8., 0, 5 / 8., 0};
  for (std::size_t i : {1u, 2u, 4u})
    for (std::size_t j : {1u, 2u, 4u})
      if (i != j) second[j] += double(many) * w[i] * w[j] / (1 - w[i]);
  CHECK(chi_squared(seeded([&] { return multinomial(rows, 2).select(1, 1); }), second) < 20);
}

}  // namespace

TEMPLATE_TEST_CASE("positions are drawn as often as their weights say", "[random]", TERN_TEST_DEVICES) {
  check_frequencies<TestType, float>();
  check_frequencies<TestType, double>();
  check_frequencies<TestType, half>();
}

TEMPLATE_TEST_CASE("without replacement every position comes once at most", "[random]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Values drawn = seeded([] { return multinomial(ones<D>({1000}), 1000); });
  CHECK(std::set<double>(drawn.begin(), drawn.end()).size() == 1000);
  CHECK(multinomial(ones<D>({3, 5}), 4).shape() == detail::Shape{3, 4});
  CHECK(ones<D>({5}).multinomial(7, true).shape() == detail::Shape{7});
  CHECK(multinomial(ones<D>({0, 5}), 4).shape() == detail::Shape{0, 4});
  const auto all = seeded([] { return multinomial(tensor_of<D>({1e308, 0, 1e308, 5e307}), 1000, true); });
  CHECK(std::set<double>(all.begin(), all.end()) == std::set<double>{0, 2, 3});  // their sum overflows
}

TEMPLATE_TEST_CASE("drawn positions follow from the seed, in any layout and for any threads", "[random]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto p = spread_tensor<D>({40, 50}, 0, 1);
  const int threads = get_num_threads();
  for (const bool replacement : {false, true}) {
    const auto make = [&](const auto& weights) {
      return seeded([&] { return multinomial(weights, 30, replacement); });
    };
    const Values expected = make(p);
    for (const auto& layout : layouts(p)) CHECK(make(layout) == expected);
    for (const int n : {1, 3}) {
      set_num_threads(n);
      CHECK(make(p) == expected);
    }
    set_num_threads(threads);
  }
}

TEMPLATE_TEST_CASE("weights that are no distribution are refused", "[random][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto refused = [](const Values& weights, Index samples, bool replacement = false) {
    return error_of([&] { multinomial(tensor_of<D>(weights), samples, replacement); });
  };
  const std::string bad = "multinomial: a weight is negative, infinite or NaN";
  for (const bool replacement : {false, true}) {
    CHECK(refused({1, -1}, 1, replacement) == bad);
    CHECK(refused({1, INFINITY}, 1, replacement) == bad);
    CHECK(refused({1, NAN}, 1, replacement) == bad);
    CHECK(refused({0, 0}, 1, replacement) == "multinomial: the weights of a row are all 0");
    CHECK(refused({}, 1, replacement) == "multinomial: the weights of a row are all 0");
    CHECK(refused({1}, 0, replacement) == "multinomial: the number of samples must be positive, not 0");
  }
  CHECK(refused({1, 0, 2}, 3) == "multinomial: 3 samples without replacement from a row of 2 positive weights");
  CHECK(refused({1, 0, 2}, 3, true) == "");
  CHECK(error_of([&] { multinomial(ones<D>({}), 1); }) == "multinomial: one or two dimensions are needed, not []");
  CHECK(error_of([&] { multinomial(ones<D>({1, 2, 3}), 1); }) ==
        "multinomial: one or two dimensions are needed, not [1, 2, 3]");
  CHECK(error_of([&] { multinomial(Tensor<D>(), 1); }) == "multinomial: a tensor is undefined");
}

TEMPLATE_TEST_CASE("gumbel_softmax draws with the probabilities of a softmax", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(3);
  const auto logits = tensor_of<D, float>({std::log(0.1), std::log(0.6), std::log(0.3)});
  const auto drawn = values_of(gumbel_softmax(expand(logits, {20000, 3}), 1, true).mean(0));
  for (const std::size_t i : {0, 1, 2}) CHECK(drawn[i] == Approx(std::vector<double>{0.1, 0.6, 0.3}[i]).margin(0.015));
  auto x = spread_tensor<D>({4, 5}, -1, 2).requires_grad_();
  const auto soft = gumbel_softmax(x, 0.5);
  check_close(values_of(soft.sum(-1)), {1, 1, 1, 1});
  // The hard choice is the largest element, and has the soft one's gradient.
  manual_seed(4);
  gumbel_softmax(x, 0.5, false, 0).backward(spread_tensor<D>({4, 5}));
  const auto gradient = values_of(x.grad());
  x.set_grad({});
  manual_seed(4);
  const auto hard = gumbel_softmax(x, 0.5, true, 0);
  hard.backward(spread_tensor<D>({4, 5}));
  check_close(values_of(x.grad()), gradient);
  CHECK(values_of(hard.sum(0)) == std::vector<double>(5, 1));
  CHECK(values_of(hard.amax(0)) == std::vector<double>(5, 1));
  CHECK(values_of(gumbel_softmax(x.to(f16), 1, true).sum(-1)) == std::vector<double>(4, 1));
  CHECK(error_of([&] { gumbel_softmax(x, 0); }) == "gumbel_softmax: tau must be positive, not 0");
}

}  // namespace ops_multinomial
