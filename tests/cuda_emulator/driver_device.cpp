// libcuda: initialisation, errors, devices, contexts.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "call.hpp"
#include "capture.hpp"
#include "exports.hpp"
#include "heap.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace {

bool is_device(CUdevice device) { return device >= 0 && device < static_cast<int>(state().contexts.size()); }

int no_such_device() { return refuse(CUDA_ERROR_INVALID_DEVICE, "no such device", page::device); }

void activate(Context& context) {
  context.sticky = CUDA_SUCCESS;
  context.reachable_from.clear();
  context.used = context.pool_used = context.pool_high = context.pool_idle = 0;
  for (std::uint64_t& free : context.engine_free) free = 0;
  context.executor.start(device_heap().file(), pinned_heap().file());
  state().streams.push_back(std::make_unique<Stream>());
  context.legacy = state().streams.back().get();
  context.legacy->context = &context;
}

// Destroys what lived in the context, as releasing the last reference does.
void deactivate(Context& context) {
  wait_for_all(context);
  context.executor.stop();
  std::vector<std::uintptr_t> held;
  for (const auto& [address, allocation] : device_heap().allocations())
    if (allocation.context == &context) held.push_back(address);
  for (const std::uintptr_t address : held) {
    device_heap().remove(address);
    --state().census["memory"];
  }
  remove_live_of(context);
}

struct ErrorText {
  CUresult code;
  const char *name, *text;
};
#define ERROR_TEXT(name, value, text) {value, #name, text},
constexpr ErrorText error_texts[] = {ABI_DRIVER_ERRORS(ERROR_TEXT)};
#undef ERROR_TEXT

CUresult error_text(CUresult error, const char** text, const char* ErrorText::* field) {
  *text = nullptr;
  for (const ErrorText& e : error_texts)
    if (e.code == error) *text = e.*field;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// What the environment names is loaded into each process that uses CUDA, and called before cuInit returns.
void inject() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (!path) return;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto initialize = library ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
  if (!initialize) return;
  current_lock()->unlock();
  initialize();
  current_lock()->lock();
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  EMULATED_CALL(CUDA_ERROR_NO_DEVICE);
  if (flags) return refuse(CUDA_ERROR_INVALID_VALUE, "the flags must be 0", page::initialize);
  if (state().forked)
    return refuse(CUDA_ERROR_NOT_INITIALIZED, "in a forked child of a process that uses CUDA", page::initialize);
  const int devices = static_cast<int>(settings().devices);
  if (!devices) return CUDA_ERROR_NO_DEVICE;
  // Contexts stay where they are after a reset: threads may still point to them.
  while (static_cast<int>(state().contexts.size()) < devices) {
    state().contexts.push_back(std::make_unique<Context>());
    state().contexts.back()->ordinal = static_cast<int>(state().contexts.size()) - 1;
  }
  const bool first = !std::exchange(state().initialised, true);
  if (first) inject();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN);
  *version = static_cast<int>(settings().driver);
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) { return error_text(error, text, &ErrorText::name); }
CUresult cuGetErrorString(CUresult error, const char** text) { return error_text(error, text, &ErrorText::text); }

CUresult cuDeviceGetCount(int* count) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  *count = static_cast<int>(state().contexts.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  if (!is_device(ordinal)) return no_such_device();
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  if (!is_device(device)) return no_such_device();
  std::strncpy(name, "Emulated GPU", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  if (!is_device(device)) return no_such_device();
  *bytes = static_cast<std::size_t>(settings().memory);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  if (!is_device(device)) return no_such_device();
  const int capability = static_cast<int>(settings().capability);
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 65535; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 << 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 227 << 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = 228 << 10; break;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: *value = 64 << 10; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: *value = 65536; break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1000000; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = static_cast<int>(settings().multiprocessors); break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: *value = 1; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: *value = 1; break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: *value = device + 1; break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = 1000000; break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 4096; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 32 << 20; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: *value = 2; break;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: *value = 1; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = capability % 10; break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = 1; break;
    default:
      return refuse(CUDA_ERROR_INVALID_VALUE, "attribute " + std::to_string(attribute) + " is not emulated",
                    page::device);
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  if (!is_device(device) || !is_device(peer)) return no_such_device();
  *can = device != peer && settings().peers;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, initialised);
  if (!is_device(device)) return no_such_device();
  Context& c = *state().contexts[device];
  if (!c.retained++) activate(c);
  ++state().census["context"];
  *context = &c;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised | releases);
  if (!is_device(device)) return no_such_device();
  Context& c = *state().contexts[device];
  if (!c.retained)
    return refuse(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained", page::primary_context);
  if (!--c.retained) deactivate(c);
  --state().census["context"];
  return call.finish(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  if (context && !context->retained)
    return refuse(CUDA_ERROR_INVALID_CONTEXT, "the context has been released", page::context);
  current_context() = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised);
  const Context* current = current_context();
  *context = current && current->retained ? current_context() : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  *device = current_context()->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  Context& c = *current_context();
  for (const auto& stream : state().streams)
    if (stream->context == &c && stream->capture)
      if (const int status = refuse_if_captured(*stream)) return status;
  if (const int status = refuse_if_unsafe()) return status;
  wait_for_all(c);
  return c.sticky;
}

}  // extern "C"
