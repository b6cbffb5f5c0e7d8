// Copies come as late as they may, and nothing copies what it must not.
#include <cmath>

#include "device.hpp"

using namespace emulator_test;

CHILD_CASE("cuda emulator: a result read before its copy is done is poison") {
  start();
  Stream s;
  Array<float> a(std::vector<float>(64, 2.0f));
  Pinned<float> p(64, 1.0f);
  EXPECT(cuMemcpyDtoHAsync_v2(p.data, a, 256, s) == CUDA_SUCCESS);
  EXPECT(std::isnan(p[5]));
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(p[5] == 2.0f);
}

CHILD_CASE("cuda emulator: so is one in pageable memory") {
  start();
  Stream s;
  Array<float> a(std::vector<float>(64, 2.0f));
  std::vector<float> v(64, 1.0f);
  EXPECT(cuMemcpyDtoHAsync_v2(v.data(), a, 256, s) == CUDA_SUCCESS);
  EXPECT(std::isnan(v[5]));
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(v[5] == 2.0f);
}

CHILD_CASE("cuda emulator: a source that is overwritten too early shows") {
  start();
  Stream s;
  Array<float> a(4);
  Pinned<float> p(4, 1.0f);
  EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 16, s) == CUDA_SUCCESS);
  p[0] = 9.0f;
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(a.values()[0] == 9.0f);
}

CHILD_CASE("cuda emulator: a stream that does not wait for another's copy sees poison") {
  for (const bool waits : {false, true}) {
    tern_emulator_reset();
    start();
    Stream s, t;
    Event e;
    Array<float> a(4), b(4);
    Pinned<float> p(4, 1.0f), q(4);
    EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 16, s) == CUDA_SUCCESS);
    EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
    if (waits) EXPECT(cuStreamWaitEvent(t, e, 0) == CUDA_SUCCESS);
    EXPECT(cuMemcpyDtoDAsync_v2(b, a, 16, t) == CUDA_SUCCESS);
    EXPECT(cuMemcpyDtoHAsync_v2(q.data, b, 16, t) == CUDA_SUCCESS);
    EXPECT(cuStreamSynchronize(t) == CUDA_SUCCESS);
    EXPECT(waits ? q[3] == 1.0f : std::isnan(q[3]));
    EXPECT(cuCtxSynchronize() == CUDA_SUCCESS);
  }
}

CHILD_CASE("cuda emulator: cuMemcpyHtoD from pageable memory returns when the bytes are staged") {
  start();
  Stream s;
  Array<float> a(4), b(4);
  std::vector<float> v(4, 1.0f);
  EXPECT(cuMemcpyHtoD_v2(a, v.data(), 16) == CUDA_SUCCESS);
  v.assign(4, 9.0f);
  Pinned<float> q(4);
  EXPECT(cuMemcpyDtoHAsync_v2(q.data, a, 16, s) == CUDA_SUCCESS);  // s is not ordered behind the legacy stream
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(std::isnan(q[0]));
  EXPECT(cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
  EXPECT(a.values()[0] == 1.0f);
}

CHILD_CASE("cuda emulator: under order=eager everything runs at once") {
  tern_emulator_set("order=eager");
  start();
  Stream s;
  Array<float> a(std::vector<float>(4, 2.0f));
  Pinned<float> p(4, 1.0f);
  EXPECT(cuMemcpyDtoHAsync_v2(p.data, a, 16, s) == CUDA_SUCCESS);
  EXPECT(p[0] == 2.0f);
}

CHILD_CASE("cuda emulator: every order gives the same to a program that waits") {
  for (const char* order : {"order=late", "order=eager", "order=random:1", "order=random:2", "order=random:77"}) {
    tern_emulator_reset();
    tern_emulator_set(order);
    start();
    Stream s, t;
    Array<int> a(64), b(64);
    Pinned<int> p(64, 3), q(64);
    for (int round = 0; round < 10; ++round) {
      Event e, f;
      EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 256, s) == CUDA_SUCCESS);
      EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
      EXPECT(cuStreamWaitEvent(t, e, 0) == CUDA_SUCCESS);
      EXPECT(cuMemcpyDtoDAsync_v2(b, a, 256, t) == CUDA_SUCCESS);
      EXPECT(cuMemcpyDtoHAsync_v2(q.data, b, 256, t) == CUDA_SUCCESS);
      EXPECT(cuEventRecord(f, t) == CUDA_SUCCESS);
      EXPECT(cuEventSynchronize(f) == CUDA_SUCCESS);
      EXPECT(q[63] == 3 + round);
      for (int i = 0; i < 64; ++i) ++p[i];
    }
  }
}

CHILD_CASE("cuda emulator: fills") {
  start();
  Array<unsigned> a(4);
  EXPECT(cuMemsetD32Async(a, 0x12345678, 3, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(a + 12, 0xab, 4, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(a, 0, 0, nullptr) == CUDA_SUCCESS);
  EXPECT((a.values() == std::vector<unsigned>{0x12345678, 0x12345678, 0x12345678, 0xabababab}));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not aligned", cuMemsetD32Async(a + 2, 0, 1, nullptr));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not inside one device allocation", cuMemsetD32Async(a, 0, 5, nullptr));
}

CHILD_CASE("cuda emulator: copies of what is not there are refused") {
  start();
  Array<float> a(4), b(4);
  Pinned<float> p(4);
  float local[4];
  const auto host = [](CUdeviceptr pointer) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer)); };
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not inside one device", cuMemcpyHtoDAsync_v2(a, local, 17, nullptr));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not inside one device", cuMemcpyDtoHAsync_v2(local, a + 4, 16, nullptr));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not inside one pinned", cuMemcpyDtoHAsync_v2(p.data + 1, a, 16, nullptr));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "where a host pointer belongs",
                 cuMemcpyHtoDAsync_v2(a, host(b), 16, nullptr));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "where a host pointer belongs", cuMemcpyDtoH_v2(host(b), a, 16));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not inside one device", cuMemcpyHtoD_v2(a + 1, local, 16));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not inside one device", cuMemcpyDtoDAsync_v2(a, b + 1, 16, nullptr));
  EXPECT(cuMemcpyHtoD_v2(a, local, 0) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH_v2(local, a, 0) == CUDA_SUCCESS);
}

CHILD_CASE("cuda emulator: copies between devices") {
  tern_emulator_set("devices=2");
  CUcontext first = start(), second = nullptr;
  Array<int> a(std::vector<int>{1, 2, 3, 4});
  EXPECT(cuDevicePrimaryCtxRetain(&second, 1) == CUDA_SUCCESS);
  EXPECT(cuCtxSetCurrent(second) == CUDA_SUCCESS);
  Array<int> b(4);
  Stream s;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not of the context", cuMemcpyPeerAsync(b, first, a, second, 16, s));
  EXPECT(cuMemcpyPeerAsync(b, second, a, first, 16, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT((b.values() == std::vector<int>{1, 2, 3, 4}));
  // A copy is direct where the one's pool was opened to the other.
  CUmemoryPool pool = nullptr;
  int can = 0;
  EXPECT(cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
  EXPECT(cuDeviceCanAccessPeer(&can, 1, 0) == CUDA_SUCCESS && can == 1);
  const auto copy_ns = [&] {
    const std::uint64_t begin = tern_emulator_now();
    EXPECT(cuMemcpyPeerAsync(b, second, a, first, 16, s) == CUDA_SUCCESS);
    EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
    return tern_emulator_now() - begin;
  };
  const std::uint64_t through_host = copy_ns();
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_REFUSED(CUDA_ERROR_INVALID_DEVICE, "no device that can reach", cuMemPoolSetAccess(pool, &access, 1));
  access.location.id = 1;
  EXPECT(cuMemPoolSetAccess(pool, &access, 1) == CUDA_SUCCESS);
  EXPECT(copy_ns() < through_host);
  tern_emulator_set("peers=0");
  EXPECT(cuDeviceCanAccessPeer(&can, 1, 0) == CUDA_SUCCESS && can == 0);
  // A kernel on one device cannot reach the memory of the other.
  Kernels k(R"(extern "C" __global__ void clear(int* x) { x[threadIdx.x] = 0; })");
  EXPECT(launch(k["clear"], {1, 4}, s, a.pointer) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_ERROR_ILLEGAL_ADDRESS);
  // And the error is that device's alone.
  EXPECT(cuMemsetD8Async(b, 0, 16, s) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuCtxSetCurrent(first) == CUDA_SUCCESS);
  EXPECT(a.values()[3] == 4);
}
