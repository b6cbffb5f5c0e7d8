// Kernels give what they would on a device: indices, parameters, shared memory, barriers, warps, atomics.
#include <cmath>
#include <numeric>

#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* elementwise = R"(
struct Scale { float a; char pad; double b; };
extern "C" __global__ void apply(const float* __restrict__ x, float* y, long n, Scale s) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    y[i] = x[i] * s.a + (float)s.b + __expf(0.0f);
}
template <class T, int N> __global__ void fill(T* x, T value) { if (threadIdx.x < N) x[threadIdx.x] = value; }
)";

constexpr const char* reductions = R"(
extern "C" __global__ void __launch_bounds__(256) block_sum(const float* x, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x; float v = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
  s[t] = v; __syncthreads();
  for (int d = blockDim.x / 2; d; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  if (!t) atomicAdd(out, s[0]);
}
extern "C" __global__ void reverse(const float* x, float* y) {
  extern __shared__ float s[];
  int t = threadIdx.x; s[t] = __ldg(x + t); __syncthreads(); y[t] = s[blockDim.x - 1 - t];
}
template <class T> __device__ T warp_sum(T v) {
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
extern "C" __global__ void row_sums(const float* x, float* y, int cols) {
  int row = blockIdx.x * blockDim.y + threadIdx.y; float v = 0;
  for (int c = threadIdx.x; c < cols; c += 32) v += x[row * cols + c];
  v = warp_sum(v); if (!threadIdx.x) y[row] = v;
}
extern "C" __global__ void votes(unsigned* out) {
  unsigned even = __ballot_sync(0xffffffffu, threadIdx.x % 2 == 0);
  float other = __shfl_xor_sync(0xffffffffu, (float)threadIdx.x, 1);
  unsigned first = __syncthreads_count(threadIdx.x < 5);
  out[threadIdx.x] = even + (unsigned)other + (__float_as_uint(1.0f) == 0x3f800000u) + first;
}
)";

std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::sin(0.01f * static_cast<float>(i + 1));
  return v;
}

struct Scale {
  float a;
  char pad;
  double b;
};

void run_all() {
  start();
  const std::vector<float> x = ramp(1000);
  Array<float> in(x), out(1000);
  Kernels simple(elementwise, {"fill<int, 8>"});
  EXPECT(launch(simple["apply"], {7, 64}, nullptr, in.pointer, out.pointer, 1000L, Scale{2, 0, 0.5}) == CUDA_SUCCESS);
  EXPECT(out.values()[500] == x[500] * 2 + 0.5f + 1);
  Array<int> ints(8);
  EXPECT(launch(simple["fill<int, 8>"], {1, 32}, nullptr, ints.pointer, 42) == CUDA_SUCCESS);
  EXPECT(ints.values() == std::vector<int>(8, 42));

  Kernels more(reductions);
  Array<float> sum(std::vector<float>{0});
  EXPECT(launch(more["block_sum"], {4, 256}, nullptr, in.pointer, sum.pointer, 1000) == CUDA_SUCCESS);
  EXPECT(std::fabs(sum.values()[0] - std::accumulate(x.begin(), x.end(), 0.0f)) < 1e-3f);
  EXPECT(launch(more["reverse"], {1, 250, 1000}, nullptr, in.pointer, out.pointer) == CUDA_SUCCESS);
  EXPECT(out.values()[0] == x[249]);
  EXPECT(out.values()[249] == x[0]);
  EXPECT(launch(more["row_sums"], {10, 32}, nullptr, in.pointer, out.pointer, 100) == CUDA_SUCCESS);
  EXPECT(std::fabs(out.values()[9] - std::accumulate(x.end() - 100, x.end(), 0.0f)) < 1e-3f);
  Array<unsigned> votes(32);
  EXPECT(launch(more["votes"], {1, 32}, nullptr, votes.pointer) == CUDA_SUCCESS);
  for (unsigned t = 0; t < 32; ++t) EXPECT(votes.values()[t] == 0x55555555u + (t ^ 1) + 1 + 5);
}

}  // namespace

CHILD_CASE("cuda emulator: kernels compute what they say") { run_all(); }

CHILD_CASE("cuda emulator: kernels compute the same in reverse order of threads and blocks") {
  tern_emulator_set("threads=reverse");
  run_all();
}

CHILD_CASE("cuda emulator: a missing barrier shows in one of the two orders") {
  start();
  Kernels k(R"(extern "C" __global__ void shift(const float* x, float* y) {
    __shared__ float s[256]; int t = threadIdx.x; s[t] = x[t]; y[t] = s[(t + 1) & 255]; })");
  const std::vector<float> x = ramp(256);
  Array<float> in(x), out(256);
  EXPECT(launch(k["shift"], {1, 256}, nullptr, in.pointer, out.pointer) == CUDA_SUCCESS);
  EXPECT(std::isnan(out.values()[0]));
}

CHILD_CASE("cuda emulator: in reverse order threads also go on in reverse order after a barrier") {
  tern_emulator_set("threads=reverse");
  start();
  Kernels k(R"(extern "C" __global__ void shift(const float* x, float* y) {
    __shared__ float s[256]; int t = threadIdx.x; s[t] = 0; __syncthreads(); s[t] = x[t]; y[t] = s[(t + 255) & 255]; })");
  const std::vector<float> x = ramp(256);
  Array<float> in(x), out(256);
  EXPECT(launch(k["shift"], {1, 256}, nullptr, in.pointer, out.pointer) == CUDA_SUCCESS);
  EXPECT(out.values()[0] == x[255]);
  EXPECT(out.values()[1] == 0);
}

CHILD_CASE("cuda emulator: a kernel may lie in namespaces") {
  start();
  Kernels k(R"(namespace a { namespace b { struct S { int v; };
    extern "C" __global__ void set(int* x, S s) { x[0] = s.v; } } })");
  Array<int> x(1);
  EXPECT(launch(k["set"], {}, nullptr, x.pointer, 5) == CUDA_SUCCESS);
  EXPECT(x.values()[0] == 5);
}

CHILD_CASE("cuda emulator: a kernel may be a template with shared memory") {
  start();
  Kernels k(R"(template <class T> __global__ void twice(T* x) {
    __shared__ T s[32]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = 2 * s[31 - threadIdx.x]; })",
            {"twice<float>", "twice<double>"});
  Array<double> x(std::vector<double>(32, 1.5));
  EXPECT(launch(k["twice<double>"], {1, 32}, nullptr, x.pointer) == CUDA_SUCCESS);
  EXPECT(x.values()[7] == 3.0);
}
