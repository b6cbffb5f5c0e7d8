// One pass over memory, with some arithmetic in it.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void gelu_tanh_1M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({1 << 20});
  for (auto _ : state) benchmark::DoNotOptimize(gelu(x, "tanh").impl());
}
BENCHMARK(gelu_tanh_1M)->UseRealTime();

void exp_1M_f64(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu, double>({1 << 20});
  for (auto _ : state) benchmark::DoNotOptimize(exp(x).impl());
}
BENCHMARK(exp_1M_f64)->UseRealTime();

void pow_1M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = uniform<Cpu>({1 << 20}, 0.1, 4), y = randn<Cpu>({1 << 20});
  for (auto _ : state) benchmark::DoNotOptimize(pow(x, y).impl());
}
BENCHMARK(pow_1M)->UseRealTime();

void randn_1M(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(randn<Cpu>({1 << 20}).impl());
}
BENCHMARK(randn_1M)->UseRealTime();

void expr5_4M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto expr5 = fuse([](auto x, auto z, auto w) { return sigmoid(x * z + w) * tanh(x - w); });
  const auto x = randn<Cpu>({1 << 22}), z = randn<Cpu>({1 << 22}), w = randn<Cpu>({1 << 22});
  for (auto _ : state) benchmark::DoNotOptimize(expr5(x, z, w).impl());
}
BENCHMARK(expr5_4M)->UseRealTime();

/// Forward and backward of an LSTM's new state from gates, 65,536 elements each.
template <class F>
void run_cell(benchmark::State& state, const F& cell) {
  const auto gate = [] { return randn<Cpu>({1 << 16}).requires_grad_(); };
  const auto forget = gate(), old = gate(), input = gate(), candidate = gate(), g = ones<Cpu>({1 << 16});
  for (auto _ : state) {
    for (auto* x : {&forget, &old, &input, &candidate}) x->set_grad({});
    cell(forget, old, input, candidate).backward(g);
  }
}

void lstm_cell_step(benchmark::State& state) {
  run_cell(state, fuse([](auto f, auto c, auto i, auto g) { return sigmoid(f) * c + sigmoid(i) * tanh(g); }));
}
BENCHMARK(lstm_cell_step)->UseRealTime();

void lstm_cell_step_plain(benchmark::State& state) {
  run_cell(state, [](const auto& f, const auto& c, const auto& i, const auto& g) {
    return sigmoid(f) * c + sigmoid(i) * tanh(g);
  });
}
BENCHMARK(lstm_cell_step_plain)->UseRealTime();

}  // namespace
