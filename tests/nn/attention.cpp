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
    return heads.forward(x[0], x[1], x[2], {.attn_mask = tensor_of<D>(added, {3, 5})});
  });
  check_recorded_attention("self-attention, boolean mask", heads, [&](const auto& x) {
    return heads(x[0], x[0], x[0], {.attn_mask = triu(ones<D, bool>({3, 3}), 1)});
  });
  check_recorded_attention("self-attention, boolean mask", heads,
                           [&](const auto& x) { return heads.forward(x[0], x[0], x[0], {.is_causal = true}); });
  check_recorded_attention("self-attention, no batch", heads, [&](const auto& x) { return heads(x[0], x[0], x[0]); });
  check_recorded_attention("self-attention, batch first, no bias", plain,
                           [&](const auto& x) { return plain(x[0], x[0], x[0]); });
}

TEMPLATE_TEST_CASE("MultiheadAttention's weights are PyTorch's, with their gradients", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::MultiheadAttention<D, double> heads(4, 2);
  const auto both = [](const auto& results) {
    const auto& [output, weights] = results;
    return cat({flatten(output), flatten(weights)});
  };
  check_recorded_attention("attention, weights", heads,
                           [&](const auto& x) { return both(heads.forward_with_weights(x[0], x[1], x[2])); });
  check_recorded_attention("attention, weights, masks", heads, [&](const auto& x) {
    std::vector<double> added;
    for (int i = 0; i < 15; ++i) added.push_back(std::cos(0.7 * i + 2));
    const auto padding = tensor_of<D>({0, 0, 0, 1, 1, 0, 1, 0, 0, 0}, {2, 5}) != 0;
    return both(heads.forward_with_weights(
        x[0], x[1], x[2],
        {.key_padding_mask = padding, .attn_mask = tensor_of<D>(added, {3, 5}), .average_attn_weights = false}));
  });
  check_recorded_attention("self-attention, weights, no batch", heads, [&](const auto& x) {
    return both(heads.forward_with_weights(x[0], x[0], x[0], {.attn_mask = triu(ones<D, bool>({3, 3}), 1)}));
  });
  check_recorded_attention("self-attention, weights, no batch", heads, [&](const auto& x) {
    return both(heads.forward_with_weights(x[0], x[0], x[0], {.is_causal = true}));
  });
}

TEMPLATE_TEST_CASE("MultiheadAttention's output is the same with its weights, which have the inputs' form", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  nn::MultiheadAttention<D> net(4, 2, {.batch_first = true});
  const auto q = spread_tensor<D, float>({2, 3, 4}, -1, 1), k = spread_tensor<D, float>({2, 5, 4}, -2, 1);
  const auto is_padding = tensor_of<D, float>({0, 0, 0, 1, 1, 1, 1, 1, 1, 1}, {2, 5}) != 0;
  const auto check = [&](const auto& mask, bool is_causal, const Tensor<D, bool>& padding) {
    const auto [output, weights] =
        net.forward_with_weights(q, k, k, {.key_padding_mask = padding, .attn_mask = mask, .is_causal = is_causal});
    check_close(values_of(output),
                values_of(net(q, k, k, {.key_padding_mask = padding, .attn_mask = mask, .is_causal = is_causal})), 1e-6,
                1e-6);
    CHECK(weights.shape() == detail::Shape{2, 3, 5});
    const std::vector<double> sums = values_of(weights.sum(-1));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const bool sees_nothing = padding.defined() && i >= 3;  // zeros, where PyTorch has NaN
      CHECK(std::fabs(sums[i] - (sees_nothing ? 0 : 1)) < 1e-6);
    }
  };
  const Tensor<D, bool> none;
  const auto hidden = triu(ones<D, bool>({3, 5}), 2);
  const auto added = masked_fill(spread_tensor<D, float>({3, 5}), hidden, -std::numeric_limits<double>::infinity());
  check(none, false, none), check(none, true, none), check(hidden, false, none), check(added, false, none);
  check(none, false, is_padding), check(none, true, is_padding), check(hidden, false, is_padding);
  check(added, false, is_padding), check(hidden, true, is_padding);

  CHECK_THAT(error_of([&] { net.forward_with_weights(q, k, k, {.attn_mask = hidden, .is_causal = true}); }),
             ContainsSubstring("MultiheadAttention: a mask and is_causal exclude each other"));
  const std::string error = whole_error_of([&] { net.forward_with_weights(q, k, ones<D>({2, 5, 3})); });
  CHECK(line_of(error) == " (attention.cpp:" + std::to_string(__LINE__ - 1) + ")");
  const auto of_head = net.forward_with_weights(q[0], k[0], k[0], {.average_attn_weights = false}).weights;
  CHECK(of_head.shape() == detail::Shape{2, 3, 5});
  check_close(values_of(of_head.mean(0)), values_of(net.forward_with_weights(q, k, k).weights[0]), 1e-6, 1e-7);

  const nn::MultiheadAttention<D> dropped(4, 2, 0.5);
  const auto weights = dropped.forward_with_weights(q, q, q, {.average_attn_weights = false}).weights;
  const auto values = values_of(weights);
  CHECK(std::count(values.begin(), values.end(), 0.) > 0);
  const auto small = net.to(bf16);
  const auto [output, narrow] = small.forward_with_weights(q.to(bf16), k.to(bf16), k.to(bf16));
  check_close(values_of(narrow), values_of(net.forward_with_weights(q, k, k).weights), 0.02, 0.02);
  const auto biased = small(q.to(bf16), k.to(bf16), k.to(bf16), {.attn_mask = added});  // floats, as in a mixed network
  check_close(values_of(biased), values_of(net(q, k, k, {.attn_mask = added})), 0.05, 0.05);
  CHECK_THAT(error_of([&] { net(q, k, k, {.attn_mask = ones<D, Index>({3, 5})}); }),
             ContainsSubstring("MultiheadAttention: the tensor is"));
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

TEMPLATE_TEST_CASE("MultiheadAttention takes a mask of each sequence's heads", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::MultiheadAttention<D, double> net(4, 2, {.batch_first = true});
  const auto x = spread_tensor<D>({3, 2, 4}, -1, 1);
  const auto masks = spread_tensor<D>({6, 2, 2}, -2, 2);
  const auto all = net(x, x, x, {.attn_mask = masks}), hidden = net(x, x, x, {.attn_mask = masks > 0});
  for (Index i = 0; i < 3; ++i) {  // without a batch the heads' masks are those of the one sequence
    const auto mine = masks.narrow(0, 2 * i, 2);
    check_close(values_of(all[i]), values_of(net(x[i], x[i], x[i], {.attn_mask = mine})), 1e-12, 1e-12);
    check_close(values_of(hidden[i]), values_of(net(x[i], x[i], x[i], {.attn_mask = mine > 0})), 1e-12, 1e-12);
  }
  check_close(values_of(net.forward_with_weights(x, x, x, {.attn_mask = masks}).output), values_of(all), 1e-12, 1e-12);
  CHECK(error_of([&] { net(x, x, x, {.attn_mask = ones<D>({3, 2, 2}).to(f64)}); }) ==
        "MultiheadAttention: an attn_mask of shape [3, 2, 2] for 3 x 2 heads: [queries, keys] or [batch heads, "
        "queries, keys] is needed");
}

TEMPLATE_TEST_CASE("MultiheadAttention refuses inputs of different batches, as PyTorch does", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::MultiheadAttention<D> net(4, 2), batch_first(4, 2, {.batch_first = true});
  const auto x = ones<D>({3, 2, 4}), one = ones<D>({3, 1, 4});
  CHECK_THAT(
      error_of([&] { net(x, one, one); }),
      ContainsSubstring("MultiheadAttention: a query of shape [3, 2, 4] does not go with a key of shape [3, 1, 4] "
                        "and a value of shape [3, 1, 4]"));
  CHECK_THAT(error_of([&] { net.forward_with_weights(one, x, x); }), ContainsSubstring("a query of shape [3, 1, 4]"));
  CHECK_THAT(error_of([&] { net(x[0], x, x); }), ContainsSubstring("a query of shape [2, 4] does not go with a key"));
  CHECK_THAT(error_of([&] { net(x, x, x.narrow(0, 0, 1)); }), ContainsSubstring("a value of shape [1, 2, 4]"));
  CHECK_THAT(error_of([&] { batch_first(x, x.narrow(0, 0, 1), x.narrow(0, 0, 1)); }),
             ContainsSubstring("a key of shape [1, 2, 4]"));
  CHECK(net(x, ones<D>({5, 2, 4}), ones<D>({5, 2, 4})).shape() == x.shape());
}

}  // namespace nn_attention
