// The time model: exact, whatever runs when.
#include <chrono>

#include "device.hpp"

using namespace emulator_test;

namespace {

// Rates in bytes or operations per ns.
constexpr const char* machine =
    "call_ns=100,kernel_ns=1000,copy_ns=500,h2d_pinned=10,h2d_pageable=4,d2h_pinned=8,d2h_pageable=2,memory_rate=100,"
    "float32=1000,peer=20,event_ns=0";

float elapsed(CUevent a, CUevent b) {
  float ms = -1;
  EXPECT(cuEventElapsedTime(&ms, a, b) == CUDA_SUCCESS);
  return ms;
}

}  // namespace

CHILD_CASE("cuda emulator: a copy takes its latency and its bytes over the rate, in every order") {
  for (const char* order : {"order=late", "order=eager", "order=random:5"}) {
    tern_emulator_reset();
    tern_emulator_set(machine);
    tern_emulator_set(order);
    start();
    Stream s;
    Event begin, middle, end;
    Array<char> a(100000);
    Pinned<char> p(100000);
    const std::uint64_t before = tern_emulator_now();
    EXPECT(cuEventRecord(begin, s) == CUDA_SUCCESS);
    EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 100000, s) == CUDA_SUCCESS);
    EXPECT(cuEventRecord(middle, s) == CUDA_SUCCESS);
    EXPECT(cuMemcpyDtoHAsync_v2(p.data, a, 100000, s) == CUDA_SUCCESS);
    EXPECT(cuEventRecord(end, s) == CUDA_SUCCESS);
    EXPECT(tern_emulator_now() - before == 500);  // five calls; the host did not wait
    EXPECT(cuEventSynchronize(end) == CUDA_SUCCESS);
    // The first call's event is reached at 100, the copy called at 200.
    EXPECT(tern_emulator_now() - before == 200 + (500 + 10000) + (500 + 12500));
    EXPECT(elapsed(begin, middle) == 10600e-6f);
    EXPECT(elapsed(middle, end) == 13000e-6f);
  }
}

CHILD_CASE("cuda emulator: the host's time is that of a copy of pageable memory") {
  tern_emulator_set(machine);
  start();
  Stream s;
  Array<char> a(1000);
  std::vector<char> v(1000);
  const std::uint64_t before = tern_emulator_now();
  EXPECT(cuMemcpyHtoDAsync_v2(a, v.data(), 1000, s) == CUDA_SUCCESS);
  EXPECT(tern_emulator_now() - before == 100 + 500 + 250);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH_v2(v.data(), a, 1000) == CUDA_SUCCESS);
  EXPECT(tern_emulator_now() - before == 850 + 100 + 500 + 500);
}

CHILD_CASE("cuda emulator: copies both ways and kernels overlap, two of one kind do not") {
  tern_emulator_set(machine);
  start();
  Stream s, t, u;
  Event begin, ends[4];
  Array<char> a(100000), b(100000), c(100000);
  Pinned<char> p(100000), q(100000);
  EXPECT(cuEventRecord(begin, s) == CUDA_SUCCESS);
  EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 100000, s) == CUDA_SUCCESS);  // called at 200: until 10700
  EXPECT(cuEventRecord(ends[0], s) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoHAsync_v2(q.data, b, 100000, t) == CUDA_SUCCESS);  // at 400: until 13400
  EXPECT(cuEventRecord(ends[1], t) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(c, 0, 100000, u) == CUDA_SUCCESS);  // at 600: 1000 + 1000
  EXPECT(cuEventRecord(ends[2], u) == CUDA_SUCCESS);
  EXPECT(cuMemcpyHtoDAsync_v2(b, p.data, 100000, u) == CUDA_SUCCESS);  // behind the first copy: until 21200
  EXPECT(cuEventRecord(ends[3], u) == CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() == CUDA_SUCCESS);
  const float expected[] = {10600e-6f, 13300e-6f, 2500e-6f, 21100e-6f};
  for (int i = 0; i < 4; ++i) EXPECT(elapsed(begin, ends[i]) == expected[i]);
}

CHILD_CASE("cuda emulator: a kernel takes what it may touch over the memory's rate") {
  tern_emulator_set(machine);
  start();
  Stream s;
  Event begin, end;
  Kernels k(R"(extern "C" __global__ void f(float* x, const float* y, int n) {})");
  Array<float> x(1000), y(2000);
  CUfunction f = k["f"];
  EXPECT(cuEventRecord(begin, s) == CUDA_SUCCESS);
  EXPECT(launch(f, {1, 1}, s, x.pointer, y.pointer, 3) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(end, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(elapsed(begin, end) == (100 + 1000 + 120) * 1e-6f);
}

CHILD_CASE("cuda emulator: a graph costs the host one call") {
  tern_emulator_set(machine);
  start();
  Stream s;
  Event begin, end;
  Array<char> a(100000);
  EXPECT(cuStreamBeginCapture_v2(s, 0) == CUDA_SUCCESS);
  for (int i = 0; i < 5; ++i) EXPECT(cuMemsetD8Async(a, 0, 100000, s) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
  EXPECT(cuGraphInstantiateWithFlags(&executable, graph, 0) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(begin, s) == CUDA_SUCCESS);
  const std::uint64_t before = tern_emulator_now();
  EXPECT(cuGraphLaunch(executable, s) == CUDA_SUCCESS);
  EXPECT(tern_emulator_now() - before == 100);
  EXPECT(cuEventRecord(end, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(elapsed(begin, end) == (100 + 5 * 2000) * 1e-6f);
}

CHILD_CASE(
    "cuda emulator: with cold=1 the first use of a library and the compilation of a kernel take their time, else "
    "none") {
  constexpr const char* source = R"(extern "C" __global__ void f(int* x) {})";
  tern_emulator_set(machine);
  start();
  const auto spent = [](auto&& f) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t before = tern_emulator_now();
    f();
    const std::uint64_t ns = tern_emulator_now() - before;
    EXPECT(std::chrono::steady_clock::now() - begin >= std::chrono::nanoseconds(ns));
    return 1e-6 * double(ns);
  };
  const auto open_cublas = [] {
    cublasLtHandle_t handle = nullptr;
    EXPECT(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  };
  const auto open_cudnn = [] {
    cudnnHandle_t handle = nullptr;
    EXPECT(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS);
  };
  const auto compile = [] { Kernels kernels(source); };
  for (const auto& use : std::initializer_list<std::function<void()>>{open_cublas, open_cudnn, compile})
    EXPECT(spent(use) == 0);
  tern_emulator_set("cold=1");
  EXPECT(spent(open_cublas) == 333);
  EXPECT(spent(open_cublas) == 0);
  EXPECT(spent(open_cudnn) == 333);
  const double first = spent(compile), second = spent(compile);
  EXPECT(first - second == 333);
  EXPECT(second >= 20 && second <= 300);
  tern_emulator_set("cold=1");  // all libraries are closed again
  EXPECT(spent(open_cublas) == 333);
}

CHILD_CASE("cuda emulator: the host's own work passes on its clock") {
  tern_emulator_set(machine);
  start();
  Stream s;
  Event begin, end;
  EXPECT(cuEventRecord(begin, s) == CUDA_SUCCESS);
  tern_emulator_advance(5000);
  EXPECT(cuEventRecord(end, s) == CUDA_SUCCESS);
  EXPECT(cuEventSynchronize(end) == CUDA_SUCCESS);
  EXPECT(elapsed(begin, end) == 5100e-6f);
}

CHILD_CASE("cuda emulator: an event that is timed takes its stream's time, one that is not takes none") {
  tern_emulator_set(machine);
  tern_emulator_set("event_ns=1500");
  start();
  Stream s;
  Event begin, end, untimed(CU_EVENT_DISABLE_TIMING);
  EXPECT(cuEventRecord(begin, s) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(untimed, s) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(end, s) == CUDA_SUCCESS);
  EXPECT(cuEventSynchronize(end) == CUDA_SUCCESS);
  EXPECT(elapsed(begin, end) == 1500e-6f);
}
