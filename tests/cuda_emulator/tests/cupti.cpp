// libcupti: one subscriber, callbacks around calls, and records of what they queued.
#include <algorithm>
#include <cstddef>

#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* machine =
    "call_ns=0,kernel_ns=1000,copy_ns=500,h2d_pinned=10,h2d_pageable=4,d2h_pinned=8,d2h_pageable=2,memory_rate=100,"
    "float32=1000";

struct Seen {
  int kind, copy_kind, source, target;
  std::uint64_t bytes, start, end;
  std::uint32_t correlation;
  std::string name;
};
std::vector<Seen> seen;
std::vector<std::uint32_t> told;
alignas(16) std::uint8_t buffer[1000];
std::size_t offset = 0, room = sizeof buffer;  // of the buffer that is handed out
int buffers = 0;

void request(std::uint8_t** memory, std::size_t* bytes, std::size_t* most) {
  *memory = buffer + offset, *bytes = room, *most = 0;
}

void complete(CUcontext, std::uint32_t, std::uint8_t* memory, std::size_t, std::size_t valid) {
  ++buffers;
  CUpti_Activity* record = nullptr;
  while (valid && cuptiActivityGetNextRecord(memory, valid, &record) == CUPTI_SUCCESS) {
    const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpy*>(record);
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      seen.push_back(
          {1, copy.copyKind, copy.srcKind, copy.dstKind, copy.bytes, copy.start, copy.end, copy.correlationId, ""});
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      const auto& fill = *reinterpret_cast<const CUpti_ActivityMemset*>(record);
      seen.push_back({2, 0, 0, 0, fill.bytes, fill.start, fill.end, fill.correlationId, ""});
    } else {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel*>(record);
      seen.push_back({record->kind, 0, 0, 0, 0, kernel.start, kernel.end, kernel.correlationId, kernel.name});
    }
  }
}

void tell(void*, int, std::uint32_t, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_ENTER) told.push_back(call.correlationId);
}

void enable_all() {
  EXPECT(cuptiActivityRegisterCallbacks(request, complete) == CUPTI_SUCCESS);
  for (const int kind : {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL})
    EXPECT(cuptiActivityEnable(kind) == CUPTI_SUCCESS);
}

}  // namespace

CHILD_CASE("cuda emulator: cupti records what was queued, with the times of the model, once it has run") {
  tern_emulator_set(machine);
  start();
  Stream s;
  Array<char> a(100000);
  Pinned<char> p(100000);
  const Kernels kernels("extern \"C\" __global__ void nothing() {}");
  enable_all();
  EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 100000, s) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(a, 0, 100000, s) == CUDA_SUCCESS);
  EXPECT(launch(kernels["nothing"], {}, s) == CUDA_SUCCESS);
  EXPECT(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  EXPECT(seen.empty());  // nothing has run
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  EXPECT(seen.size() == 3);
  const auto by_start = [](const Seen& x, const Seen& y) { return x.start < y.start; };
  std::sort(seen.begin(), seen.end(), by_start);
  EXPECT(seen[0].kind == CUPTI_ACTIVITY_KIND_MEMCPY && seen[0].copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT(seen[0].source == CUPTI_ACTIVITY_MEMORY_KIND_PINNED && seen[0].target == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  EXPECT(seen[0].bytes == 100000 && seen[0].end - seen[0].start == 10500);
  EXPECT(seen[1].kind == CUPTI_ACTIVITY_KIND_MEMSET && seen[1].start == seen[0].end &&
         seen[1].end - seen[1].start == 2000);
  EXPECT(seen[2].name == "nothing" && seen[2].end - seen[2].start == 1000);
  EXPECT(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  EXPECT(seen.size() == 3);  // each once
  std::uint64_t now = 0;
  EXPECT(cuptiGetTimestamp(&now) == CUPTI_SUCCESS && now == seen[2].end);
  EXPECT(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS);
  EXPECT(cuMemcpyHtoDAsync_v2(a, p.data, 100000, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  EXPECT(seen.size() == 3);
}

CHILD_CASE("cuda emulator: a graph's nodes are recorded, each with the number of the graph's launch") {
  tern_emulator_set(machine);
  start();
  Stream s;
  Array<char> a(100000);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUpti_SubscriberHandle subscriber = nullptr;
  EXPECT(cuptiSubscribe(&subscriber, tell, nullptr) == CUPTI_SUCCESS);
  EXPECT(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch) ==
         CUPTI_SUCCESS);
  enable_all();
  EXPECT(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(a, 1, 100000, s) == CUDA_SUCCESS);
  EXPECT(cuMemsetD8Async(a, 2, 50000, s) == CUDA_SUCCESS);
  EXPECT(cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
  EXPECT(cuGraphInstantiateWithFlags(&executable, graph, 0) == CUDA_SUCCESS);
  EXPECT(cuGraphLaunch(executable, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  EXPECT(seen.size() == 2 && told.size() == 1);
  EXPECT(seen[0].correlation == told[0] && seen[1].correlation == told[0]);
  EXPECT(seen[0].bytes == 50000 && seen[1].bytes == 100000);  // in the other order
  EXPECT(seen[1].end - seen[1].start == 2000 && seen[0].start == seen[1].end);
  EXPECT(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  EXPECT(cuGraphDestroy(graph) == CUDA_SUCCESS);
  EXPECT(cuptiUnsubscribe(subscriber) == CUPTI_SUCCESS);
}

CHILD_CASE("cuda emulator: a forced flush of cupti hands over work without its times") {
  start();
  Stream s;
  Array<char> a(100000);
  enable_all();
  EXPECT(cuMemsetD8Async(a, 1, 100000, s) == CUDA_SUCCESS);
  EXPECT(cuptiActivityFlushAll(1) == CUPTI_SUCCESS);
  EXPECT(seen.size() == 1 && seen[0].start == 0 && seen[0].end == 0 && seen[0].bytes == 100000);
}

CHILD_CASE("cuda emulator: cupti's records fill as many buffers as they need") {
  start();
  Stream s;
  Array<char> a(100000);
  enable_all();
  room = 200;  // two fills
  for (int i = 0; i < 5; ++i) EXPECT(cuMemsetD8Async(a, 1, 100000, s) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  EXPECT(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  EXPECT(seen.size() == 5 && buffers == 3);
}

CHILD_CASE("cuda emulator: what cupti refuses") {
  CUpti_SubscriberHandle subscriber = nullptr, second = nullptr;
  const char* text = nullptr;
  std::uint32_t version = 0;
  CUpti_Activity* record = nullptr;
  tern_emulator_set("cupti=130000");
  EXPECT(cuptiGetVersion(&version) == CUPTI_SUCCESS && version == 130000);
  EXPECT(cuptiGetResultString(39, &text) == CUPTI_SUCCESS &&
         std::string(text) == "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "no result", cuptiGetResultString(12345, &text));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "no place", cuptiSubscribe(nullptr, tell, nullptr));
  EXPECT(cuptiSubscribe(&subscriber, tell, nullptr) == CUPTI_SUCCESS);
  EXPECT_REFUSED(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "a subscriber already",
                 cuptiSubscribe(&second, tell, nullptr));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "not the handle", cuptiEnableCallback(1, second, 1, 307));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "unknown", cuptiEnableCallback(1, subscriber, 1, 5000));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "unknown", cuptiEnableCallback(1, subscriber, 7, 307));
  EXPECT(cuptiUnsubscribe(subscriber) == CUPTI_SUCCESS);
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "not the handle", cuptiUnsubscribe(subscriber));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_OPERATION, "has not been called", cuptiActivityFlushAll(0));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "both callbacks", cuptiActivityRegisterCallbacks(request, nullptr));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_KIND, "kind 999", cuptiActivityEnable(999));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "no buffer", cuptiActivityGetNextRecord(nullptr, 0, &record));
  enable_all();
  EXPECT_REFUSED(CUPTI_ERROR_NOT_COMPATIBLE, "exclude each other", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL));
  EXPECT_REFUSED(CUPTI_ERROR_INVALID_PARAMETER, "unknown flags", cuptiActivityFlushAll(2));
  start();
  Stream s;
  Array<char> a(100000);
  const auto fill_and_flush = [&] {
    cuMemsetD8Async(a, 1, 100000, s);
    cuStreamSynchronize(s);
    return cuptiActivityFlushAll(0);
  };
  offset = 4;
  EXPECT_REFUSED(CUPTI_ERROR_UNKNOWN, "aligned to 8", fill_and_flush());
  offset = 0;
  room = 50;
  EXPECT_REFUSED(CUPTI_ERROR_UNKNOWN, "no record fits", fill_and_flush());
  EXPECT(seen.empty());
}
