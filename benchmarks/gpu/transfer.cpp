// The wire: copies between host and GPU from pageable and pinned memory, and matrix products with and without them.
// Without a GPU those that need one say why they cannot run.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

/// Runs f in the benchmark's loop if there is a GPU, else skips it.
template <class F>
void run_with_gpu(benchmark::State& state, const F& f) {
  if (!cuda::is_available()) {
    state.SkipWithError(cuda::why_not().c_str());
    return;
  }
  f();
}

/// A tensor of state.range(0) bytes.
template <Device D>
Tensor<D, std::uint8_t> bytes_of(const benchmark::State& state) {
  return zeros<D, std::uint8_t>({state.range(0)});
}
void count_bytes(benchmark::State& state) { state.SetBytesProcessed(state.iterations() * state.range(0)); }

void to_device_pageable(benchmark::State& state) {
  run_with_gpu(state, [&] {
    const auto x = bytes_of<Cpu>(state);
    for (auto _ : state) {
      const auto y = x.cuda();
      cuda::synchronize();
    }
    count_bytes(state);
  });
}

void to_device_pinned(benchmark::State& state) {
  run_with_gpu(state, [&] {
    const auto x = bytes_of<Cpu>(state).pin_memory();
    for (auto _ : state) {
      const auto y = x.cuda_async().wait();
      cuda::synchronize();
    }
    count_bytes(state);
  });
}

void to_host_pageable(benchmark::State& state) {
  run_with_gpu(state, [&] {
    const auto x = bytes_of<Cuda>(state);
    for (auto _ : state) benchmark::DoNotOptimize(x.cpu().impl());
    count_bytes(state);
  });
}

void to_host_pinned(benchmark::State& state) {
  run_with_gpu(state, [&] {
    const auto x = bytes_of<Cuda>(state);
    for (auto _ : state) benchmark::DoNotOptimize(x.cpu_async().wait().impl());
    count_bytes(state);
  });
}

void count_flops(benchmark::State& state) {
  const auto n = double(state.range(0));
  state.counters["FLOP/s"] = benchmark::Counter(2 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}

void matmul_cpu(benchmark::State& state) {
  const auto a = randn<Cpu>({state.range(0), state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, a).impl());
  count_flops(state);
}

/// Each product is waited for.
void matmul_cuda(benchmark::State& state) {
  run_with_gpu(state, [&] {
    const auto a = randn<Cuda>({state.range(0), state.range(0)});
    for (auto _ : state) {
      const auto c = matmul(a, a);
      cuda::synchronize();
    }
    count_flops(state);
  });
}

void matmul_cuda_copied(benchmark::State& state) {
  run_with_gpu(state, [&] {
    const auto a = randn<Cpu>({state.range(0), state.range(0)}), b = randn<Cpu>({state.range(0), state.range(0)});
    for (auto _ : state) benchmark::DoNotOptimize(matmul(a.cuda(), b.cuda()).cpu().impl());
    count_flops(state);
  });
}

/// 1 KB to 256 MB.
void each_size(benchmark::internal::Benchmark* copy) {
  for (int bits = 10; bits <= 28; bits += 3) copy->Arg(Index(1) << bits);
}
#define TERN_COPIES(name) BENCHMARK(name)->Apply(each_size)->UseRealTime()
TERN_COPIES(to_device_pageable);
TERN_COPIES(to_device_pinned);
TERN_COPIES(to_host_pageable);
TERN_COPIES(to_host_pinned);

#define TERN_PRODUCTS(name) BENCHMARK(name)->Arg(32)->Arg(200)->Arg(1024)->Arg(4096)->UseRealTime()
TERN_PRODUCTS(matmul_cpu);
TERN_PRODUCTS(matmul_cuda);
TERN_PRODUCTS(matmul_cuda_copied);

}  // namespace
