// What goes wrong while a kernel runs: found, named, and never over.
#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* faulty = R"(
extern "C" __global__ void store(float* x, long i) { x[i] = 1; }
extern "C" __global__ void divergent(float* y) {
  if (threadIdx.x & 1) { __syncthreads(); y[threadIdx.x] = 1; } else { y[threadIdx.x] = 2; __syncthreads(); }
}
extern "C" __global__ void lone_shuffle(float* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
}
extern "C" __global__ void unnamed_lane(float* y) { y[threadIdx.x] = __shfl_xor_sync(1u, 1.0f, 1); }
extern "C" __global__ void barrier_and_warp(float* y) {
  if (threadIdx.x < 16) __syncthreads(); else __syncwarp();
  y[threadIdx.x] = 1;
}
extern "C" __global__ void endless(volatile int* flag) { while (!*flag) {} }
extern "C" __global__ void asserts(int* x) { assert(!"never"); x[0] = 1; }
extern "C" __global__ void divides(int* x, int by) { x[0] = 1 / by; }
extern "C" __global__ void traps(int* x) { x[0] = 1; __trap(); }
)";

// Runs the kernel and waits: gives this code and a message that names the kernel, and so does every later call.
template <class... A>
void fails(const char* kernel, Shape shape, int code, const char* text, A... arguments) {
  Stream s;
  Kernels k(faulty);
  EXPECT(launch(k[kernel], shape, s, arguments...) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == code);
  const std::string message = tern_emulator_message();
  EXPECT(message.find(text) != std::string::npos);
  EXPECT(message.find(kernel) != std::string::npos);
  CUdeviceptr p = 0;
  EXPECT(cuMemAlloc_v2(&p, 4) == code);
  EXPECT(cuStreamSynchronize(s) == code);
  EXPECT(cuCtxSynchronize() == code);
}

}  // namespace

CHILD_CASE("cuda emulator: a kernel that writes out of bounds") {
  start();
  Array<float> a(64);
  fails("store", {}, CUDA_ERROR_ILLEGAL_ADDRESS, "block (0, 0, 0), thread (0, 0, 0), at address", a.pointer, 64L);
}

CHILD_CASE("cuda emulator: a fault says how far from an allocation it is") {
  start();
  Array<float> a(64);
  fails("store", {}, CUDA_ERROR_ILLEGAL_ADDRESS, ", 8 bytes behind the end of one of 256 bytes", a.pointer, 66L);
}

CHILD_CASE("cuda emulator: a kernel that is given a host pointer") {
  start();
  static float local[8];
  fails("store", {}, CUDA_ERROR_ILLEGAL_ADDRESS, "not the device's", reinterpret_cast<CUdeviceptr>(&local), 0L);
}

CHILD_CASE("cuda emulator: a kernel that is given freed memory") {
  start();
  CUdeviceptr p = 0;
  EXPECT(cuMemAlloc_v2(&p, 4) == CUDA_SUCCESS);
  EXPECT(cuMemFree_v2(p) == CUDA_SUCCESS);
  fails("store", {}, CUDA_ERROR_ILLEGAL_ADDRESS, "not allocated", p, 0L);
}

CHILD_CASE("cuda emulator: threads at different barriers") {
  start();
  Array<float> a(64);
  fails("divergent", {1, 64}, CUDA_ERROR_LAUNCH_FAILED, "different __syncthreads()", a.pointer);
}

CHILD_CASE("cuda emulator: a shuffle that half of its lanes never reach") {
  start();
  Array<float> a(64);
  fails("lone_shuffle", {1, 32}, CUDA_ERROR_LAUNCH_FAILED, "deadlock: a lane", a.pointer);
}

CHILD_CASE("cuda emulator: a shuffle by a lane that its mask omits") {
  start();
  Array<float> a(64);
  fails("unnamed_lane", {1, 32}, CUDA_ERROR_LAUNCH_FAILED, "whose mask omits it", a.pointer);
}

CHILD_CASE("cuda emulator: some threads at a barrier, others in a warp") {
  start();
  Array<float> a(64);
  fails("barrier_and_warp", {1, 32}, CUDA_ERROR_LAUNCH_FAILED, "deadlock: some threads", a.pointer);
}

CHILD_CASE("cuda emulator: a kernel without end") {
  tern_emulator_set("timeout_ms=200");
  start();
  Array<int> a(std::vector<int>{0});
  Kernels k(faulty);
  EXPECT(launch(k["endless"], {}, nullptr, a.pointer) == CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT(std::string(tern_emulator_message()).find("did not end in 200 ms") != std::string::npos);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_TIMEOUT);
}

CHILD_CASE("cuda emulator: an assertion in a kernel") {
  start();
  Array<int> a(1);
  fails("asserts", {}, CUDA_ERROR_ASSERT, "thread (0, 0, 0)", a.pointer);
}

CHILD_CASE("cuda emulator: a trap in a kernel") {
  start();
  Array<int> a(1);
  fails("traps", {}, CUDA_ERROR_LAUNCH_FAILED, "thread (0, 0, 0)", a.pointer);
}

CHILD_CASE("cuda emulator: after an error nothing runs, not even host functions") {
  start();
  static int done = 0;
  Stream s;
  Array<float> a(4);
  Kernels k(faulty);
  EXPECT(launch(k["store"], {}, s, a.pointer, 1000L) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(s, [](void*) { ++done; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(done == 0);
}

CHILD_CASE("cuda emulator: a test can give a device an error") {
  start();
  tern_emulator_break(0, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
  CUevent e = nullptr;
  EXPECT(cuEventCreate(&e, 0) == CUDA_ERROR_LAUNCH_FAILED);
}
