// Layers of images without convolution: batch normalisation with what follows it in residual networks, and pooling.
// NAME is forward, NAME_step forward and the gradients. All activations are channels-last.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

Tensor<Cpu> activations(const detail::Shape& shape) { return randn<Cpu>(shape).contiguous(channels_last); }

/// What is timed: f(x) without a gradient, or f(x) and its gradients.
template <class F>
void run(benchmark::State& state, Tensor<Cpu> x, bool step, const F& f) {
  if (!step) {
    const NoGradGuard guard;
    for (auto _ : state) benchmark::DoNotOptimize(f(x).impl());
    return;
  }
  const Tensor<Cpu> g = activations(f(x).shape());
  x.requires_grad_();
  for (auto _ : state) {
    x.set_grad({});
    f(x).backward(g);
    benchmark::DoNotOptimize(x.grad().impl());
  }
}

struct Parameters {
  Tensor<Cpu> weight = ones<Cpu>({16}).requires_grad_(), bias = zeros<Cpu>({16}).requires_grad_();
};

void batchnorm_relu_of(benchmark::State& state, bool step) {
  const Parameters p;
  run(state, activations({128, 16, 32, 32}), step,
      [&](const auto& x) { return batch_norm_relu(x, {}, {}, p.weight, p.bias, true); });
}
void batchnorm_add_relu_of(benchmark::State& state, bool step) {
  const Parameters p;
  const auto residual = activations({128, 16, 32, 32}).requires_grad_();
  run(state, activations({128, 16, 32, 32}), step,
      [&](const auto& x) { return batch_norm_add_relu(x, residual, {}, {}, p.weight, p.bias, true); });
}
void maxpool2_of(benchmark::State& state, bool step) {
  run(state, activations({64, 64, 32, 32}), step, [](const auto& x) { return max_pool2d(x, 2); });
}
void maxpool3s2_of(benchmark::State& state, bool step) {
  run(state, activations({16, 64, 112, 112}), step,
      [](const auto& x) { return max_pool2d(x, 3, {.stride = 2, .padding = 1}); });
}
void avgpool_global_of(benchmark::State& state, bool step) {
  run(state, activations({64, 512, 7, 7}), step, [](const auto& x) { return adaptive_avg_pool2d(x, 1); });
}

#define ROW(name)                                                       \
  void name(benchmark::State& state) { name##_of(state, false); }       \
  void name##_step(benchmark::State& state) { name##_of(state, true); } \
  BENCHMARK(name)->UseRealTime();                                       \
  BENCHMARK(name##_step)->UseRealTime();
ROW(batchnorm_relu)
ROW(batchnorm_add_relu)
ROW(maxpool2)
ROW(maxpool3s2)
ROW(avgpool_global)

}  // namespace
