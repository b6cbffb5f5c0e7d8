// accesses=checked: accesses that are misaligned, or outside of an allocation or a shared array.
#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* source = R"(
struct alignas(16) Four { float v[4]; };
extern "C" __global__ void vectors(float* x, long at) { *(float4*)(x + at) = make_float4(1, 2, 3, 4); }
extern "C" __global__ void packets(float* x, long at) { Four four = *(Four*)(x + at); x[0] = four.v[1] + four.v[2]; }
extern "C" __global__ void doubles(float* x, long at) { *(volatile double*)(x + at) = 1; }
extern "C" __global__ void copies(float* x, long at) { double d = 1; memcpy((char*)x + at, &d, sizeof d); }
extern "C" __global__ void reads(float* x, long at) { x[0] = x[at]; }
extern "C" __global__ void writes(float* x, long at) { x[at] = 1; }
inline __device__ void set(float* p, long at) { p[at] = 1; }
extern "C" __global__ void pointers(float* x, long at) {
  __shared__ float a[32], b[32]; a[0] = b[0] = 0; set(a, at); __syncthreads(); x[0] = a[0] + b[0] + a[31];
}
extern "C" __global__ void second(float* x, long at) {
  __shared__ float a[32], b[32]; a[0] = b[0] = 0; set(b, at); __syncthreads(); x[0] = a[0] + b[0] + b[31];
}
extern "C" __global__ void indices(float* x, long at) {
  __shared__ float a[4][32]; a[1][at] = 2; __syncthreads(); x[0] = a[1][31];
}
extern "C" __global__ void dynamic_array(float* x, long at) {
  extern __shared__ float s[]; s[at] = 2; __syncthreads(); x[0] = s[31];
}
)";

constexpr int count = 100;  // floats in the array: 112 bytes are left of the last 256

// Runs the kernel with one thread. The status, and in the emulator's message the text.
void gives(int status, const char* text, const char* kernel, long at) {
  tern_emulator_set("accesses=checked");
  start();
  Kernels k(source);
  Array<float> x(std::vector<float>(count, 0.0f));
  EXPECT(launch(k[kernel], {1, 1, 128}, nullptr, x.pointer, at) == CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() == status);
  EXPECT(!status || std::string(tern_emulator_message()).find(text) != std::string::npos);
}

void is_found(int status, const char* text, const char* kernel, long at) {
  INFO(kernel << " at " << at);
  CHECK(in_child([=] { gives(status, text, kernel, at); }) == "");
}
void is_clean(const char* kernel, long at) { is_found(CUDA_SUCCESS, "", kernel, at); }

}  // namespace

TEST_CASE("cuda emulator: a misaligned access of a vector") {
  is_found(CUDA_ERROR_MISALIGNED_ADDRESS, "a misaligned access in line 3", "vectors", 1);
  is_found(CUDA_ERROR_MISALIGNED_ADDRESS, "a misaligned access in line 4", "packets", 2);
  is_found(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned", "doubles", 3);
  is_clean("vectors", 4);
  is_clean("packets", 8);
  is_clean("doubles", 2);
  is_clean("copies", 3);
}

TEST_CASE("cuda emulator: an access beside an allocation") {
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "a read of 4 bytes that begins 4 bytes before an allocation", "reads", -1);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "a write of 4 bytes that begins 256 bytes before an allocation", "writes", -64);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "passes an allocation's end", "reads", count);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "passes an allocation's end", "writes", count + 27);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "passes an allocation's end", "copies", 4 * count - 4);
  is_clean("reads", 0);
  is_clean("writes", count - 1);
  is_clean("copies", 4 * count - 8);
}

TEST_CASE("cuda emulator: an access outside of the shared arrays") {
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "a write of 4 bytes outside of the shared arrays", "pointers", 32);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "outside of the shared arrays", "pointers", -1);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "outside of the shared arrays", "second", 32);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "outside of the shared arrays", "second", -1);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "an index outside of its array in line 17", "indices", 32);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "outside of the shared arrays", "dynamic_array", 32);
  is_found(CUDA_ERROR_ILLEGAL_ADDRESS, "outside of the shared arrays", "dynamic_array", -1);
  is_clean("pointers", 31);
  is_clean("second", 31);
  is_clean("indices", 31);
  is_clean("dynamic_array", 31);
}

CHILD_CASE("cuda emulator: gaps between shared arrays are no shared memory of the kernel's") {
  tern_emulator_set("accesses=checked");
  start();
  Kernels k(
      "extern \"C\" __global__ void k(float* x) { __shared__ float a[8192], b[4000]; a[threadIdx.x] = b[threadIdx.x] = "
      "x[0]; }");
  int bytes = 0;
  EXPECT(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k["k"]) == CUDA_SUCCESS);
  EXPECT(bytes >= 4 * (8192 + 4000) && bytes <= 48 << 10);
}
