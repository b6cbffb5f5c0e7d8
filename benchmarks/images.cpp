// Layers of images without convolution: batch normalisation with what follows it, and pooling, beside a copy of the same activations.
// Forward, and forward with the gradients.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

// Of ResNet-20 at batch 128: 8.4, 4.2 and 2.1 MB in its three stages.
struct Stage {
  Index channels, size;
};
constexpr Stage stages[] = {{16, 32}, {32, 16}, {64, 8}};

Tensor<Cpu> activations(const Stage& s, Index batch = 128) {
  return randn<Cpu>({batch, s.channels, s.size, s.size}).contiguous(channels_last);
}

/// Times f(x), or the gradients of f(x).
template <class F>
void run(benchmark::State& state, const Tensor<Cpu>& input, bool backward, const F& f) {
  Tensor<Cpu> x = input;
  if (!backward) {
    const NoGradGuard guard;
    for (auto _ : state) benchmark::DoNotOptimize(f(x).impl());
  } else {
    x.requires_grad_();
    const Tensor<Cpu> g = randn_like(f(x).detach()).contiguous(channels_last);
    for (auto _ : state) {
      x.grad() = {};
      // An inner node's gradient belongs to the tape alone, which a layer may then overwrite.
      const Tensor<Cpu> y = f(x * 1);
      y.backward(g);
      benchmark::DoNotOptimize(x.grad().impl());
    }
  }
  state.SetBytesProcessed(state.iterations() * input.numel() * 4);
}

void copy(benchmark::State& state, bool backward) {
  run(state, activations(stages[0]), backward, [](const auto& x) { return x * 1; });
}
void batchnorm_relu(benchmark::State& state, bool backward) {
  const auto w = ones<Cpu>({16}).requires_grad_(), b = zeros<Cpu>({16}).requires_grad_();
  run(state, activations(stages[0]), backward, [&](const auto& x) { return batch_norm_relu(x, {}, {}, w, b, true); });
}
void batchnorm_then_relu(benchmark::State& state, bool backward) {
  const auto w = ones<Cpu>({16}).requires_grad_(), b = zeros<Cpu>({16}).requires_grad_();
  run(state, activations(stages[0]), backward, [&](const auto& x) { return relu(batch_norm(x, {}, {}, w, b, true)); });
}
void batchnorm_add_relu(benchmark::State& state, bool backward) {
  const auto w = ones<Cpu>({16}).requires_grad_(), b = zeros<Cpu>({16}).requires_grad_();
  const auto r = activations(stages[0]);
  run(state, activations(stages[0]), backward, [&](const auto& x) { return batch_norm_add_relu(x, r, {}, {}, w, b, true); });
}
void maxpool2(benchmark::State& state, bool backward) {
  run(state, activations({64, 32}, 64), backward, [](const auto& x) { return max_pool2d(x, 2); });
}
void maxpool3s2(benchmark::State& state, bool backward) {
  run(state, activations({64, 56}, 16), backward, [](const auto& x) { return max_pool2d(x, 3, {.stride = 2, .padding = 1}); });
}
void avgpool_global(benchmark::State& state, bool backward) {
  run(state, activations({512, 7}, 64), backward, [](const auto& x) { return adaptive_avg_pool2d(x, 1); });
}

BENCHMARK_CAPTURE(copy, forward, false)->UseRealTime();
BENCHMARK_CAPTURE(batchnorm_relu, forward, false)->UseRealTime();
BENCHMARK_CAPTURE(batchnorm_then_relu, forward, false)->UseRealTime();
BENCHMARK_CAPTURE(batchnorm_add_relu, forward, false)->UseRealTime();
BENCHMARK_CAPTURE(maxpool2, forward, false)->UseRealTime();
BENCHMARK_CAPTURE(maxpool3s2, forward, false)->UseRealTime();
BENCHMARK_CAPTURE(avgpool_global, forward, false)->UseRealTime();
BENCHMARK_CAPTURE(copy, gradients, true)->UseRealTime();
BENCHMARK_CAPTURE(batchnorm_relu, gradients, true)->UseRealTime();
BENCHMARK_CAPTURE(batchnorm_then_relu, gradients, true)->UseRealTime();
BENCHMARK_CAPTURE(batchnorm_add_relu, gradients, true)->UseRealTime();
BENCHMARK_CAPTURE(maxpool2, gradients, true)->UseRealTime();
BENCHMARK_CAPTURE(maxpool3s2, gradients, true)->UseRealTime();
BENCHMARK_CAPTURE(avgpool_global, gradients, true)->UseRealTime();

}  // namespace
