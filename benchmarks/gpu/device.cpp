// A GPU's limits and the library's overhead: products beside cuBLASLt called directly, a fused chain beside a copy, an
// op so small that only its launch counts. Without a GPU each says why it cannot run.
#include "on_gpu.hpp"

namespace {

using namespace tern;

template <class T>
void multiply(benchmark::State& state, Index n, bool tf32) {
  if (!found_gpu(state)) return;
  const NoGradGuard guard;
  cuda::allow_tf32_matmul(tf32);
  const auto a = randn<Cuda, T>({n, n}), b = randn<Cuda, T>({n, n});
  run_ahead(state, [&] { matmul(a, b); });
}

/// What cuBLASLt takes for the same product: planned before, into the same memory each time.
template <class T>
void multiply_directly(benchmark::State& state, Index n, bool tf32) {
  if (!found_gpu(state)) return;
  using namespace cuda;
  const StreamHandle stream = cuda::detail::bind(0).compute;
  const auto& lt = cublaslt().functions;
  const CudaType type = std::is_same_v<T, float> ? type_32f : type_16bf;
  const std::uint64_t workspace_bytes = std::uint64_t(32) << 20;
  CublasLt handle;
  MatmulDesc desc;
  MatrixLayout square;
  MatmulPreference preference;
  MatmulHeuristic best{};
  int found = 0;
  TERN_CUBLASLT(cublasLtCreate, &handle);
  TERN_CUBLASLT(cublasLtMatmulDescCreate, &desc, tf32 ? compute_32f_fast_tf32 : compute_32f, type_32f);
  TERN_CUBLASLT(cublasLtMatrixLayoutCreate, &square, type, std::uint64_t(n), std::uint64_t(n), n);
  TERN_CUBLASLT(cublasLtMatmulPreferenceCreate, &preference);
  TERN_CUBLASLT(cublasLtMatmulPreferenceSetAttribute, preference, preference_workspace_bytes, &workspace_bytes,
                sizeof workspace_bytes);
  TERN_CUBLASLT(cublasLtMatmulAlgoGetHeuristic, handle, desc, square, square, square, square, preference, 1, &best,
                &found);
  if (!found) return state.SkipWithError("cuBLASLt has no algorithm");
  const auto a = randn<Cuda, T>({n, n}), b = randn<Cuda, T>({n, n}), c = empty<Cuda, T>({n, n});
  const auto workspace = empty<Cuda, std::uint8_t>({Index(workspace_bytes)});
  const float one = 1, zero = 0;
  run_ahead(state, [&] {
    TERN_CUBLASLT(cublasLtMatmul, handle, desc, &one, b.impl()->data, square, a.impl()->data, square, &zero,
                  c.impl()->data, square, c.impl()->data, square, &best.algorithm, workspace.impl()->data,
                  workspace_bytes, stream);
  });
  state.SetItemsProcessed(2 * n * n * n * state.iterations());
  lt.cublasLtMatmulPreferenceDestroy(preference);
  lt.cublasLtMatrixLayoutDestroy(square);
  lt.cublasLtMatmulDescDestroy(desc);
}

template <class T>
void add_product(Index n, const char* kind, bool tf32) {
  const std::string name = tern::detail::text({n, "_", kind});
  benchmark::RegisterBenchmark(("matmul" + name).c_str(), multiply<T>, n, tf32)->UseRealTime();
  benchmark::RegisterBenchmark(("cublaslt" + name).c_str(), multiply_directly<T>, n, tf32)->UseRealTime();
}
[[maybe_unused]] const bool added = [] {
  for (const Index n : {1024, 4096, 8192}) {
    add_product<float>(n, "f32", false);
    add_product<float>(n, "tf32", true);
    add_product<bfloat16>(n, "bf16", false);
  }
  return true;
}();

constexpr Index many = Index(1) << 25;

/// The limit of what moves data: a kernel that reads 2^28 bytes and writes as many.
void copy_elements(benchmark::State& state) {
  if (!found_gpu(state)) return;
  const NoGradGuard guard;
  constexpr Index bytes = Index(1) << 28;
  const auto from = randn<Cuda>({bytes / 4});
  run_ahead(state, [&] { -from; });
  state.SetBytesProcessed(2 * bytes * state.iterations());
}
BENCHMARK(copy_elements)->UseRealTime();

void expr5_32M(benchmark::State& state) {
  if (!found_gpu(state)) return;
  const NoGradGuard guard;
  const auto expr5 = fuse([](auto x, auto z, auto w) { return sigmoid(x * z + w) * tanh(x - w); });
  const auto x = randn<Cuda>({many}), z = randn<Cuda>({many}), w = randn<Cuda>({many});
  run_ahead(state, [&] { expr5(x, z, w); });
}
BENCHMARK(expr5_32M)->UseRealTime();

void add1_cuda(benchmark::State& state) {
  if (!found_gpu(state)) return;
  const NoGradGuard guard;
  const auto a = ones<Cuda>({1}), b = ones<Cuda>({1});
  run_ahead(state, [&] { a + b; });
}
BENCHMARK(add1_cuda)->UseRealTime();

/// From the call to the result's arrival.
void add1_cuda_waited(benchmark::State& state) {
  if (!found_gpu(state)) return;
  const NoGradGuard guard;
  const auto a = ones<Cuda>({1}), b = ones<Cuda>({1});
  for (auto _ : state) {
    a + b;
    cuda::synchronize();
  }
}
BENCHMARK(add1_cuda_waited)->UseRealTime();

}  // namespace
