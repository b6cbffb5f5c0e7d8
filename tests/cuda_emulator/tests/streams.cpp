// Streams, events, host functions: what is ordered behind what.
#include <thread>

#include "device.hpp"

using namespace emulator_test;

CHILD_CASE("cuda emulator: nothing runs until it is waited for, and then no more than that") {
  start();
  Stream s, t;
  static int order = 0, first = 0, second = 0;
  EXPECT(cuLaunchHostFunc(s, [](void*) { first = ++order; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(t, [](void*) { second = ++order; }, nullptr) == CUDA_SUCCESS);
  EXPECT(order == 0);
  EXPECT(cuStreamSynchronize(t) == CUDA_SUCCESS);
  EXPECT(second == 1);
  EXPECT(first == 0);
  EXPECT(cuCtxSynchronize() == CUDA_SUCCESS);
  EXPECT(first == 2);
}

CHILD_CASE("cuda emulator: a stream holds a bounded number of operations") {
  start();
  Stream s;
  static int done = 0;
  for (int i = 0; i < 1024; ++i) EXPECT(cuLaunchHostFunc(s, [](void*) { ++done; }, nullptr) == CUDA_SUCCESS);
  EXPECT(done == 0);
  EXPECT(cuLaunchHostFunc(s, [](void*) { ++done; }, nullptr) == CUDA_SUCCESS);
  EXPECT(done == 513);
}

CHILD_CASE("cuda emulator: a query gets on by one step") {
  start();
  Stream s;
  Event e;
  Array<int> a(4);
  for (int i = 0; i < 3; ++i) EXPECT(cuMemsetD8Async(a, 0, 16, s) == CUDA_SUCCESS);
  EXPECT(cuEventQuery(e) == CUDA_SUCCESS);  // never recorded: nothing to wait for
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  int polls = 0;
  while (cuEventQuery(e) == CUDA_ERROR_NOT_READY) ++polls;
  EXPECT(polls == 4);
  EXPECT(cuMemsetD8Async(a, 0, 16, s) == CUDA_SUCCESS);
  EXPECT(cuStreamQuery(s) == CUDA_ERROR_NOT_READY);
  EXPECT(cuStreamQuery(s) == CUDA_SUCCESS);
}

CHILD_CASE("cuda emulator: the legacy stream is ordered with blocking streams, not with the others") {
  start();
  static int done = 0;
  Stream blocking(CU_STREAM_DEFAULT), free(CU_STREAM_NON_BLOCKING);
  EXPECT(cuLaunchHostFunc(blocking, [](void*) { done += 1; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(free, [](void*) { done += 10; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(nullptr, [](void*) { done += 100; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(blocking, [](void*) { done += 1000; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
  EXPECT(done == 101);
  EXPECT(cuStreamSynchronize(blocking) == CUDA_SUCCESS);
  EXPECT(done == 1101);
}

CHILD_CASE("cuda emulator: an event holds what was recorded last") {
  start();
  Stream s, t;
  Event e;
  static int done = 0;
  EXPECT(cuLaunchHostFunc(s, [](void*) { ++done; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(s, [](void*) { ++done; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuEventSynchronize(e) == CUDA_SUCCESS);
  EXPECT(done == 1);
  EXPECT(cuStreamWaitEvent(t, e, 0) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(t) == CUDA_SUCCESS);  // waits for what was recorded when it was told to
  EXPECT(done == 1);
}

CHILD_CASE("cuda emulator: a host function must not call CUDA, and blocks no other thread") {
  start();
  Stream s, t;
  static int status = -1, entered = 0;
  EXPECT(cuLaunchHostFunc(s, [](void*) { status = cuCtxSynchronize(); }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(status == CUDA_ERROR_NOT_PERMITTED);
  EXPECT(said("must not call CUDA"));
  // This one waits for a thread that itself needs the driver.
  static std::thread* other = nullptr;
  CUcontext context = nullptr;
  EXPECT(cuCtxGetCurrent(&context) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(
             s,
             [](void*) {
               other->join();
               entered = 1;
             },
             nullptr) == CUDA_SUCCESS);
  std::thread worker([&] {
    cuCtxSetCurrent(context);
    std::size_t free, total;
    status = cuMemGetInfo_v2(&free, &total);
  });
  other = &worker;
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(entered == 1);
  EXPECT(status == CUDA_SUCCESS);
}

CHILD_CASE("cuda emulator: a destroyed stream's work is done, its handle is not") {
  start();
  static int done = 0;
  CUstream s = nullptr;
  Event e;
  EXPECT(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  EXPECT(cuLaunchHostFunc(s, [](void*) { ++done; }, nullptr) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT(cuStreamDestroy_v2(s) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "destroyed", cuStreamDestroy_v2(s));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "destroyed", cuStreamSynchronize(s));
  EXPECT(cuEventSynchronize(e) == CUDA_SUCCESS);
  EXPECT(done == 1);
}

CHILD_CASE("cuda emulator: what streams and events refuse") {
  start();
  CUstream s = nullptr;
  CUevent e = nullptr;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "flags", cuStreamCreate(&s, 8));
  EXPECT_REFUSED(CUDA_ERROR_NOT_SUPPORTED, "PER_THREAD", cuStreamSynchronize(reinterpret_cast<CUstream>(2)));
  EXPECT(cuStreamSynchronize(reinterpret_cast<CUstream>(1)) == CUDA_SUCCESS);  // CU_STREAM_LEGACY
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "flags", cuEventCreate(&e, 4));
  EXPECT(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "EXTERNAL", cuStreamWaitEvent(nullptr, e, 1));
  Event timed, other;
  float ms = 0;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "DISABLE_TIMING", cuEventElapsedTime(&ms, e, timed));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "never recorded", cuEventElapsedTime(&ms, timed, other));
  EXPECT(cuEventRecord(timed, nullptr) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(other, nullptr) == CUDA_SUCCESS);
  EXPECT(cuEventElapsedTime(&ms, timed, other) == CUDA_ERROR_NOT_READY);
  EXPECT(cuEventSynchronize(other) == CUDA_SUCCESS);
  EXPECT(cuEventElapsedTime_v2(&ms, timed, other) == CUDA_SUCCESS);
  EXPECT(cuEventDestroy_v2(e) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "no such event", cuEventDestroy_v2(e));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "no such event", cuEventRecord(e, nullptr));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "no such event", cuEventQuery(e));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "no such event", cuEventSynchronize(e));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "no such event", cuStreamWaitEvent(nullptr, e, 0));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "no such event", cuEventElapsedTime(&ms, e, timed));
}

CHILD_CASE("cuda emulator: an event goes with its context's streams") {
  tern_emulator_set("devices=2");
  start();
  Event e;
  CUcontext second = nullptr;
  EXPECT(cuDevicePrimaryCtxRetain(&second, 1) == CUDA_SUCCESS);
  EXPECT(cuCtxSetCurrent(second) == CUDA_SUCCESS);
  Stream s;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_HANDLE, "different contexts", cuEventRecord(e, s));
  EXPECT(cuStreamWaitEvent(s, e, 0) == CUDA_SUCCESS);
}
