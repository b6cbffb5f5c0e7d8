// Products of batches, and attention.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void einsum_bij_bjk(benchmark::State& state) {
  const NoGradGuard guard;
  const auto a = randn<Cpu>({64, 128, 128}), b = randn<Cpu>({64, 128, 128});
  for (auto _ : state) benchmark::DoNotOptimize(einsum("bij,bjk->bik", std::vector{a, b}).impl());
}
BENCHMARK(einsum_bij_bjk)->UseRealTime();

void attention_8x8x512x64(benchmark::State& state) {
  auto q = randn<Cpu>({8, 8, 512, 64}), k = randn<Cpu>({8, 8, 512, 64}), v = randn<Cpu>({8, 8, 512, 64});
  const auto g = ones<Cpu>({8, 8, 512, 64});
  q.requires_grad_();
  k.requires_grad_();
  v.requires_grad_();
  for (auto _ : state) {
    for (const auto& x : {q, k, v}) x.set_grad({});
    scaled_dot_product_attention(q, k, v).backward(g);
    benchmark::DoNotOptimize(q.grad().impl());
  }
}
BENCHMARK(attention_8x8x512x64)->UseRealTime();

/// Causal, without gradients.
void attention_bf16(benchmark::State& state) {
  const InferenceMode inference;
  const auto heads = [] { return randn<Cpu>({4, 12, 512, 64}).to(bf16); };
  const auto q = heads(), k = heads(), v = heads();
  for (auto _ : state) benchmark::DoNotOptimize(scaled_dot_product_attention(q, k, v, {}, {.is_causal = true}).impl());
}
BENCHMARK(attention_bf16)->UseRealTime();

}  // namespace
