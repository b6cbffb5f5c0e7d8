#include "recorded_attention.hpp"

#include <tern/nn/attention.hpp>

namespace nn_attention {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("MultiheadAttention has PyTorch's results and gradients", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::MultiheadAttention<D, double> heads(4, 2), plain(4, 1, {.bias = false, .batch_first = true});
  check_recorded_attention("attention", heads, [&](const auto& x) { return heads.forward(x[0], x[1], x[2]); });
  check_recorded_attention("attention, added mask", heads, [&](const auto& x) {
    std::vector<double> added;
    for (int i = 0; i < 15; ++i) added.push_back(std::cos(0.7 * i + 2));
    return heads.forward(x[0], x[1], x[2], tensor_of<D>(added, {3, 5}));
  });
  check_recorded_attention("self-attention, boolean mask", heads, [&](const auto& x) {
    return heads.forward(x[0], x[0], x[0], triu(ones<D, bool>({3, 3}), 1));
  });
  check_recorded_attention("self-attention, boolean mask", heads,
                           [&](const auto& x) { return heads.forward(x[0], x[0], x[0], {}, true); });
  check_recorded_attention("self-attention, no batch", heads, [&](const auto& x) { return heads(x[0], x[0], x[0]); });
  check_recorded_attention("self-attention, batch first, no bias", plain,
                           [&](const auto& x) { return plain(x[0], x[0], x[0]); });
}

TEMPLATE_TEST_CASE("MultiheadAttention starts as PyTorch's does, and refuses other sizes", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::MultiheadAttention<D> net(32, 4);
  const double bound = std::sqrt(6. / 128);
  for (const double w : values_of(net.in_proj_weight)) REQUIRE(std::fabs(w) <= bound);
  CHECK(values_of(net.in_proj_bias) == std::vector<double>(96, 0));
  CHECK(values_of(net.out_proj.bias) == std::vector<double>(32, 0));
  CHECK_THAT(error_of([] { nn::MultiheadAttention<D>(10, 3); }),
             ContainsSubstring("MultiheadAttention: an embedding of 10 cannot be cut into 3 heads"));
  const auto x = ones<D>({2, 5, 30});
  CHECK_THAT(error_of([&] { net.forward(x, x, x); }),
             ContainsSubstring("MultiheadAttention: an input of shape [2, 5, 30] for an embedding of 32"));
}

TEMPLATE_TEST_CASE("MultiheadAttention takes dropout and bias as positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::MultiheadAttention<D> net(8, 2, 0.25, false), none(8, 2, 0), named(8, 2, {});
  CHECK(net.dropout == 0.25);
  CHECK_FALSE(net.in_proj_bias.defined());
  CHECK(none.dropout == 0);
  CHECK(none.in_proj_bias.defined());
  CHECK(named.dropout == 0);
}

}  // namespace nn_attention
