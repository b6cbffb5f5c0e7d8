// Calls that a test makes fail, and the census that shows what a program forgot.
#include "device.hpp"

using namespace emulator_test;

CHILD_CASE("cuda emulator: the nth call of a function fails, with its own error or another") {
  start();
  CUdeviceptr p = 0, q = 0;
  tern_emulator_fail("cuMemAlloc_v2", 2, 0);
  EXPECT(cuMemAlloc_v2(&p, 4) == CUDA_SUCCESS);
  EXPECT(cuMemAlloc_v2(&q, 4) == CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT(cuMemAlloc_v2(&q, 4) == CUDA_SUCCESS);
  EXPECT(tern_emulator_calls("cuMemAlloc_v2") == 3);
  EXPECT(tern_emulator_calls("cuMemFree_v2") == 0);
  tern_emulator_fail("*", 2, CUDA_ERROR_UNKNOWN);
  EXPECT(cuCtxSynchronize() == CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_UNKNOWN);
  EXPECT(tern_emulator_calls(nullptr) == 2);
}

CHILD_CASE("cuda emulator: a release that fails has released all the same") {
  start();
  CUdeviceptr p = 0;
  EXPECT(cuMemAlloc_v2(&p, 4) == CUDA_SUCCESS);
  tern_emulator_fail("cuMemFree_v2", 1, 0);
  EXPECT(cuMemFree_v2(p) == CUDA_ERROR_UNKNOWN);
  EXPECT(tern_emulator_live("memory") == 0);
  nvrtcProgram program = nullptr;
  EXPECT(nvrtcCreateProgram(&program, "", nullptr, 0, nullptr, nullptr) == NVRTC_SUCCESS);
  tern_emulator_fail("nvrtcDestroyProgram", 1, 0);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_ERROR_INTERNAL_ERROR);
  EXPECT(tern_emulator_live("program") == 0);
}

CHILD_CASE("cuda emulator: releases work on a broken device, and say so") {
  start();
  CUdeviceptr p = 0;
  CUstream s = nullptr;
  EXPECT(cuMemAlloc_v2(&p, 4) == CUDA_SUCCESS);
  EXPECT(cuStreamCreate(&s, 0) == CUDA_SUCCESS);
  tern_emulator_break(0, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cuMemFree_v2(p) == CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cuStreamDestroy_v2(s) == CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(tern_emulator_live("memory") + tern_emulator_live("stream") == 0);
}

// A program that cleans up after itself, made to fail at each of its calls in turn.
CHILD_CASE("cuda emulator: whichever call fails, a careful program leaks nothing") {
  const std::string cubin = compile(R"(extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; })");
  const auto program = [&] {
    Stream s;
    Event e;
    Array<int> a(std::vector<int>{1, 2, 3, 4});
    struct Module {
      CUmodule handle = nullptr;
      ~Module() {
        if (handle) cuModuleUnload(handle);
      }
    } m;
    CUfunction f = nullptr;
    if (cuModuleLoadData(&m.handle, cubin.data()) || cuModuleGetFunction(&f, m.handle, "twice"))
      throw std::runtime_error("module");
    if (launch(f, {1, 4}, s, a.pointer) || cuEventRecord(e, s) || cuEventSynchronize(e))
      throw std::runtime_error("launch");
    EXPECT(a.values()[3] == 8);
  };
  start();
  tern_emulator_fail(nullptr, 0, 0);
  program();
  const std::uint64_t calls = tern_emulator_calls(nullptr);
  EXPECT(calls > 12);
  int thrown = 0;
  for (std::uint64_t n = 1; n <= calls; ++n) {
    tern_emulator_fail(nullptr, n, 0);
    try {
      program();
    } catch (const std::runtime_error&) { ++thrown; }
    tern_emulator_fail(nullptr, 0, 0);
    EXPECT(tern_emulator_live(nullptr) == 1);  // the context
  }
  EXPECT(thrown >= 8);
}

CHILD_CASE("cuda emulator: a forgotten object is in the census") {
  start();
  CUevent e = nullptr;
  const std::int64_t before = tern_emulator_live(nullptr);
  EXPECT(cuEventCreate(&e, 0) == CUDA_SUCCESS);
  EXPECT(tern_emulator_live("event") == 1);
  EXPECT(tern_emulator_live(nullptr) == before + 1);
}
