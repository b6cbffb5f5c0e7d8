// Networks with attention: training steps on random words in memory, in float and in mixed precision.
#include <tern/tern.hpp>

#include "training_step.hpp"

namespace {

using namespace tern;

/// A GPT of 4 blocks, 4 heads and 128 numbers for each of 57 characters, over 64 of them.
template <Device D, class T = float>
struct GptNano : nn::Module<D, T> {
  nn::Embedding<D, T> characters{57, 128}, places{64, 128};
  nn::TransformerEncoder<D, T> blocks{
      nn::TransformerEncoderLayer<D, T>(128, 4, {.dim_feedforward = 512, .dropout = 0, .activation = nn::TransformerActivation::gelu,
                                                 .batch_first = true, .norm_first = true}),
      4, nn::LayerNorm<D, T>(128)};
  nn::Linear<D, T> out{128, 57, {.bias = false}};
  TERN_FIELDS(GptNano, characters, places, blocks, out)
  Tensor<D, T> forward(const Tensor<D, Index>& text) const {
    const auto x = characters(text) + places(arange<D, Index>(64));
    return out(blocks.forward(x, {}, {}, true)).flatten(0, 1);
  }
};

template <class Net>
void learn_text(benchmark::State& state, Net net) {
  optim::AdamW adamw(net.parameters(), {.lr = 3e-4});
  const auto text = randint<Cpu>(0, 57, {12, 64}), next = randint<Cpu>(0, 57, {12 * 64});
  train(state, net, adamw, text, [&](const auto& scores) { return cross_entropy(scores, next); });
}

void gpt_nano(benchmark::State& state) { learn_text(state, GptNano<Cpu>()); }
void gpt_nano_bf16(benchmark::State& state) { learn_text(state, nn::mixed<bfloat16>(GptNano<Cpu>())); }
BENCHMARK(gpt_nano)->UseRealTime();
BENCHMARK(gpt_nano_bf16)->UseRealTime();

}  // namespace
