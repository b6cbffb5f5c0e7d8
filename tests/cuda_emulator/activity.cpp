#include "activity.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "settings.hpp"
#include "state.hpp"

namespace emulator {

using namespace abi;

namespace {

std::atomic<std::uint32_t> calls{0};
thread_local std::uint32_t current_correlation = 0;

struct TracedFunction {
  std::string_view name;
  std::uint32_t cbid;
};
constexpr TracedFunction traced_functions[] = {
    {"cuLaunchKernel", CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
    {"cuGraphLaunch", CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch},
    {"cuMemcpyHtoDAsync_v2", CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2},
    {"cuMemcpyDtoHAsync_v2", CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2},
    {"cuMemcpyDtoDAsync_v2", CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2},
    {"cuMemcpyPeerAsync", CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync},
    {"cuMemsetD8Async", CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async},
    {"cuMemsetD32Async", CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async},
};

template <class Record>
std::vector<unsigned char> bytes_of(const Record& record, std::size_t size) {
  // Records have more members than those that the versions agree on; nobody may read them.
  std::vector<unsigned char> bytes(size, 0xff);
  std::memcpy(bytes.data(), &record, sizeof record);
  return bytes;
}

// Fills what all records have.
template <class Record>
Record common(const Stream& stream, int kind, std::uint64_t start, std::uint64_t end) {
  Record record{};
  record.kind = kind;
  record.start = start;
  record.end = end;
  record.deviceId = static_cast<std::uint32_t>(stream.context->ordinal);
  record.contextId = record.deviceId + 1;
  record.correlationId = current_correlation;
  return record;
}

}  // namespace

Cupti& cupti() {
  static Cupti& c = *new Cupti;
  return c;
}

Activity kernel_activity(const char* name) {
  static std::set<std::string>& names = *new std::set<std::string>;
  return {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, names.insert(name).first->c_str()};
}

void note_activity(Stream& stream, const Work& work, std::uint64_t start, std::uint64_t end, std::uint64_t count) {
  const Activity& a = work.activity;
  const auto& kinds = cupti().kinds;
  const auto enabled = [&](int kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
  const bool is_kernel = a.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  if (!enabled(a.kind) && !(is_kernel && enabled(CUPTI_ACTIVITY_KIND_KERNEL))) return;
  const bool old = settings().cupti < 130000;  // sizes of CUDA 12's and of CUDA 13's
  std::vector<unsigned char> bytes;
  if (is_kernel) {
    auto record =
        common<CUpti_ActivityKernel>(stream, enabled(a.kind) ? a.kind : CUPTI_ACTIVITY_KIND_KERNEL, start, end);
    record.name = a.name;
    bytes = bytes_of(record, old ? 200 : 224);
  } else if (a.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    auto record = common<CUpti_ActivityMemset>(stream, a.kind, start, end);
    record.bytes = a.bytes;
    bytes = bytes_of(record, 88);
  } else if (a.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    auto record = common<CUpti_ActivityMemcpy>(stream, a.kind, start, end);
    record.bytes = a.bytes;
    record.copyKind = a.copy_kind, record.srcKind = a.source, record.dstKind = a.target;
    bytes = bytes_of(record, old ? 88 : 96);
  } else if (a.kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
    auto record = common<CUpti_ActivityMemcpyPtoP>(stream, a.kind, start, end);
    record.bytes = a.bytes;
    record.copyKind = a.copy_kind, record.srcKind = a.source, record.dstKind = a.target;
    record.srcDeviceId = static_cast<std::uint32_t>(a.source_device);
    record.dstDeviceId = static_cast<std::uint32_t>(a.target_device);
    bytes = bytes_of(record, 96);
  }
  cupti().pending.push_back({&stream, count, std::move(bytes)});
}

void forget_activity() {
  Cupti& c = cupti();
  c.subscriber = nullptr;
  for (auto& domain : c.told)
    for (auto& one : domain) one = false;
  c.used = false;
  c.request = nullptr;
  c.complete = nullptr;
  c.kinds.clear();
  c.pending.clear();
}

TracedCall::TracedCall(const char* function) : function_(function), outer_(current_correlation) {
  if (!cupti().used) return;
  const std::string_view name = function;
  if (name.rfind("cupti", 0) == 0 || name.rfind("nvrtc", 0) == 0) return;
  current_correlation = correlation_ = ++calls;
  if (name.rfind("cu", 0) == 0 && name.rfind("cublas", 0) != 0 && name.rfind("cudnn", 0) != 0) {
    for (const TracedFunction& traced : traced_functions)
      if (traced.name == name) domain_ = CUPTI_CB_DOMAIN_DRIVER_API, cbid_ = traced.cbid;
  } else {
    domain_ = CUPTI_CB_DOMAIN_RUNTIME_API, cbid_ = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  }
  tell(CUPTI_API_ENTER);
}

TracedCall::~TracedCall() {
  if (!correlation_) return;
  tell(CUPTI_API_EXIT);
  current_correlation = outer_;
}

void TracedCall::tell(int site) const {
  const Cupti& c = cupti();
  if (!domain_ || !c.told[domain_ - 1][cbid_]) return;
  std::uint64_t data = 0;
  const CUpti_CallbackData call{site, function_, nullptr, nullptr, nullptr, current_context(), 0, &data, correlation_};
  c.callback(c.user, domain_, cbid_, &call);
}

}  // namespace emulator
