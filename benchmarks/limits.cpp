// What this machine can do at most, measured on the spot: the rate of fused multiply-adds, and of reading and copying
// memory and the last-level cache. benchmarks/run computes every row's limit from these.
#include <benchmark/benchmark.h>
#include <omp.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
using Vector [[gnu::vector_size(vector_bytes)]] = float;

/// Twelve independent chains hide the latency of four cycles at two instructions a cycle, and fit 16 registers.
void peak_flops(benchmark::State& state) {
  constexpr int chains = 12, rounds = 1 << 20;
  for (auto _ : state) {
#pragma omp parallel
    {
      Vector sum[chains] = {}, a = Vector{} + 0.5F, b = Vector{} + 1.F;
      asm volatile("" : "+x"(a), "+x"(b));
      for (auto& s : sum) asm volatile("" : "+x"(s));  // or equal chains become one
      for (int r = 0; r < rounds; ++r)
#pragma GCC unroll 12
        for (int c = 0; c < chains; ++c) sum[c] = sum[c] * a + b;
      for (auto& s : sum) asm volatile("" : : "x"(s));
    }
  }
  const double flops = 2. * rounds * chains * (sizeof(Vector) / sizeof(float)) * omp_get_max_threads();
  state.SetItemsProcessed(static_cast<int64_t>(flops * static_cast<double>(state.iterations())));
}
BENCHMARK(peak_flops)->UseRealTime();

constexpr size_t memory = size_t{256} << 20, cache = size_t{4} << 20;

/// Runs work(first, size) on each thread's share of n bytes; shares are whole vectors.
template <class Work>
void on_shares(size_t n, const Work& work) {
#pragma omp parallel
  {
    const size_t threads = static_cast<size_t>(omp_get_num_threads()), t = static_cast<size_t>(omp_get_thread_num());
    const size_t share = n / threads / vector_bytes * vector_bytes;
    work(t * share, t + 1 == threads ? n - t * share : share);
  }
}

/// Memory in huge pages, if the system has them.
struct HugePages {
  char* const data;

  explicit HugePages(size_t bytes) : data(static_cast<char*>(std::aligned_alloc(size_t{2} << 20, bytes))) {
    madvise(data, bytes, MADV_HUGEPAGE);
    std::memset(data, 1, bytes);
  }
  HugePages(const HugePages&) = delete;
  ~HugePages() { std::free(data); }
};

/// Each thread reads its share at eight places in turns: one stream alone leaves part of the rate unused.
void read_memory(benchmark::State& state) {
  const HugePages pages(memory);
  for (auto _ : state)
    on_shares(memory, [&](size_t first, size_t size) {
      constexpr size_t streams = 8, vectors = 4;
      const size_t part = size / sizeof(Vector) / streams;
      Vector sum[vectors] = {};
      const Vector* v = reinterpret_cast<const Vector*>(pages.data + first);
      for (size_t i = 0; i + vectors <= part; i += vectors)
        for (size_t s = 0; s < streams; ++s)
          for (size_t k = 0; k < vectors; ++k) sum[k] += v[s * part + i + k];
      for (auto& s : sum) asm volatile("" : : "x"(s));
    });
  state.SetBytesProcessed(static_cast<int64_t>(memory) * state.iterations());
}
BENCHMARK(read_memory)->UseRealTime();

/// Bytes read and bytes written, both counted. memcpy writes past the caches where that is faster.
void copy(benchmark::State& state, size_t bytes) {
  const HugePages from(bytes), to(bytes);
  for (auto _ : state) {
    on_shares(bytes, [&](size_t first, size_t size) { std::memcpy(to.data + first, from.data + first, size); });
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(2 * static_cast<int64_t>(bytes) * state.iterations());
}
void copy_memory(benchmark::State& state) { copy(state, memory); }
void copy_cache(benchmark::State& state) { copy(state, cache); }
BENCHMARK(copy_memory)->UseRealTime();
BENCHMARK(copy_cache)->UseRealTime();

}  // namespace
