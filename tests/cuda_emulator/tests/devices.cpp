// Initialisation, devices, contexts, errors.
#include <thread>

#include "device.hpp"

using namespace emulator_test;

CHILD_CASE("cuda emulator: nothing works before cuInit") {
  int count = 0;
  EXPECT_REFUSED(CUDA_ERROR_NOT_INITIALIZED, "cuInit", cuDeviceGetCount(&count));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "flags", cuInit(1));
  EXPECT(cuInit(0) == CUDA_SUCCESS);
  EXPECT(cuDeviceGetCount(&count) == CUDA_SUCCESS);
  EXPECT(count == 1);
}

CHILD_CASE("cuda emulator: a context is needed, and released with what it holds") {
  EXPECT(cuInit(0) == CUDA_SUCCESS);
  CUdeviceptr p = 0;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_CONTEXT, "no current context", cuMemAlloc_v2(&p, 4));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_CONTEXT, "not retained", cuDevicePrimaryCtxRelease_v2(0));
  CUcontext context = start(), current = nullptr;
  EXPECT(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  EXPECT(current == context);
  CUdevice device = 9;
  EXPECT(cuCtxGetDevice(&device) == CUDA_SUCCESS);
  EXPECT(device == 0);
  EXPECT(cuMemAlloc_v2(&p, 4) == CUDA_SUCCESS);
  CUevent event = nullptr;
  EXPECT(cuEventCreate(&event, 0) == CUDA_SUCCESS);
  EXPECT(tern_emulator_live(nullptr) == 3);
  EXPECT(cuDevicePrimaryCtxRelease_v2(0) == CUDA_SUCCESS);
  EXPECT(tern_emulator_live(nullptr) == 0);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_CONTEXT, "has been released", cuCtxSetCurrent(context));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_CONTEXT, "no current context", cuMemAlloc_v2(&p, 4));
  start();
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "no such event", cuEventQuery(event));
}

CHILD_CASE("cuda emulator: a thread has a context of its own") {
  start();
  int status = -1;
  std::thread([&] {
    CUdeviceptr p;
    status = cuMemAlloc_v2(&p, 4);
  }).join();
  EXPECT(status == CUDA_ERROR_INVALID_CONTEXT);
}

CHILD_CASE("cuda emulator: device properties") {
  tern_emulator_set("capability=86,devices=2,memory=1000");
  start();
  int value = 0;
  EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1) == CUDA_SUCCESS);
  EXPECT(value == 8);
  EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0) == CUDA_SUCCESS);
  EXPECT(value == 6);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "not emulated", cuDeviceGetAttribute(&value, 9999, 0));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_DEVICE, "no such device", cuDeviceGetAttribute(&value, 10, 2));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_DEVICE, "no such device", cuDeviceGet(&value, 2));
  CUcontext context = nullptr;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_DEVICE, "no such device", cuDevicePrimaryCtxRetain(&context, -1));
  std::size_t bytes = 0;
  EXPECT(cuDeviceTotalMem_v2(&bytes, 1) == CUDA_SUCCESS);
  EXPECT(bytes == 1000);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_DEVICE, "no such device", cuDeviceTotalMem_v2(&bytes, 7));
  char name[64];
  EXPECT(cuDeviceGetName(name, sizeof name, 0) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_DEVICE, "no such device", cuDeviceGetName(name, sizeof name, 7));
  EXPECT(cuDriverGetVersion(&value) == CUDA_SUCCESS);
  EXPECT(value == 13000);
}

CHILD_CASE("cuda emulator: no device, and an unknown setting") {
  EXPECT(tern_emulator_set("devices=0") == 0);
  EXPECT(cuInit(0) == CUDA_ERROR_NO_DEVICE);
  EXPECT(tern_emulator_set("divices=1") == 1);
  EXPECT(tern_emulator_set("order=soon") == 1);
  EXPECT(tern_emulator_set("memory=lots") == 1);
}

CHILD_CASE("cuda emulator: errors have names and texts") {
  const char* text = nullptr;
  EXPECT(cuGetErrorName(700, &text) == CUDA_SUCCESS);
  EXPECT(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT(cuGetErrorString(2, &text) == CUDA_SUCCESS);
  EXPECT(std::string(text) == "out of memory");
  EXPECT(cuGetErrorString(31415, &text) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(!text);
}

CHILD_CASE("cuda emulator: a forked child cannot use what its parent has begun") {
  start();
  EXPECT(in_child([] {
           int count = 0;
           EXPECT_REFUSED(CUDA_ERROR_NOT_INITIALIZED, "forked", cuDeviceGetCount(&count));
           EXPECT_REFUSED(CUDA_ERROR_NOT_INITIALIZED, "forked", cuInit(0));
         }) == "");
}

CHILD_CASE("cuda emulator: reset makes a new machine") {
  start();
  CUdeviceptr p = 0;
  EXPECT(cuMemAlloc_v2(&p, 4) == CUDA_SUCCESS);
  tern_emulator_break(0, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cuMemAlloc_v2(&p, 4) == CUDA_ERROR_LAUNCH_FAILED);
  tern_emulator_reset();
  EXPECT(tern_emulator_live(nullptr) == 0);
  EXPECT_REFUSED(CUDA_ERROR_NOT_INITIALIZED, "cuInit", cuMemAlloc_v2(&p, 4));
  start();
  EXPECT(Array<int>(std::vector<int>{7}).values()[0] == 7);
}
