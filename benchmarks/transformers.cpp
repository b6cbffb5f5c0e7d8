// Networks with attention: training steps and inference on random words and images in memory, in float and in 16 bits.
#include <tern/models/gpt2.hpp>
#include <tern/models/vit.hpp>
#include <tern/tern.hpp>

#include "steps.hpp"

namespace {

using namespace tern;

/// A GPT of 4 blocks, 4 heads and 128 numbers for each of 57 characters, over 64 of them.
template <Device D, class T = float>
struct GptNano : nn::Module<D, T> {
  nn::Embedding<D, T> characters{57, 128}, places{64, 128};
  nn::TransformerEncoder<D, T> blocks{
      nn::TransformerEncoderLayer<D, T>(
          128, 4,
          {.dim_feedforward = 512, .dropout = 0, .activation = "gelu", .batch_first = true, .norm_first = true}),
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
  run_training(state, net, adamw, text, [&](const auto& scores) { return cross_entropy(scores, next); });
}

void gpt_nano(benchmark::State& state) { learn_text(state, GptNano<Cpu>()); }
void gpt_nano_bf16(benchmark::State& state) { learn_text(state, nn::mixed<bfloat16>(GptNano<Cpu>())); }
BENCHMARK(gpt_nano)->UseRealTime();
BENCHMARK(gpt_nano_bf16)->UseRealTime();

/// The logits after `count` tokens at once, which follow so many in the cache.
template <class Net>
void continue_text(benchmark::State& state, Net net, Index cached, Index count) {
  const InferenceMode inference;
  net.eval();
  auto cache = net.new_cache(1, cached + count);
  if (cached > 0) net.next_logits(randint<Cpu>(0, 50257, {1, cached}), cache);
  const auto tokens = randint<Cpu>(0, 50257, {1, count});
  run_steps(state, [&] {
    cache.length = cached;
    benchmark::DoNotOptimize(net.next_logits(tokens, cache).impl());
  });
  state.SetItemsProcessed(state.iterations() * count);
}

using Gpt2 = models::GPT2LMHeadModel<Cpu>;
void gpt2_prompt(benchmark::State& state) { continue_text(state, Gpt2(), 0, 256); }
void gpt2_prompt_bf16(benchmark::State& state) { continue_text(state, Gpt2().to(bf16), 0, 256); }
void gpt2_token(benchmark::State& state) { continue_text(state, Gpt2(), 256, 1); }
void gpt2_token_bf16(benchmark::State& state) { continue_text(state, Gpt2().to(bf16), 256, 1); }
BENCHMARK(gpt2_prompt)->UseRealTime();
BENCHMARK(gpt2_prompt_bf16)->UseRealTime();
BENCHMARK(gpt2_token)->UseRealTime();
BENCHMARK(gpt2_token_bf16)->UseRealTime();

Tensor<Cpu> images(Index batch) { return randn<Cpu>({batch, 3, 224, 224}).contiguous(channels_last); }

template <class Net>
void learn_images(benchmark::State& state, Net net) {
  optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.9});
  const auto labels = randint<Cpu>(0, 1000, {4});
  run_training(state, net, sgd, images(4), [&](const auto& scores) { return cross_entropy(scores, labels); });
}
void vit_b_16_train(benchmark::State& state) { learn_images(state, models::vit_b_16<Cpu>()); }
void vit_b_16_train_bf16(benchmark::State& state) { learn_images(state, nn::mixed<bfloat16>(models::vit_b_16<Cpu>())); }
BENCHMARK(vit_b_16_train)->UseRealTime();
BENCHMARK(vit_b_16_train_bf16)->UseRealTime();

template <class T>
void see_images(benchmark::State& state) {
  auto net = models::vit_b_16<Cpu>().to(dtype<T>);
  net.eval();
  const InferenceMode inference;
  const auto x = images(8).to(dtype<T>);
  run_steps(state, [&] { benchmark::DoNotOptimize(net(x).impl()); });
}
BENCHMARK(see_images<float>)->Name("vit_b_16_infer")->UseRealTime();
BENCHMARK(see_images<bfloat16>)->Name("vit_b_16_infer_bf16")->UseRealTime();

}  // namespace
