// libcuda: device memory, pinned host memory, what a pointer points to.
#include <sys/mman.h>

#include <algorithm>

#include "call.hpp"
#include "capture.hpp"
#include "exports.hpp"
#include "heap.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace {

bool is_enough(const Context& c, std::size_t bytes) {
  return c.used + bytes <= static_cast<std::size_t>(settings().memory);
}

// Reserves device memory in the current context. Null, after refuse(), where there is not enough.
Allocation* reserve(std::size_t bytes, int& status) {
  Context& c = *current_context();
  if (!bytes) {
    status = refuse(CUDA_ERROR_INVALID_VALUE, "0 bytes", page::memory);
    return nullptr;
  }
  // Releases that are still queued would make room.
  if (!is_enough(c, bytes)) wait_for_all(c);
  if (c.sticky || !is_enough(c, bytes)) {
    status = c.sticky ? c.sticky : int{CUDA_ERROR_OUT_OF_MEMORY};
    return nullptr;
  }
  c.used += bytes;
  ++state().census["memory"];
  return &device_heap().reserve(bytes, &c);
}

// The allocation that begins here and may be freed; null, after refuse(), otherwise.
Allocation* to_free(CUdeviceptr pointer, const char* page, int& status) {
  Allocation* a = device_heap().find(pointer);
  if (a && a->address == pointer && !a->doomed) return a;
  status =
      refuse(CUDA_ERROR_INVALID_VALUE,
             hex(pointer) + (a && a->doomed ? " has been freed already" : " is not what an allocation returned"), page);
  return nullptr;
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  *total = static_cast<std::size_t>(settings().memory);
  *free = *total - current_context()->used - current_context()->pool_idle;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, context);
  int status = refuse_if_unsafe();
  if (status) return status;
  Allocation* a = reserve(bytes, status);
  if (!a) return status;
  *pointer = a->address;
  return open_device_memory(*a);
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context | releases);
  if (!pointer) return call.finish(CUDA_SUCCESS);
  int status = refuse_if_unsafe();
  if (status) return status;
  Allocation* a = to_free(pointer, page::memory, status);
  if (!a) return status;
  // It may wait for the device, except for memory of the stream-ordered allocator. Programs lean on the former.
  const bool waits = !a->stream_ordered && !settings().strict_free;
  if (waits) {
    wait_for_all(*a->context);
  } else if (has_pending_user(pointer, nullptr) || !a->live) {
    a->context->sticky =
        fault(CUDA_ERROR_ILLEGAL_ADDRESS, "memory is freed that queued work uses, and this free does not wait");
  }
  --state().census["memory"];
  CUcontext owner = a->context;
  status = drop_device_memory(pointer);
  if (status && !owner->sticky) owner->sticky = status;
  return call.finish(owner->sticky);
}

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if (s->capture) return refuse(CUDA_ERROR_NOT_SUPPORTED, "allocation nodes in graphs are not emulated", page::pool);
  Context& c = *current_context();
  Allocation* a = reserve(bytes, status);
  // A pool that cannot grow far enough has grown as far as it could.
  if (status == CUDA_ERROR_OUT_OF_MEMORY) c.pool_idle = static_cast<std::size_t>(settings().memory) - c.used;
  if (!a) return status;
  c.pool_idle -= std::min(c.pool_idle, bytes);
  a->stream_ordered = true;
  c.pool_high = std::max(c.pool_high, c.pool_used += bytes);
  a->live = false;
  const std::uintptr_t address = *pointer = a->address;
  return enqueue(
      *s, {.run = [address] { return open_device_memory(device_heap().allocations()[address]); }, .uses = {address}});
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context | releases);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if (s->capture)
    return refuse(CUDA_ERROR_INVALID_VALUE, "in a capture only a graph's own allocation may be freed", page::pool);
  Allocation* a = to_free(pointer, page::pool, status);
  if (!a) return status;
  a->doomed = true;
  --state().census["memory"];
  const std::uintptr_t address = pointer;
  status = enqueue(*s, {.run = [address] { return drop_device_memory(address); }});
  const Point here = end_of(*s);
  if (has_pending_user(address, &here))
    s->context->sticky = fault(CUDA_ERROR_ILLEGAL_ADDRESS,
                               "memory is freed in stream order while another stream, not waited for, still uses it");
  return call.finish(status ? status : s->context->sticky);
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, context);
  if (const int status = refuse_if_unsafe()) return status;
  if (!bytes || flags > 7) return refuse(CUDA_ERROR_INVALID_VALUE, bytes ? "unknown flags" : "0 bytes", page::memory);
  Allocation& a = pinned_heap().reserve(bytes, current_context());
  a.flags = flags;
  pinned_heap().fill_with_poison(a);
  mprotect(reinterpret_cast<void*>(a.first_page), a.page_bytes, PROT_READ | PROT_WRITE);
  ++state().census["pinned"];
  *pointer = reinterpret_cast<void*>(a.address);
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* pointer) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context | releases);
  if (const int status = refuse_if_unsafe()) return status;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Allocation* a = pinned_heap().find(address);
  if (!a || a->address != address)
    return refuse(CUDA_ERROR_INVALID_VALUE, hex(address) + " is not what cuMemHostAlloc returned, or was freed",
                  page::memory);
  CUcontext owner = a->context;
  if (has_pending_user(address, nullptr))
    owner->sticky =
        fault(CUDA_ERROR_ILLEGAL_ADDRESS, "pinned memory is freed that queued work uses; this free need not wait");
  mprotect(reinterpret_cast<void*>(a->first_page), a->page_bytes, PROT_NONE);
  pinned_heap().remove(address);
  --state().census["pinned"];
  return call.finish(owner->sticky);
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  const Allocation* a = pinned_heap().find(reinterpret_cast<std::uintptr_t>(pointer));
  if (!a) return refuse(CUDA_ERROR_INVALID_VALUE, "not memory of cuMemHostAlloc", page::memory);
  *flags = a->flags;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* data, int attribute, CUdeviceptr pointer) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  const Allocation* device = device_heap().find(pointer);
  const Allocation* a = device ? device : pinned_heap().find(pointer);
  if (!a || a->doomed)
    return refuse(CUDA_ERROR_INVALID_VALUE, hex(pointer) + " was not allocated by CUDA", page::pointer);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *static_cast<CUcontext*>(data) = a->context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) = device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(data) = a->context->ordinal; break;
    default:
      return refuse(CUDA_ERROR_INVALID_VALUE, "attribute " + std::to_string(attribute) + " is not emulated",
                    page::pointer);
  }
  return CUDA_SUCCESS;
}

}  // extern "C"
