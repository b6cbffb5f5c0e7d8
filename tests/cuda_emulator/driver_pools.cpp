// libcuda: a device's default memory pool, which stream-ordered allocations come from. Freed memory is never kept, but
// what a request took that did not get all of it is (seen on an H200, driver 580.159).
#include "call.hpp"
#include "exports.hpp"
#include "settings.hpp"
#include "state.hpp"

using namespace emulator;
using namespace abi;

namespace {

// The context that a pool handle stands for; null, after refuse(), if it stands for none.
Context* context_of(CUmemoryPool pool, int& status) {
  for (const auto& context : state().contexts)
    if (context.get() == reinterpret_cast<Context*>(pool)) return context.get();
  status = refuse(CUDA_ERROR_INVALID_VALUE, "this is no memory pool", page::pool);
  return nullptr;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  if (device < 0 || static_cast<std::size_t>(device) >= state().contexts.size())
    return refuse(CUDA_ERROR_INVALID_DEVICE, "there is no such device", page::pool);
  *pool = reinterpret_cast<CUmemoryPool>(state().contexts[static_cast<std::size_t>(device)].get());
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  int status = CUDA_SUCCESS;
  Context* c = context_of(pool, status);
  if (!c) return status;
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) return CUDA_SUCCESS;
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && *static_cast<std::uint64_t*>(value) == 0) {
    c->pool_high = c->pool_used;
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_INVALID_VALUE, "this attribute of a pool cannot be set so", page::pool);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  int status = CUDA_SUCCESS;
  Context* c = context_of(pool, status);
  if (!c) return status;
  std::uint64_t bytes = 0;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: bytes = c->pool_used + c->pool_idle; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: bytes = c->pool_used; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: bytes = c->pool_high; break;
    default: return refuse(CUDA_ERROR_INVALID_VALUE, "this attribute of a pool is not emulated", page::pool);
  }
  *static_cast<std::uint64_t*>(value) = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, std::size_t count) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  int status = CUDA_SUCCESS;
  Context* c = context_of(pool, status);
  if (!c) return status;
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemLocation& to = map[i].location;
    const bool known =
        to.type == CU_MEM_LOCATION_TYPE_DEVICE && to.id >= 0 && to.id < static_cast<int>(state().contexts.size());
    if (!known || to.id == c->ordinal || !settings().peers || map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return refuse(CUDA_ERROR_INVALID_DEVICE,
                    "no device that can reach the pool's, or access other than to read and write", page::pool);
    c->reachable_from.insert(to.id);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  int status = CUDA_SUCCESS;
  if (Context* c = context_of(pool, status)) c->pool_idle = 0;
  return status;
}

}  // extern "C"
