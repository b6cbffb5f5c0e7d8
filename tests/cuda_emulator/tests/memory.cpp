// Device and pinned memory: where it lies, what it holds at first, and who may touch or free it when.
#include <cmath>

#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* store = R"(extern "C" __global__ void store(float* x, long i, float v) { x[i] = v; })";

}  // namespace

TEST_CASE("cuda emulator: the host cannot touch device memory") {
  CHECK(emulator_test::in_child([] {
          start();
          Array<float> a(16);
          *reinterpret_cast<volatile float*>(a.pointer) = 1;
        }) == "signal 11");
}

TEST_CASE("cuda emulator: the host cannot touch freed pinned memory") {
  CHECK(emulator_test::in_child([] {
          start();
          Pinned<int> p(4);
          volatile int* data = p.data;
          EXPECT(cuMemFreeHost(p.data) == CUDA_SUCCESS);
          *data = 1;
        }) == "signal 11");
}

CHILD_CASE("cuda emulator: new memory is poisoned and its end is guarded") {
  start();
  Array<float> a(5);
  EXPECT(a.pointer % 256 == 0);
  for (const float x : a.values()) EXPECT(std::isnan(x));
  Pinned<float> p(5);
  std::memset(p.data, 0, 20);
  Kernels k(store);
  CUdeviceptr raw = 0;
  EXPECT(cuMemAlloc_v2(&raw, 20) == CUDA_SUCCESS);
  EXPECT(launch(k["store"], {}, nullptr, raw, 5L, 1.0f) == CUDA_SUCCESS);  // between its end and the guard page
  EXPECT(cuCtxSynchronize() == CUDA_SUCCESS);
  EXPECT(cuMemFree_v2(raw) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(std::string(tern_emulator_message()).find("past the end of a 20-byte") != std::string::npos);
}

CHILD_CASE("cuda emulator: memory runs out, and is counted") {
  tern_emulator_set("memory=1000");
  start();
  CUdeviceptr a = 0, b = 0;
  EXPECT(cuMemAlloc_v2(&a, 600) == CUDA_SUCCESS);
  EXPECT(cuMemAlloc_v2(&b, 600) == CUDA_ERROR_OUT_OF_MEMORY);
  std::size_t free = 0, total = 0;
  EXPECT(cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS);
  EXPECT(free == 400);
  EXPECT(total == 1000);
  EXPECT(cuMemAllocAsync(&b, 600, nullptr) == CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT(tern_emulator_live("memory") == 1);
  EXPECT(cuMemFree_v2(a) == CUDA_SUCCESS);
  EXPECT(tern_emulator_live("memory") == 0);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "0 bytes", cuMemAlloc_v2(&a, 0));
}

CHILD_CASE("cuda emulator: what a stream will have freed is room for more") {
  tern_emulator_set("memory=1000");
  start();
  Stream s;
  CUdeviceptr p = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT(cuMemAllocAsync(&p, 600, s) == CUDA_SUCCESS);
    EXPECT(cuMemFreeAsync(p, s) == CUDA_SUCCESS);
  }
  EXPECT(cuMemAlloc_v2(&p, 600) == CUDA_SUCCESS);
}

CHILD_CASE("cuda emulator: a free of what is not allocated is refused") {
  start();
  Array<float> a(4);
  EXPECT(cuMemFree_v2(0) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not what an allocation returned", cuMemFree_v2(a.pointer + 4));
  CUdeviceptr b = 0;
  EXPECT(cuMemAlloc_v2(&b, 4) == CUDA_SUCCESS);
  EXPECT(cuMemFree_v2(b) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not what an allocation returned", cuMemFree_v2(b));
  EXPECT(cuMemAllocAsync(&b, 4, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemFreeAsync(b, nullptr) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "freed already", cuMemFreeAsync(b, nullptr));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "freed already", cuMemFree_v2(b));
}

CHILD_CASE("cuda emulator: pinned memory") {
  start();
  void* p = nullptr;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "0 bytes", cuMemHostAlloc(&p, 0, 0));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "flags", cuMemHostAlloc(&p, 4, 64));
  EXPECT(cuMemHostAlloc(&p, 4, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
  EXPECT(*static_cast<unsigned*>(p) == 0xffffffffu);
  unsigned flags = 0;
  EXPECT(cuMemHostGetFlags(&flags, p) == CUDA_SUCCESS);
  EXPECT(flags == CU_MEMHOSTALLOC_PORTABLE);
  int local = 0;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not memory of cuMemHostAlloc", cuMemHostGetFlags(&flags, &local));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not what cuMemHostAlloc", cuMemFreeHost(&local));
  EXPECT(cuMemFreeHost(p) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "was freed", cuMemFreeHost(p));
}

CHILD_CASE("cuda emulator: a pointer says what it points to") {
  start();
  Array<float> a(4);
  Pinned<float> p(4);
  float local = 0;
  unsigned type = 0;
  const auto address = [](const void* pointer) {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
  };
  EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a) == CUDA_SUCCESS);
  EXPECT(type == CU_MEMORYTYPE_DEVICE);
  EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(p.data + 1)) == CUDA_SUCCESS);
  EXPECT(type == CU_MEMORYTYPE_HOST);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not allocated by CUDA",
                 cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(&local)));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not emulated", cuPointerGetAttribute(&type, 99, a));
  int ordinal = 9;
  EXPECT(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a) == CUDA_SUCCESS);
  EXPECT(ordinal == 0);
}

CHILD_CASE("cuda emulator: stream-ordered memory exists where its stream says") {
  start();
  Stream s, t;
  Kernels k(store);
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, 32, s) == CUDA_SUCCESS);
  EXPECT(launch(k["store"], {}, s, p, 7L, 1.0f) == CUDA_SUCCESS);
  EXPECT(cuMemFreeAsync(p, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(tern_emulator_live("memory") == 0);
  EXPECT(cuMemAllocAsync(&p, 32, s) == CUDA_SUCCESS);
  EXPECT(launch(k["store"], {}, t, p, 7L, 1.0f) == CUDA_SUCCESS);  // t does not wait for s
  EXPECT(cuStreamSynchronize(t) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

CHILD_CASE("cuda emulator: a copy into memory that its stream has not allocated yet") {
  start();
  Stream s, t;
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, 32, s) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(p, 0, 32, t) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(t) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(std::string(tern_emulator_message()).find("a missing wait") != std::string::npos);
}

CHILD_CASE("cuda emulator: the memory pool counts what is stream-ordered") {
  start();
  Array<char> other(1000);
  CUmemoryPool pool = nullptr;
  EXPECT(cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, 300, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemFreeAsync(p, nullptr) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemAllocAsync(&p, 100, nullptr) == CUDA_SUCCESS);
  std::uint64_t bytes = 0;
  EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes) == CUDA_SUCCESS);
  EXPECT(bytes == 100);
  EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &bytes) == CUDA_SUCCESS);
  EXPECT(bytes == 300);
  bytes = 0;
  EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &bytes) == CUDA_SUCCESS);
  EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes) == CUDA_SUCCESS);
  EXPECT(cuMemPoolTrimTo(pool, 0) == CUDA_SUCCESS);
  EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &bytes) == CUDA_SUCCESS);
  EXPECT(bytes == 100);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "cannot be set",
                 cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not emulated", cuMemPoolGetAttribute(pool, 99, &bytes));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "no memory pool", cuMemPoolTrimTo(nullptr, 0));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_DEVICE, "no such device", cuDeviceGetDefaultMemPool(&pool, 3));
}

CHILD_CASE("cuda emulator: a pool that cannot grow far enough keeps what it got") {
  start();
  CUmemoryPool pool = nullptr;
  EXPECT(cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
  std::size_t free = 0, total = 0;
  EXPECT(cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS);
  const std::size_t all = free;
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, total + 1, nullptr) == CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT(cuMemAllocAsync(&p, 1000, nullptr) == CUDA_SUCCESS);
  std::uint64_t bytes = 0;
  EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes) == CUDA_SUCCESS);
  EXPECT(bytes == all);
  EXPECT(cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS);
  EXPECT(free == 0);
  EXPECT(cuMemPoolTrimTo(pool, 0) == CUDA_SUCCESS);
  EXPECT(cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS);
  EXPECT(free == all - 1000);
}

// The planted early frees.

CHILD_CASE("cuda emulator: freeing on one stream what another still uses is caught") {
  start();
  Stream s, t;
  Event e;
  CUdeviceptr p = 0, q = 0;
  EXPECT(cuMemAllocAsync(&p, 32, s) == CUDA_SUCCESS);
  EXPECT(cuMemAllocAsync(&q, 32, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(q, 0, 32, t) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(e, t) == CUDA_SUCCESS);
  EXPECT(cuStreamWaitEvent(s, e, 0) == CUDA_SUCCESS);
  EXPECT(cuMemFreeAsync(q, s) == CUDA_SUCCESS);  // with the wait it is right
  EXPECT(cuMemsetD8Async(p, 0, 32, t) == CUDA_SUCCESS);
  EXPECT(cuMemFreeAsync(p, s) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(std::string(tern_emulator_message()).find("still uses it") != std::string::npos);
}

CHILD_CASE("cuda emulator: a use after a stream-ordered free is refused") {
  start();
  Stream s;
  Kernels k(store);
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, 32, s) == CUDA_SUCCESS);
  EXPECT(cuMemFreeAsync(p, s) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "freed memory", launch(k["store"], {}, s, p, 7L, 1.0f));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "has been freed", cuMemsetD8Async(p, 0, 32, s));
}

CHILD_CASE("cuda emulator: cuMemFree does not wait for stream-ordered memory") {
  start();
  Stream s;
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, 32, s) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(p, 0, 32, s) == CUDA_SUCCESS);
  EXPECT(cuMemFree_v2(p) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

CHILD_CASE("cuda emulator: cuMemFree waits, unless it is asked not to") {
  start();
  CUdeviceptr p = 0;
  EXPECT(cuMemAlloc_v2(&p, 32) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(p, 0, 32, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemFree_v2(p) == CUDA_SUCCESS);
  tern_emulator_set("free=strict");
  EXPECT(cuMemAlloc_v2(&p, 32) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(p, 0, 32, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemFree_v2(p) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

CHILD_CASE("cuda emulator: freeing pinned memory that a copy still reads is caught") {
  start();
  Stream s;
  Array<float> a(4);
  Pinned<float> p(4, 1.0f);
  EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 16, s) == CUDA_SUCCESS);
  EXPECT(cuMemFreeHost(p.data) == CUDA_ERROR_ILLEGAL_ADDRESS);
  p.data = nullptr;
}

CHILD_CASE("cuda emulator: addresses are not used again") {
  start();
  CUdeviceptr first = 0, p = 0;
  EXPECT(cuMemAlloc_v2(&first, 32) == CUDA_SUCCESS);
  EXPECT(cuMemFree_v2(first) == CUDA_SUCCESS);
  for (int i = 0; i < 100; ++i) {
    EXPECT(cuMemAlloc_v2(&p, 32) == CUDA_SUCCESS);
    EXPECT(p != first);
    EXPECT(cuMemFree_v2(p) == CUDA_SUCCESS);
  }
}
