// libcuda: copies and fills.
#include <cstring>
#include <memory>
#include <vector>

#include "call.hpp"
#include "capture.hpp"
#include "exports.hpp"
#include "heap.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace {

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// One end of a copy, as far as it is known when the copy is queued.
struct Side {
  std::uintptr_t address;
  const Allocation* allocation;  // null: pageable host memory
};

int device_side(CUdeviceptr pointer, std::size_t bytes, Side& side) {
  const Allocation* a = device_heap().find(pointer, bytes);
  side = {pointer, a};
  if (!a)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  std::to_string(bytes) + " bytes at " + hex(pointer) + " are not inside one device allocation",
                  page::memory);
  if (a->doomed) return refuse(CUDA_ERROR_INVALID_VALUE, hex(pointer) + " has been freed", page::pool);
  return CUDA_SUCCESS;
}

int host_side(const void* pointer, std::size_t bytes, Side& side) {
  const std::uintptr_t address = address_of(pointer);
  side = {address, pinned_heap().find(address, bytes)};
  if (device_heap().contains(address))
    return refuse(CUDA_ERROR_INVALID_VALUE, hex(address) + " is device memory where a host pointer belongs",
                  page::memory);
  if (pinned_heap().contains(address) && !side.allocation)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  std::to_string(bytes) + " bytes at " + hex(address) + " are not inside one pinned allocation",
                  page::memory);
  return CUDA_SUCCESS;
}

Work copy_work(const Side& target, const Side& source, std::size_t bytes, Engine engine, std::uint64_t ns) {
  Work work;
  work.engine = engine;
  work.ns = ns;
  const auto memory_kind = [&](const Side& side) {
    return static_cast<std::uint8_t>(!side.allocation                       ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE
                                     : device_heap().contains(side.address) ? CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
                                                                            : CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  };
  Activity& activity = work.activity;
  activity = {CUPTI_ACTIVITY_KIND_MEMCPY, nullptr, bytes, 0, memory_kind(source), memory_kind(target)};
  activity.copy_kind = activity.source != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE   ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                       : activity.target != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                                                              : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  for (const Side* side : {&target, &source})
    if (side->allocation) work.uses.push_back(side->allocation->address);
  work.run = [to = target.address, from = source.address, bytes] {
    char* into = reach(to, bytes, "the target of a copy");
    const char* out_of = reach(from, bytes, "the source of a copy");
    if (!into || !out_of) return CUDA_ERROR_ILLEGAL_ADDRESS;
    std::memmove(into, out_of, bytes);
    return CUDA_SUCCESS;
  };
  return work;
}

std::uint64_t host_copy_ns(std::size_t bytes, bool to_device, bool pinned) {
  const Settings& s = settings();
  const double rate = to_device ? (pinned ? s.h2d_pinned : s.h2d_pageable) : (pinned ? s.d2h_pinned : s.d2h_pageable);
  return transfer_ns(bytes, rate, s.copy_ns);
}

// A copy of pageable memory may wait for the stream, which a capture forbids.
int refuse_pageable_in_capture(const Stream& stream, const Side& host) {
  if (!stream.capture || host.allocation) return CUDA_SUCCESS;
  stream.capture->invalid = true;
  return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a copy of pageable memory in a capture", page::synchronization);
}

// The host has nothing to do until a copy of pageable memory ends: so in time, though the data may come at any moment.
int enqueue_host_copy(Stream& stream, Work work, bool pinned) {
  const int status = enqueue(stream, std::move(work));
  if (!pinned && !stream.capture) state().now = std::max(state().now, stream.time);
  return status;
}

CUresult to_device(Stream& stream, CUdeviceptr target, const void* source, std::size_t bytes) {
  Side to, from;
  if (const int status = device_side(target, bytes, to)) return status;
  if (const int status = host_side(source, bytes, from)) return status;
  if (const int status = refuse_pageable_in_capture(stream, from)) return status;
  const bool pinned = from.allocation;
  return enqueue_host_copy(stream, copy_work(to, from, bytes, Engine::to_device, host_copy_ns(bytes, true, pinned)),
                           pinned);
}

CUresult to_host(Stream& stream, void* target, CUdeviceptr source, std::size_t bytes) {
  Side to, from;
  if (const int status = host_side(target, bytes, to)) return status;
  if (const int status = device_side(source, bytes, from)) return status;
  if (const int status = refuse_pageable_in_capture(stream, to)) return status;
  const bool pinned = to.allocation;
  // The result does not exist before the copy runs. What a queued copy has yet to read from there stays.
  if (!stream.capture && !(pinned && has_pending_user(to.allocation->address, nullptr)))
    std::memset(target, 0xff, bytes);
  return enqueue_host_copy(stream, copy_work(to, from, bytes, Engine::to_host, host_copy_ns(bytes, false, pinned)),
                           pinned);
}

CUresult within_device(Stream& stream, CUdeviceptr target, CUdeviceptr source, std::size_t bytes, bool peers) {
  Side to, from;
  if (const int status = device_side(target, bytes, to)) return status;
  if (const int status = device_side(source, bytes, from)) return status;
  const Settings& s = settings();
  const Context &target_context = *to.allocation->context, &source_context = *from.allocation->context;
  const bool direct = source_context.reachable_from.count(target_context.ordinal) ||
                      target_context.reachable_from.count(source_context.ordinal);
  const std::uint64_t through_host =
      transfer_ns(bytes, s.d2h_pinned, s.copy_ns) + transfer_ns(bytes, s.h2d_pinned, s.copy_ns);
  const std::uint64_t ns = !peers   ? transfer_ns(2 * bytes, s.memory_rate, s.kernel_ns)
                           : direct ? transfer_ns(bytes, s.peer, s.copy_ns)
                                    : through_host;
  Work work = copy_work(to, from, bytes, peers ? Engine::to_host : Engine::compute, ns);
  if (peers) {
    work.activity.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    work.activity.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    work.activity.source_device = source_context.ordinal, work.activity.target_device = target_context.ordinal;
  }
  return enqueue(stream, std::move(work));
}

// Repeats a value of `width` bytes.
CUresult fill(CUdeviceptr target, std::uint32_t value, std::size_t width, std::size_t count, Stream& stream) {
  const std::size_t bytes = count * width;
  Side to;
  if (target % width)
    return refuse(CUDA_ERROR_INVALID_VALUE, hex(target) + " is not aligned to the value's size", page::memory);
  if (const int status = device_side(target, bytes, to)) return status;
  Work work;
  work.engine = Engine::compute;
  work.ns = transfer_ns(bytes, settings().memory_rate, settings().kernel_ns);
  work.uses = {to.allocation->address};
  work.activity = {CUPTI_ACTIVITY_KIND_MEMSET, nullptr, bytes};
  work.run = [target, value, width, bytes] {
    char* into = reach(target, bytes, "the target of a fill");
    if (!into) return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (std::size_t i = 0; i < bytes; i += width) std::memcpy(into + i, &value, width);
    return CUDA_SUCCESS;
  };
  return enqueue(stream, std::move(work));
}

}  // namespace

extern "C" {

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, std::size_t bytes) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  Stream& stream = *current_context()->legacy;
  if (const int status = refuse_if_captured(stream)) return status;
  if (!bytes) return CUDA_SUCCESS;
  Side from;
  if (const int status = host_side(source, bytes, from)) return status;
  if (from.allocation) {
    if (const int status = to_device(stream, target, source, bytes)) return status;
    wait_for(end_of(stream));
    return current_context()->sticky;
  }
  // From pageable memory: returns once the bytes are staged, before they have arrived.
  Side to;
  if (const int status = device_side(target, bytes, to)) return status;
  wait_for(end_of(stream));
  const char* begin = static_cast<const char*>(source);
  auto staged = std::make_shared<std::vector<char>>(begin, begin + bytes);
  Work work = copy_work(to, from, bytes, Engine::to_device, host_copy_ns(bytes, true, false));
  work.run = [target, staged] {
    char* into = reach(target, staged->size(), "the target of a copy");
    if (!into) return CUDA_ERROR_ILLEGAL_ADDRESS;
    std::memcpy(into, staged->data(), staged->size());
    return CUDA_SUCCESS;
  };
  return enqueue_host_copy(stream, std::move(work), false);
}

CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, std::size_t bytes) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  Stream& stream = *current_context()->legacy;
  if (const int status = refuse_if_captured(stream)) return status;
  if (!bytes) return CUDA_SUCCESS;
  if (const int status = to_host(stream, target, source, bytes)) return status;
  wait_for(end_of(stream));
  return current_context()->sticky;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, std::size_t bytes, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  return s && bytes ? to_device(*s, target, source, bytes) : status;
}

CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  return s && bytes ? to_host(*s, target, source, bytes) : status;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  return s && bytes ? within_device(*s, target, source, bytes, false) : status;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context,
                           std::size_t bytes, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s || !bytes) return status;
  Side to, from;
  if ((status = device_side(target, bytes, to)) || (status = device_side(source, bytes, from))) return status;
  if (to.allocation->context != target_context || from.allocation->context != source_context)
    return refuse(CUDA_ERROR_INVALID_VALUE, "a pointer is not of the context that is named with it", page::memory);
  return within_device(*s, target, source, bytes, target_context != source_context);
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, std::size_t count, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  return s && count ? fill(target, value, 1, count, *s) : status;
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, std::size_t count, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  return s && count ? fill(target, value, 4, count, *s) : status;
}

}  // extern "C"
