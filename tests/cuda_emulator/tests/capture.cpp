// Stream capture: the graph does what the stream would have done, and what may not be called meanwhile.
#include <thread>

#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* add = R"(extern "C" __global__ void add(int* x, int v) { x[threadIdx.x] += v; })";

void begin(CUstream s, int mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
  EXPECT(cuStreamBeginCapture_v2(s, mode) == CUDA_SUCCESS);
}

// Ends the capture that the refused call has invalidated.
void expect_invalid(CUstream s) {
  int status = -1;
  EXPECT(cuStreamIsCapturing(s, &status) == CUDA_SUCCESS);
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  CUgraph graph = nullptr;
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "invalidated", cuStreamEndCapture(s, &graph));
  EXPECT(!graph);
  EXPECT(cuStreamIsCapturing(s, &status) == CUDA_SUCCESS);
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
}

}  // namespace

CHILD_CASE("cuda emulator: a graph runs what was captured, as often as it is launched") {
  start();
  Stream s, t;
  Event fork, join;
  Kernels k(add);
  CUfunction f = k["add"];
  Array<int> x(std::vector<int>(4, 0)), y(std::vector<int>(4, 0));
  Pinned<int> out(4, -1);
  begin(s);
  int status = 0;
  EXPECT(cuStreamIsCapturing(s, &status) == CUDA_SUCCESS);
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT(launch(f, {1, 4}, s, x.pointer, 1) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(fork, s) == CUDA_SUCCESS);
  EXPECT(cuStreamWaitEvent(t, fork, 0) == CUDA_SUCCESS);  // t joins the capture
  EXPECT(cuMemcpyDtoDAsync_v2(y, x, 16, t) == CUDA_SUCCESS);
  EXPECT(cuEventRecord(join, t) == CUDA_SUCCESS);
  EXPECT(cuStreamWaitEvent(s, join, 0) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoHAsync_v2(out.data, y, 16, s) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&executable, graph, 0) == CUDA_SUCCESS);
  EXPECT(cuGraphDestroy(graph) == CUDA_SUCCESS);
  EXPECT(out[0] == -1);  // nothing has run
  for (int i = 1; i <= 100; ++i) {
    EXPECT(cuGraphLaunch(executable, i % 2 ? s : t) == CUDA_SUCCESS);
    if (i % 10) continue;
    EXPECT(cuStreamSynchronize(t) == CUDA_SUCCESS);
    EXPECT(out[3] == i);
  }
  EXPECT(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  EXPECT(tern_emulator_live("graph") + tern_emulator_live("executable graph") == 0);
}

CHILD_CASE("cuda emulator: synchronising or querying a stream in capture") {
  start();
  Stream s;
  begin(s);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "wait for or to query", cuStreamSynchronize(s));
  expect_invalid(s);
  begin(s);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "wait for or to query", cuStreamQuery(s));
  expect_invalid(s);
  begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "wait for or to query", cuCtxSynchronize());
  expect_invalid(s);
}

CHILD_CASE("cuda emulator: an event of a capture cannot be waited for by the host") {
  start();
  Stream s;
  Event e, timed;
  begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_CAPTURED_EVENT, "in capture", cuEventQuery(e));
  expect_invalid(s);
  begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_CAPTURED_EVENT, "in capture", cuEventSynchronize(e));
  expect_invalid(s);
  // Nor after the capture.
  EXPECT_REFUSED(CUDA_ERROR_CAPTURED_EVENT, "in capture", cuEventSynchronize(e));
  EXPECT_REFUSED(CUDA_ERROR_CAPTURED_EVENT, "has ended", cuStreamWaitEvent(s, e, 0));
  float ms = 0;
  EXPECT(cuEventRecord(timed, s) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_CAPTURED_EVENT, "no time", cuEventElapsedTime(&ms, timed, e));
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT(cuEventSynchronize(e) == CUDA_SUCCESS);
}

CHILD_CASE("cuda emulator: potentially unsafe calls during a capture") {
  start();
  Stream s, other;
  Event e;
  Array<int> a(4);
  Pinned<int> p(4);
  Kernels k(add);
  const std::string cubin = compile(add);
  int local[4];
  CUdeviceptr pointer = 0;
  void* host = nullptr;
  CUmodule module = nullptr;
  const auto unsafe = [&](auto call) {
    begin(s);
    EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "potentially unsafe", call());
    expect_invalid(s);
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT(call() == CUDA_SUCCESS);
    CUgraph graph = nullptr;
    EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
    EXPECT(cuGraphDestroy(graph) == CUDA_SUCCESS);
  };
  unsafe([&] { return cuMemAlloc_v2(&pointer, 16); });
  unsafe([&] { return cuMemFree_v2(pointer); });
  unsafe([&] { return cuMemHostAlloc(&host, 16, 0); });
  unsafe([&] { return cuMemFreeHost(host); });
  unsafe([&] { return cuMemcpyHtoD_v2(a, local, 16); });
  unsafe([&] { return cuMemcpyDtoH_v2(local, a, 16); });
  unsafe([&] { return cuStreamSynchronize(other); });
  unsafe([&] { return cuStreamQuery(other); });
  unsafe([&] { return cuEventQuery(e); });
  unsafe([&] { return cuEventSynchronize(e); });
  unsafe([&] { return cuModuleLoadData(&module, cubin.data()); });
  unsafe([&] { return cuModuleUnload(module); });
}

CHILD_CASE("cuda emulator: a thread's capture forbids unsafe calls to others only in global mode") {
  CUcontext context = start();
  Stream s;
  const auto allocate_elsewhere = [&] {
    int status = -1;
    std::thread([&] {
      cuCtxSetCurrent(context);
      CUdeviceptr p = 0;
      status = cuMemAlloc_v2(&p, 16);
    }).join();
    return status;
  };
  begin(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT(allocate_elsewhere() == CUDA_SUCCESS);
  CUdeviceptr p = 0;
  EXPECT(cuMemAlloc_v2(&p, 16) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(s);
  begin(s);
  EXPECT(allocate_elsewhere() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(s);
}

CHILD_CASE("cuda emulator: the legacy stream during a capture") {
  start();
  Stream blocking(CU_STREAM_DEFAULT), free(CU_STREAM_NON_BLOCKING);
  Event e;
  Array<int> a(4);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "legacy stream cannot be captured",
                 cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  begin(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "blocking stream is captured", cuMemsetD8Async(a, 0, 16, nullptr));
  expect_invalid(blocking);
  begin(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "blocking stream is captured", cuStreamSynchronize(nullptr));
  expect_invalid(blocking);
  begin(free);
  EXPECT(cuMemsetD8Async(a, 0, 16, nullptr) == CUDA_SUCCESS);  // no order between the two
  EXPECT(cuEventRecord(e, free) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "legacy stream waits", cuStreamWaitEvent(nullptr, e, 0));
  expect_invalid(free);
}

CHILD_CASE("cuda emulator: captures do not mix with each other or with what is not captured") {
  start();
  Stream s, t;
  Event e;
  begin(s);
  begin(t);
  EXPECT(cuEventRecord(e, t) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_MERGE, "of another", cuStreamWaitEvent(s, e, 0));
  expect_invalid(s);
  expect_invalid(t);
  EXPECT(cuEventRecord(e, t) == CUDA_SUCCESS);
  begin(s);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "outside the capture", cuStreamWaitEvent(s, e, 0));
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "has been invalidated",
                 cuLaunchHostFunc(s, [](void*) {}, nullptr));
  expect_invalid(s);
}

CHILD_CASE("cuda emulator: how a capture begins and ends") {
  CUcontext context = start();
  Stream s, t;
  Event e;
  Array<int> a(4);
  CUgraph graph = nullptr;
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "mode", cuStreamBeginCapture_v2(s, 7));
  EXPECT_REFUSED(CUDA_ERROR_ILLEGAL_STATE, "not in capture", cuStreamEndCapture(s, &graph));
  begin(s);
  EXPECT_REFUSED(CUDA_ERROR_ILLEGAL_STATE, "already", cuStreamBeginCapture_v2(s, 0));
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT(cuStreamWaitEvent(t, e, 0) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "another stream", cuStreamEndCapture(t, &graph));
  expect_invalid(s);
  begin(s);
  EXPECT(cuEventRecord(e, s) == CUDA_SUCCESS);
  EXPECT(cuStreamWaitEvent(t, e, 0) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(a, 0, 16, t) == CUDA_SUCCESS);  // and s never waits for it
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "does not wait for", cuStreamEndCapture(s, &graph));
  begin(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  int status = -1;
  std::thread([&] {
    cuCtxSetCurrent(context);
    status = cuStreamEndCapture(s, &graph);
  }).join();
  EXPECT(status == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  EXPECT(said("another thread began"));
  expect_invalid(s);
}

CHILD_CASE("cuda emulator: what cannot be captured") {
  start();
  Stream s;
  Array<int> a(4);
  int local[4];
  begin(s);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "pageable", cuMemcpyHtoDAsync_v2(a, local, 16, s));
  expect_invalid(s);
  begin(s);
  EXPECT_REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "pageable", cuMemcpyDtoHAsync_v2(local, a, 16, s));
  expect_invalid(s);
  begin(s);
  CUdeviceptr p = 0;
  EXPECT_REFUSED(CUDA_ERROR_NOT_SUPPORTED, "allocation nodes", cuMemAllocAsync(&p, 16, s));
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "own allocation", cuMemFreeAsync(a, s));
  CUgraph graph = nullptr;
  EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
}

CHILD_CASE("cuda emulator: a replay from pinned memory that was freed") {
  start();
  Stream s;
  Array<int> a(4);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  {
    Pinned<int> p(4, 1);
    begin(s);
    EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 16, s) == CUDA_SUCCESS);
    EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
  }
  EXPECT(cuGraphInstantiateWithFlags(&executable, graph, 0) == CUDA_SUCCESS);
  EXPECT(cuGraphLaunch(executable, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(std::string(tern_emulator_message()).find("inside one pinned allocation") != std::string::npos);
}

CHILD_CASE("cuda emulator: graphs that do not exist, and a replay into freed memory") {
  start();
  Stream s;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  {
    Array<int> a(4);
    begin(s);
    EXPECT(cuMemsetD8Async(a, 0, 16, s) == CUDA_SUCCESS);
    EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
    EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "flags", cuGraphInstantiateWithFlags(&executable, graph, 1));
    EXPECT(cuGraphInstantiateWithFlags(&executable, graph, 0) == CUDA_SUCCESS);
    EXPECT(cuGraphDestroy(graph) == CUDA_SUCCESS);
    EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "no such graph", cuGraphDestroy(graph));
    EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "no such graph", cuGraphInstantiateWithFlags(&executable, graph, 0));
    EXPECT(cuGraphLaunch(executable, s) == CUDA_SUCCESS);
    EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  }
  EXPECT(cuGraphLaunch(executable, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDA_ERROR_INVALID_VALUE, "no such graph", cuGraphExecDestroy(executable));
}
