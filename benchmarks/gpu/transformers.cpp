// Networks with attention on a GPU: training steps, plain and captured, in mixed precision (bfloat16) and with products
// rounded to TF32; a generated token.
#include <tern/models/gpt2.hpp>
#include <tern/models/vit.hpp>

#include "on_gpu.hpp"

namespace {

using namespace tern;

using Gpt2 = models::GPT2LMHeadModel<Cuda>;
const models::GPT2Options without_dropout{.embd_pdrop = 0, .attn_pdrop = 0, .resid_pdrop = 0};

/// GPT-2 small learns from 8 texts of 512 tokens.
template <class Net>
void learn_text(benchmark::State& state, bool captured, Net net) {
  optim::AdamW adamw(net.parameters(), {.lr = 3e-4});
  const auto text = randint<Cuda>(0, 50257, {8, 512}), next = randint<Cuda>(0, 50257, {8 * 512});
  run_training(state, captured, net, adamw, text,
               [&](const auto& scores) { return cross_entropy(scores.flatten(0, 1), next); });
}

/// The token after 256 in the cache.
template <class Net>
void next_token(benchmark::State& state, bool captured, Net net) {
  const InferenceMode inference;
  net.eval();
  auto cache = net.new_cache(1, 257);
  net.next_logits(randint<Cuda>(0, 50257, {1, 256}), cache);
  auto token = randint<Cuda>(0, 50257, {1, 1});
  const auto step = [&] {
    cache.length = 256;
    token.copy_(argmax(net.next_logits(token, cache), -1, true));
  };
  captured ? run_captured(state, step) : run_ahead(state, step);
}

/// ViT-B/16 with 64 images.
void learn_images(benchmark::State& state) {
  auto net = nn::mixed<bfloat16>(models::vit_b_16<Cuda>());
  optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.9});
  const auto labels = randint<Cuda>(0, 1000, {64});
  run_training(state, false, net, sgd, randn<Cuda>({64, 3, 224, 224}),
               [&](const auto& scores) { return cross_entropy(scores, labels); });
}

[[maybe_unused]] const bool added = [] {
  for (const bool captured : {false, true}) {
    const std::string end = captured ? "_captured" : "";
    add_row("gpt2_train_bf16" + end, 10,
            [=](auto& state) { learn_text(state, captured, nn::mixed<bfloat16>(Gpt2(without_dropout))); });
    add_row("gpt2_train_tf32" + end, 10, [=](auto& state) { learn_text(state, captured, Gpt2(without_dropout)); });
    add_row("gpt2_token_bf16" + end, 100,
            [=](auto& state) { next_token(state, captured, Gpt2(without_dropout).to(bf16)); });
    add_row("gpt2_token_f32" + end, 100, [=](auto& state) { next_token(state, captured, Gpt2(without_dropout)); });
  }
  add_row("vit_train_bf16", 10, [](auto& state) { learn_images(state); });
  return true;
}();

}  // namespace
