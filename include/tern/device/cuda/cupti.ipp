// The functions of cupti.hpp that are not templates.
#pragma once
#include <cstdlib>
#include <utility>

#include "cupti.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_COLD CuptiLibrary::CuptiLibrary() {
  if (!library.handle) return;
  library.problem.clear();
#define TERN_CUDA_LOAD(name, result, arguments) \
  functions.name = reinterpret_cast<result(*) arguments>(find_function(library, #name));
  TERN_CUPTI_FUNCTIONS(TERN_CUDA_LOAD)
#undef TERN_CUDA_LOAD
  std::uint32_t version = 0;
  if (library.problem.empty()) functions.cuptiGetVersion(&version);
  // 18 is that of CUDA 12.0, 28 of 12.9, 130000 of 13.0.
  if (library.problem.empty() && (version < 18 || version >= 140000))
    library.problem = tern::detail::text(
        {library.path, " has version ", int(version), ", whose records may be others than those of CUDA 12 and 13"});
}

TERN_COLD Recorder& recorder() {
  static Recorder& instance = *new Recorder;
  return instance;
}

/// The calls that queue work, by CUPTI's numbers: launches, copies and fills, in the current stream's or the thread's
/// form. Libraries call the runtime's.
inline constexpr struct {
  CuptiDomain domain;
  std::uint32_t id;
} queuing_calls[] = {
    {cupti_driver_api, 307},  {cupti_driver_api, 442},   // cuLaunchKernel
    {cupti_driver_api, 652},  {cupti_driver_api, 653},   // cuLaunchKernelEx
    {cupti_driver_api, 477},  {cupti_driver_api, 478},   // cuLaunchCooperativeKernel
    {cupti_driver_api, 514},  {cupti_driver_api, 515},   // cuGraphLaunch
    {cupti_driver_api, 277},  {cupti_driver_api, 421},   // cuMemcpyHtoDAsync_v2
    {cupti_driver_api, 279},  {cupti_driver_api, 422},   // cuMemcpyDtoHAsync_v2
    {cupti_driver_api, 281},  {cupti_driver_api, 423},   // cuMemcpyDtoDAsync_v2
    {cupti_driver_api, 319},  {cupti_driver_api, 426},   // cuMemcpyPeerAsync
    {cupti_driver_api, 306},  {cupti_driver_api, 418},   // cuMemcpyAsync
    {cupti_driver_api, 216},  {cupti_driver_api, 428},   // cuMemsetD8Async
    {cupti_driver_api, 220},  {cupti_driver_api, 430},   // cuMemsetD32Async
    {cupti_runtime_api, 211}, {cupti_runtime_api, 214},  // cudaLaunchKernel
    {cupti_runtime_api, 430}, {cupti_runtime_api, 431},  // cudaLaunchKernelExC
    {cupti_runtime_api, 269},                            // cudaLaunchCooperativeKernel
    {cupti_runtime_api, 41},  {cupti_runtime_api, 225},  // cudaMemcpyAsync
    {cupti_runtime_api, 51},  {cupti_runtime_api, 235},  // cudaMemsetAsync
};
inline constexpr CuptiKind recorded_kinds[] = {cupti_copy, cupti_fill, cupti_kernel, cupti_peer_copy};

TERN_COLD std::string Recorder::start(void (*on_call)(std::uint32_t correlation)) {
  static CuptiLibrary& cupti = *new CuptiLibrary;
  if (!cupti.library.problem.empty()) return "CUPTI cannot be used: " + cupti.library.problem;
  if (subscriber_) return {};
  cupti_ = &cupti;
  const auto tell = [](void* user, CuptiDomain, std::uint32_t, const void* data) {
    const CuptiCall& call = *static_cast<const CuptiCall*>(data);
    if (call.site == cupti_enter) reinterpret_cast<void (*)(std::uint32_t)>(user)(call.correlation);
  };
  const int status = cupti.functions.cuptiSubscribe(&subscriber_, tell, reinterpret_cast<void*>(on_call));
  if (status) {
    subscriber_ = nullptr;
    if (status == cupti_has_subscriber) return "another profiler of this process has CUPTI";
    return tern::detail::text({"cuptiSubscribe fails with status ", status});
  }
  const std::string problem = set(true);
  if (!problem.empty()) stop();
  return problem;
}

TERN_COLD std::string Recorder::set(bool on) {
  const CuptiFunctions& f = cupti_->functions;
  std::string problem;
  const auto check = [&](const char* function, int status) {
    const char* name = nullptr;
    if (!status || !problem.empty()) return;
    problem = tern::detail::text({function, " fails with status ", status});
    if (!f.cuptiGetResultString(status, &name) && name) problem += std::string(", ") + name;
  };
  if (on) check("cuptiActivityRegisterCallbacks", f.cuptiActivityRegisterCallbacks(&request, &complete));
  for (const auto& call : queuing_calls)
    check("cuptiEnableCallback", f.cuptiEnableCallback(on, subscriber_, call.domain, call.id));
  for (const CuptiKind kind : recorded_kinds)
    check(on ? "cuptiActivityEnable" : "cuptiActivityDisable",
          on ? f.cuptiActivityEnable(kind) : f.cuptiActivityDisable(kind));
  return problem;
}

TERN_COLD void Recorder::stop() {
  if (!subscriber_) return;
  (void)set(false);
  (void)take();
  cupti_->functions.cuptiUnsubscribe(std::exchange(subscriber_, nullptr));
}

TERN_NOINLINE std::uint64_t Recorder::now() const {
  std::uint64_t ns = 0;
  cupti_->functions.cuptiGetTimestamp(&ns);
  return ns;
}

TERN_COLD std::vector<DeviceRecord> Recorder::take() {
  if (const int status = cupti_->functions.cuptiActivityFlushAll(0))
    Error::fail("ledger", {"cuptiActivityFlushAll fails with status ", status});
  const std::lock_guard lock(mutex_);
  return std::exchange(records_, {});
}

TERN_COLD void Recorder::request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  Recorder& all = recorder();
  const std::lock_guard lock(all.mutex_);
  *bytes = buffer_bytes;
  *most_records = 0;  // as many as there is room for
  if (all.spare_.empty()) {
    *buffer = static_cast<std::uint8_t*>(std::malloc(buffer_bytes));  // aligned to 16 bytes; CUPTI wants 8
  } else {
    *buffer = all.spare_.back();
    all.spare_.pop_back();
  }
}

TERN_COLD void Recorder::complete(Context, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t used) {
  Recorder& all = recorder();
  const auto next = all.cupti_->functions.cuptiActivityGetNextRecord;
  const std::lock_guard lock(all.mutex_);
  for (CuptiRecord* record = nullptr; used && next(buffer, used, &record) == 0;) all.add(*record);
  all.spare_.push_back(buffer);
}

TERN_COLD void Recorder::add(const CuptiRecord& record) {
  const auto work_of = [](const auto& copy) {
    return copy.copy_kind == cupti_to_device ? tern::detail::Work::to_device
           : copy.copy_kind == cupti_to_host ? tern::detail::Work::to_host
                                             : tern::detail::Work::kernel;
  };
  if (record.kind == cupti_kernel) {
    const auto& kernel = reinterpret_cast<const CuptiKernelRecord&>(record);
    records_.push_back({tern::detail::Work::kernel, false, int(kernel.device), kernel.correlation, kernel.name, 0,
                        kernel.start, kernel.end});
  } else if (record.kind == cupti_copy) {
    const auto& copy = reinterpret_cast<const CuptiCopyRecord&>(record);
    const bool pinned = (copy.copy_kind == cupti_to_device ? copy.source : copy.target) == cupti_pinned;
    records_.push_back(
        {work_of(copy), pinned, int(copy.device), copy.correlation, nullptr, copy.bytes, copy.start, copy.end});
  } else if (record.kind == cupti_fill) {
    const auto& fill = reinterpret_cast<const CuptiFillRecord&>(record);
    records_.push_back({tern::detail::Work::kernel, false, int(fill.device), fill.correlation, nullptr, fill.bytes,
                        fill.start, fill.end});
  } else if (record.kind == cupti_peer_copy) {
    const auto& copy = reinterpret_cast<const CuptiPeerCopyRecord&>(record);
    records_.push_back({tern::detail::Work::to_device, false, int(copy.target_device), copy.correlation, nullptr,
                        copy.bytes, copy.start, copy.end});
  }
}

}}}  // namespace tern::cuda::detail
