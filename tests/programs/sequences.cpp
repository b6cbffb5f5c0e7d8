// A small GPT as users write it: causal attention, and one weight for the table of tokens and the output.
#include "programs/program.hpp"

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/adam.hpp>

namespace programs_sequences {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Block : nn::Module<D, T> {
  nn::LayerNorm<D, T> before_attention{8}, before_mlp{8};
  nn::Linear<D, T> qkv{8, 24}, projection{8, 8}, wide{8, 16}, narrow{16, 8};
  TERN_FIELDS(Block, before_attention, before_mlp, qkv, projection, wide, narrow)
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    const auto attended = x + projection(attend(before_attention(x)));
    return attended + narrow(gelu(wide(before_mlp(attended))));
  }
  Tensor<D, T> attend(const Tensor<D, T>& x) {
    const Index batch = x.size(0), length = x.size(1), heads = 2;
    const auto parts = qkv(x).chunk(3, -1);
    const auto of_heads = [&](const auto& part) { return part.view({batch, length, heads, -1}).transpose(1, 2); };
    const auto y = scaled_dot_product_attention(of_heads(parts[0]), of_heads(parts[1]), of_heads(parts[2]), {},
                                                {.is_causal = true});
    return y.transpose(1, 2).reshape({batch, length, -1});
  }
};

template <Device D, class T = float>
struct Gpt : nn::Module<D, T> {
  nn::Embedding<D, T> token{6, 8}, place{5, 8};
  std::vector<Block<D, T>> blocks;
  nn::LayerNorm<D, T> norm{8};
  nn::Linear<D, T> head{8, 6, {.bias = false}};
  Gpt() {
    for (int i = 0; i < 2; ++i) blocks.emplace_back();
    head.weight = token.weight;
  }
  TERN_FIELDS(Gpt, token, place, blocks, norm, head)
  Tensor<D, T> forward(const Tensor<D, Index>& x) {
    auto h = token(x) + place.weight.slice(0, {0, x.size(1)});
    for (auto& block : blocks) h = block(h);
    return head(norm(h));
  }
};

}  // namespace

TEMPLATE_TEST_CASE("a GPT learns to count, with tied weights, and sees no later token", "[programs]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Gpt<D> net;
  CHECK(net.head.weight.impl() == net.token.weight.impl());
  const auto x = tensor_of<D, Index>({0, 1, 2, 3, 4, 3, 4, 5, 0, 1}, {2, 5});
  const auto next = tensor_of<D, Index>({1, 2, 3, 4, 5, 4, 5, 0, 1, 2}, {2, 5});
  optim::AdamW adamw(net.parameters(), {.lr = 0.02});
  const auto losses = tern_test::train(adamw, 15, [&] { return cross_entropy(net(x).flatten(0, 1), next.flatten()); });
  CHECK(losses.back() < 0.5 * losses.front());
  CHECK(net.head.weight.impl() == net.token.weight.impl());

  const auto changed = tensor_of<D, Index>({0, 1, 2, 3, 0, 3, 4, 5, 0, 0}, {2, 5});
  const auto one = values_of(net(x).slice(1, {0, 4})), other = values_of(net(changed).slice(1, {0, 4}));
  check_close(one, other, 1e-5, 1e-5);
}

}  // namespace programs_sequences
