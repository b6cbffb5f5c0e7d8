// Convolutions of layers: forward, and a step of forward and both gradients, on channels-last images in memory.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

struct Layer {
  Index batch, in, size, out, kernel, stride, padding;
};

void count(benchmark::State& state, double before) {
  state.counters["FLOP/s"] = benchmark::Counter(detail::device_events.flops - before, benchmark::Counter::kIsRate);
}

template <class T>
void forward(benchmark::State& state, const Layer& l) {
  const NoGradGuard guard;
  const auto x = randn<Cpu, T>({l.batch, l.in, l.size, l.size}).contiguous(channels_last);
  const nn::Conv2d<Cpu, T> layer(l.in, l.out, l.kernel, {.stride = l.stride, .padding = l.padding});
  const double before = detail::device_events.flops;
  for (auto _ : state) benchmark::DoNotOptimize(layer.forward(x).impl());
  count(state, before);
}

template <class T>
void step(benchmark::State& state, const Layer& l) {
  auto x = randn<Cpu, T>({l.batch, l.in, l.size, l.size}).contiguous(channels_last);
  if (l.in > 3) x.requires_grad_();  // a first layer's input needs no gradient
  const nn::Conv2d<Cpu, T> layer(l.in, l.out, l.kernel, {.stride = l.stride, .padding = l.padding});
  const auto g = randn_like(layer.forward(x).detach());
  const double before = detail::device_events.flops;
  for (auto _ : state) {
    layer.zero_grad();
    x.set_grad({});
    layer.forward(x).backward(g);
  }
  count(state, before);
}

#define CONV2D(name, ...)                                                                  \
  void name(benchmark::State& state) { forward<float>(state, {__VA_ARGS__}); }             \
  void name##_step(benchmark::State& state) { step<float>(state, {__VA_ARGS__}); }         \
  void name##_bf16_step(benchmark::State& state) { step<bfloat16>(state, {__VA_ARGS__}); } \
  BENCHMARK(name)->UseRealTime();                                                          \
  BENCHMARK(name##_step)->UseRealTime();                                                   \
  BENCHMARK(name##_bf16_step)->UseRealTime();

CONV2D(conv2d_first, 64, 1, 28, 32, 3, 1, 1)
CONV2D(conv2d_colour, 32, 3, 32, 64, 3, 1, 1)
CONV2D(conv2d_32x28, 64, 32, 28, 64, 3, 1, 1)
CONV2D(conv2d_128x16, 32, 128, 16, 128, 3, 1, 1)
CONV2D(conv2d_512x7, 8, 512, 7, 512, 3, 1, 1)
CONV2D(conv2d_512x2, 128, 512, 2, 512, 3, 1, 1)
CONV2D(conv2d_pointwise, 8, 256, 28, 128, 1, 1, 0)
CONV2D(conv2d_stride, 8, 128, 28, 256, 3, 2, 1)

}  // namespace
