// What the library does around each call of CUDA's driver and of cuBLASLt, and at a kernel's first use. Both libraries'
// functions are replaced by ones that return at once: what is timed is the host's part, on any machine. cuBLASLt must
// be installed all the same, and NVRTC, which is not replaced.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

std::int64_t launches = 0;

template <class Result, class... Arguments>
void make_idle(Result (*&function)(Arguments...)) {
  function = [](Arguments...) -> Result { return {}; };
}
template <class Result, class... Arguments>
void make_count(Result (*&function)(Arguments...)) {
  function = [](Arguments...) -> Result { return ++launches, Result(); };
}
#define TERN_MAKE_IDLE(name, result, arguments) make_idle(functions.name);

/// A machine of one device that does nothing.
void replace_driver() {
  auto& [library, functions] = cuda::driver();
  library.problem.clear();
  TERN_CUDA_DRIVER_FUNCTIONS(TERN_MAKE_IDLE)
  make_count(functions.cuLaunchKernel);
  functions.cuDriverGetVersion = [](int* version) { return *version = 13000, 0; };
  functions.cuDeviceGetCount = [](int* count) { return *count = 1, 0; };
  functions.cuDeviceGetAttribute = [](int* value, cuda::DeviceAttribute attribute, int) {
    return *value = attribute == cuda::compute_capability_major ? 9 : 0, 0;
  };
  functions.cuMemHostAlloc = [](void** memory, std::size_t bytes, unsigned) { return *memory = std::malloc(bytes), 0; };
  functions.cuMemAllocAsync = [](cuda::DevicePointer* memory, std::size_t, cuda::StreamHandle) {
    return *memory = 4096, 0;
  };
  functions.cuModuleGetFunction = [](cuda::Function* function, cuda::Module, const char*) {
    return *function = reinterpret_cast<cuda::Function>(1), 0;
  };
}
[[maybe_unused]] const bool driver_replaced = (replace_driver(), true);

void replace_cublaslt() {
  auto& functions = cuda::cublaslt().functions;
  TERN_CUBLASLT_FUNCTIONS(TERN_MAKE_IDLE)
  make_count(functions.cublasLtMatmul);
  functions.cublasLtMatmulAlgoGetHeuristic =
      [](cuda::CublasLt, cuda::MatmulDesc, cuda::MatrixLayout, cuda::MatrixLayout, cuda::MatrixLayout,
         cuda::MatrixLayout, cuda::MatmulPreference, int, cuda::MatmulHeuristic*, int* found) { return *found = 1, 0; };
}

/// Skips where NVRTC or cuBLASLt is missing.
bool libraries_found(benchmark::State& state) {
  try {
    static const bool found = (cuda::nvrtc(), replace_cublaslt(), true);
    return found;
  } catch (const Error& error) { state.SkipWithError(error.what()); }
  return false;
}

/// Runs f in the benchmark's loop, and once before it; counts its launches and products.
template <class F>
void run_loop(benchmark::State& state, const F& f) {
  f();
  launches = 0;
  for (auto _ : state) f();
  state.counters["launches"] = benchmark::Counter(double(launches), benchmark::Counter::kAvgIterations);
}

void launch_add1(benchmark::State& state) {
  if (!libraries_found(state)) return;
  const NoGradGuard guard;
  const auto a = empty<Cuda>({1}), b = empty<Cuda>({1});
  run_loop(state, [&] { a + b; });
}

void launch_add1_grad(benchmark::State& state) {
  if (!libraries_found(state)) return;
  const auto a = empty<Cuda>({1}).requires_grad_(), b = empty<Cuda>({1});
  run_loop(state, [&] { a + b; });
}

/// A kernel that walks by index.
void launch_add_row(benchmark::State& state) {
  if (!libraries_found(state)) return;
  const NoGradGuard guard;
  const auto a = empty<Cuda>({64, 128}), b = empty<Cuda>({128});
  run_loop(state, [&] { a + b; });
}

void launch_expr5(benchmark::State& state) {
  if (!libraries_found(state)) return;
  const NoGradGuard guard;
  const auto expr5 = fuse([](auto x, auto z, auto w) { return sigmoid(x * z + w) * tanh(x - w); });
  const auto x = empty<Cuda>({1 << 22}), z = empty<Cuda>({1 << 22}), w = empty<Cuda>({1 << 22});
  run_loop(state, [&] { expr5(x, z, w); });
}

void launch_sum(benchmark::State& state) {
  if (!libraries_found(state)) return;
  const NoGradGuard guard;
  const auto x = empty<Cuda>({64, 128});
  run_loop(state, [&] { x.sum({1}); });
}

void launch_softmax(benchmark::State& state) {
  if (!libraries_found(state)) return;
  const NoGradGuard guard;
  const auto x = empty<Cuda>({64, 10});
  run_loop(state, [&] { softmax(x, 1); });
}

void launch_matmul(benchmark::State& state) {
  if (!libraries_found(state)) return;
  const NoGradGuard guard;
  const auto a = empty<Cuda>({200, 200}), b = empty<Cuda>({200, 200});
  run_loop(state, [&] { matmul(a, b); });
}

/// The training step of the row mlp_small.
void launch_mlp_small(benchmark::State& state) {
  if (!libraries_found(state)) return;
  nn::Sequential net(nn::Linear<Cuda>(784, 128), nn::ReLU<Cuda>(), nn::Linear<Cuda>(128, 10));
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  const auto x = empty<Cuda>({64, 784});
  const auto labels = empty<Cuda, Index>({64});
  run_loop(state, [&] {
    sgd.zero_grad();
    cross_entropy(net(x), labels).backward();
    sgd.step();
  });
}

namespace kernels = detail::backend::cuda_kernels;

/// The source of a kernel that adds two tensors.
std::string source_of_add() {
  const detail::Array x{};
  const detail::Array* const in[] = {&x, &x};
  const kernels::Traced add(dtype<float>, [](auto a, auto b) { return a + b; }, std::make_index_sequence<2>{});
  const kernels::Elementwise loops(x, in, 2);
  return loops.source("add", loops.parameters(), kernels::function_text(add, "f", 0), "f(p, x0, x1)");
}

/// From what an op is to its kernel's image, by NVRTC, which is loaded.
template <class Source>
void first_use(benchmark::State& state, const Source& source) {
  if (!libraries_found(state)) return;
  run_loop(state, [&] { cuda::detail::compile(source(), 9, 0); });
}
void first_use_add(benchmark::State& state) { first_use(state, source_of_add); }
void first_use_softmax(benchmark::State& state) {
  first_use(state, [] { return kernels::typed_source(kernels::softmax_kernel.aligned_packs, {DType::float32}); });
}
/// The longest to compile of the kernels written by hand.
void first_use_add_rows(benchmark::State& state) {
  first_use(state, [] { return kernels::typed_source(kernels::add_rows_kernel, {DType::float32, DType::float32}); });
}

/// The sum's, where another process has compiled it: which compiler there is, and the image, are read from files.
void first_use_cached(benchmark::State& state) {
  const std::string folder = cuda::detail::kernel_folder();
  run_loop(state, [&] {
    cuda::detail::compiler_version(folder);
    cuda::detail::kernel_image(source_of_add(), 9, 0);
  });
}

BENCHMARK(launch_add1);
BENCHMARK(launch_add1_grad);
BENCHMARK(launch_add_row);
BENCHMARK(launch_expr5);
BENCHMARK(launch_sum);
BENCHMARK(launch_softmax);
BENCHMARK(launch_matmul);
BENCHMARK(launch_mlp_small);
BENCHMARK(first_use_add)->Unit(benchmark::kMillisecond);
BENCHMARK(first_use_softmax)->Unit(benchmark::kMillisecond);
BENCHMARK(first_use_add_rows)->Unit(benchmark::kMillisecond);
BENCHMARK(first_use_cached)->Unit(benchmark::kMillisecond);

}  // namespace
