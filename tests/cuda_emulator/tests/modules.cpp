// Modules, functions, launches: what they refuse.
#include <algorithm>

#include "../image.hpp"
#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* source = R"(
extern "C" __global__ void __launch_bounds__(64) bounded(int* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void dynamic(int* x) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1; __syncthreads(); x[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void fixed(int* x) {
  __shared__ int s[1000];
  s[threadIdx.x] = 1; __syncthreads(); x[threadIdx.x] = s[threadIdx.x];
}
__global__ void mangled(int* x) { x[0] = 1; }
)";

CUresult launch_shaped(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_z,
                       CUdeviceptr x) {
  void* pointers[] = {&x};
  return cuLaunchKernel(f, grid_x, grid_y, 1, block_x, 1, block_z, 0, nullptr, pointers, nullptr);
}

}  // namespace

CHILD_CASE("cuda emulator: launches that no device takes") {
  start();
  Kernels k(source);
  Array<int> x(2048);
  CUfunction f = k["dynamic"];
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "grid", launch_shaped(f, 0, 1, 32, 1, x));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "grid", launch_shaped(f, 1, 65536, 32, 1, x));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "1x1x1 blocks of 1025x1x1", launch_shaped(f, 1, 1, 1025, 1, x));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "blocks of 1x1x65", launch_shaped(f, 1, 1, 1, 65, x));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "blocks of 512x1x4", launch_shaped(f, 1, 1, 512, 4, x));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "__launch_bounds__(64)", launch(k["bounded"], {1, 65}, nullptr, x.pointer));
  EXPECT(launch(k["bounded"], {1, 64}, nullptr, x.pointer) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "has parameters",
                 cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  void* extra[] = {nullptr};
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "extra", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}

CHILD_CASE("cuda emulator: dynamic shared memory above 48 KB must be allowed") {
  start();
  Kernels k(source);
  Array<int> x(32);
  CUfunction f = k["dynamic"];
  EXPECT(launch(f, {1, 32, 48 << 10}, nullptr, x.pointer) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "48 KB", launch(f, {1, 32, (48 << 10) + 4}, nullptr, x.pointer));
  EXPECT(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10) == CUDA_SUCCESS);
  EXPECT(launch(f, {1, 32, 100 << 10}, nullptr, x.pointer) == CUDA_SUCCESS);
  EXPECT(x.values() == std::vector<int>(32, 1));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "shared memory",
                 cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not emulated", cuFuncSetAttribute(f, 77, 1));
}

CHILD_CASE("cuda emulator: too much static shared memory") {
  start();
  const std::string cubin = compile(
      R"(extern "C" __global__ void f(float* x) { __shared__ float s[12400]; s[threadIdx.x] = 1; x[0] = s[0]; })");
  CUmodule m = nullptr;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_IMAGE, "48 KB", cuModuleLoadData(&m, cubin.data()));
}

CHILD_CASE("cuda emulator: functions are found by their names and have attributes") {
  start();
  Kernels k(source);
  CUfunction f = nullptr;
  EXPECT(cuModuleGetFunction(&f, k.module, "fixed") == CUDA_SUCCESS);
  int value = 0;
  EXPECT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f) == CUDA_SUCCESS);
  EXPECT(value >= 4000);
  EXPECT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k["bounded"]) == CUDA_SUCCESS);
  EXPECT(value == 64);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not emulated", cuFuncGetAttribute(&value, 77, f));
  EXPECT_REFUSED(CUDA_ERROR_NOT_FOUND, "lowered name", cuModuleGetFunction(&f, k.module, "mangled"));
  CUdeviceptr p = 0;
  std::size_t bytes = 0;
  EXPECT_REFUSED(CUDA_ERROR_NOT_FOUND, "global variables", cuModuleGetGlobal_v2(&p, &bytes, k.module, "table"));
  int blocks = 0;
  EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k["dynamic"], 256, 0) == CUDA_SUCCESS);
  EXPECT(blocks == 8);
  EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k["dynamic"], 32, 114 << 10) == CUDA_SUCCESS);
  EXPECT(blocks == 1);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "no threads", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0));
}

CHILD_CASE("cuda emulator: images that are damaged, or for another device") {
  start();
  std::string cubin = compile(source);
  CUmodule m = nullptr;
  std::string damaged = cubin;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_IMAGE, "damaged", cuModuleLoadData(&m, damaged.data()));
  damaged = cubin;
  damaged[20] ^= 1;  // in the header
  EXPECT_REFUSED(CUDA_ERROR_INVALID_IMAGE, "damaged", cuModuleLoadData(&m, damaged.data()));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_IMAGE, "not an image", cuModuleLoadData(&m, "\177ELF and so on"));
  tern_emulator_set("capability=86");
  EXPECT_REFUSED(CUDA_ERROR_NO_BINARY_FOR_GPU, "compiled for 90", cuModuleLoadData(&m, cubin.data()));
  cubin = compile(source, {}, "-arch=sm_80");
  EXPECT(cuModuleLoadData(&m, cubin.data()) == CUDA_SUCCESS);  // of the same major version
  tern_emulator_set("driver=12080");
  EXPECT_REFUSED(CUDA_ERROR_INVALID_IMAGE, "compiled by CUDA 13", cuModuleLoadData(&m, cubin.data()));
}

CHILD_CASE("cuda emulator: an image that holds no library") {
  start();
  CUmodule m = nullptr;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_IMAGE, "cannot be loaded",
                 cuModuleLoadData(&m, emulator::make_image(13, 90, false, "text").data()));
}

CHILD_CASE("cuda emulator: a graph that is replayed after its kernel's module is gone") {
  start();
  Stream s;
  Array<int> x(32);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  {
    Kernels k(source);
    CUfunction f = k["dynamic"];
    EXPECT(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    EXPECT(launch(f, {1, 32, 128}, s, x.pointer) == CUDA_SUCCESS);
    EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
    EXPECT(cuGraphInstantiateWithFlags(&executable, graph, 0) == CUDA_SUCCESS);
  }
  EXPECT(cuGraphLaunch(executable, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(std::string(tern_emulator_message()).find("module was unloaded") != std::string::npos);
}

CHILD_CASE("cuda emulator: nothing of an unloaded module can be used") {
  start();
  Array<int> x(32);
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  EXPECT(cuModuleLoadData(&m, compile(source).data()) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&f, m, "dynamic") == CUDA_SUCCESS);
  EXPECT(cuModuleUnload(m) == CUDA_SUCCESS);
  EXPECT(tern_emulator_live("module") == 0);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "unloaded", cuModuleUnload(m));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "unloaded", cuModuleGetFunction(&f, m, "dynamic"));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "unloaded", launch(f, {1, 32}, nullptr, x.pointer));
  int value = 0;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "unloaded", cuFuncGetAttribute(&value, 0, f));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "unloaded", cuFuncSetAttribute(f, 8, 0));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "unloaded", cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 1, 0));
}

CHILD_CASE("cuda emulator: a function goes with its context's streams") {
  tern_emulator_set("devices=2");
  start();
  Kernels k(source);
  CUcontext second = nullptr;
  EXPECT(cuDevicePrimaryCtxRetain(&second, 1) == CUDA_SUCCESS);
  EXPECT(cuCtxSetCurrent(second) == CUDA_SUCCESS);
  Stream s;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "different contexts", launch(k["dynamic"], {1, 32}, s, CUdeviceptr{0}));
}
