// libcuda: modules, functions, launches.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "activity.hpp"
#include "call.hpp"
#include "capture.hpp"
#include "exports.hpp"
#include "heap.hpp"
#include "image.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace {

constexpr int static_shared_limit = 48 << 10, shared_limit = 227 << 10;

const KernelEntry& entry_of(const Function& function) { return function.module->module->kernels[function.index]; }

// Without the gaps that a module with checked accesses has.
std::ptrdiff_t shared_bytes(const KernelModule& module) {
  return module.shared_end - module.shared_begin - (module.gaps_end - module.gaps_begin) * std::ptrdiff_t{shared_gap};
}

int static_shared(const Function& function) { return static_cast<int>(shared_bytes(*function.module->module)); }

int no_such_function() {
  return refuse(CUDA_ERROR_INVALID_HANDLE, "no such function, or its module was unloaded", page::module);
}

// Loads the library here, for its table of kernels, and in the executor, where it runs.
int load(const std::string& library, Module& module) {
  static int serial = 0;
  const char* temporary = std::getenv("TMPDIR");
  const std::string path = std::string(temporary ? temporary : "/tmp") + "/tern-emulator-" + std::to_string(getpid()) +
                           "-" + std::to_string(serial++) + ".so";
  std::ofstream(path, std::ios::binary) << library;
  module.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const int status = module.library ? module.context->executor.load(path, module.id) : CUDA_ERROR_INVALID_IMAGE;
  unlink(path.c_str());
  if (module.library) module.module = static_cast<const KernelModule*>(dlsym(module.library, "emulated_module"));
  return status;
}

int check_shape(const Function& function, const Shape& shape) {
  const KernelEntry& kernel = entry_of(function);
  const unsigned *g = shape.grid, *b = shape.block;
  const bool in_range = g[0] && g[1] && g[2] && b[0] && b[1] && b[2] && b[0] <= 1024 && b[1] <= 1024 && b[2] <= 64 &&
                        b[0] * b[1] * b[2] <= 1024 && g[0] <= 0x7fffffffu && g[1] <= 65535 && g[2] <= 65535;
  const auto sizes = [](const unsigned* s) {
    return std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2]);
  };
  if (!in_range)
    return refuse(CUDA_ERROR_INVALID_VALUE, "a grid of " + sizes(g) + " blocks of " + sizes(b) + " threads",
                  page::capabilities);
  if (b[0] * b[1] * b[2] > kernel.max_threads)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  std::string(kernel.name) + " has __launch_bounds__(" + std::to_string(kernel.max_threads) + ")",
                  page::launch_bounds);
  if (shape.shared > static_cast<unsigned>(function.dynamic_shared_limit) ||
      shape.shared + static_cast<unsigned>(static_shared(function)) > unsigned{shared_limit})
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  std::to_string(shape.shared) +
                      " bytes of dynamic shared memory; more than 48 KB must be allowed by "
                      "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
                  page::launch);
  return CUDA_SUCCESS;
}

// The allocations that parameters point into, and their bytes from there on.
std::size_t find_uses(const std::vector<unsigned char>& parameters, std::vector<std::uintptr_t>& uses) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= parameters.size(); i += sizeof(std::uintptr_t)) {
    std::uintptr_t value;
    std::memcpy(&value, &parameters[i], sizeof value);
    Heap& heap = pinned_heap().contains(value) ? pinned_heap() : device_heap();
    const Allocation* a = heap.contains(value) ? heap.find(value) : nullptr;
    if (!a || std::find(uses.begin(), uses.end(), a->address) != uses.end()) continue;
    uses.push_back(a->address);
    bytes += a->bytes - (value - a->address);
  }
  return bytes;
}

int run(Function* function, const Shape& shape, const std::vector<unsigned char>& parameters) {
  if (!is_live(function)) return fault(CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel is launched whose module was unloaded");
  Module& module = *function->module;
  const int status = module.context->executor.run(module.id, function->index, shape, parameters);
  if (!status) return CUDA_SUCCESS;
  const std::uintptr_t address = module.context->executor.fault_address();
  return fault(status, module.context->executor.text() + (address ? device_heap().place_of(address) : std::string()));
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, context);
  int status = refuse_if_unsafe();
  if (status) return status;
  ImageHeader header;
  std::string library;
  if (!read_image(image, header, library))
    return refuse(CUDA_ERROR_INVALID_IMAGE, "not an image that the emulated NVRTC made, or damaged", page::module);
  const unsigned have = static_cast<unsigned>(settings().capability), want = header.architecture;
  if (header.cuda > static_cast<int>(settings().driver) / 1000)
    return refuse(CUDA_ERROR_INVALID_IMAGE,
                  "compiled by CUDA " + std::to_string(header.cuda) + ", a later one than the driver's",
                  page::compatibility);
  if (header.is_ptx ? want > have : want / 10 != have / 10 || want > have)
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "compiled for " + std::to_string(want) + ", the device is " + std::to_string(have),
                  page::compatibility);
  auto m = std::make_unique<Module>();
  m->context = current_context();
  if ((status = load(library, *m))) return refuse(status, "the image cannot be loaded", page::module);
  if (shared_bytes(*m->module) > static_shared_limit)
    return refuse(CUDA_ERROR_INVALID_IMAGE, "more than 48 KB of static shared memory", page::capabilities);
  add_live("module", m.get(), m->context);
  *module = m.release();
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context | releases);
  int status = refuse_if_unsafe();
  if (status) return status;
  if (!is_live(module)) return refuse(CUDA_ERROR_INVALID_HANDLE, "no such module, or it was unloaded", page::module);
  wait_for_all(*module->context);
  for (const auto& function : module->functions) remove_live(function.get());
  if (!module->context->sticky) module->context->executor.unload(module->id);
  remove_live(module);
  dlclose(module->library);
  CUcontext owner = module->context;
  delete module;
  return call.finish(owner->sticky);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  if (!is_live(module)) return refuse(CUDA_ERROR_INVALID_HANDLE, "no such module, or it was unloaded", page::module);
  for (unsigned i = 0; i < module->module->kernel_count; ++i) {
    if (std::strcmp(module->module->kernels[i].name, name)) continue;
    auto& f = module->functions.emplace_back(std::make_unique<Function>());
    f->module = module;
    f->index = i;
    add_live(nullptr, f.get(), module->context);
    *function = f.get();
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_NOT_FOUND,
                "no kernel " + std::string(name) + ": one that is not extern \"C\" is found by its lowered name only",
                page::module);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule, const char* name) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  return refuse(CUDA_ERROR_NOT_FOUND, "global variables of modules are not emulated: " + std::string(name),
                page::module);
}

CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  if (!is_live(function)) return no_such_function();
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = static_cast<int>(entry_of(*function).max_threads); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_shared(*function); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = static_cast<int>(settings().capability); break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->dynamic_shared_limit; break;
    default:
      return refuse(CUDA_ERROR_INVALID_VALUE, "attribute " + std::to_string(attribute) + " is not emulated",
                    page::launch);
  }
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  if (!is_live(function)) return no_such_function();
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return refuse(CUDA_ERROR_INVALID_VALUE, "attribute " + std::to_string(attribute) + " is not emulated",
                  page::launch);
  if (value < 0 || value + static_shared(*function) > shared_limit)
    return refuse(CUDA_ERROR_INVALID_VALUE, std::to_string(value) + " bytes of shared memory", page::capabilities);
  function->dynamic_shared_limit = value;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t shared) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  if (!is_live(function)) return no_such_function();
  if (threads <= 0) return refuse(CUDA_ERROR_INVALID_VALUE, "a block of no threads", page::occupancy);
  const int warps = (threads + 31) / 32, by_threads = 64 / warps;
  const std::size_t each = shared + static_cast<std::size_t>(static_shared(*function));
  const int by_shared = each ? static_cast<int>((228u << 10) / each) : 32;
  *blocks = std::min({32, by_threads, by_shared});
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** parameters,
                        void** extra) {
  EMULATED_CALL(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if (!is_live(function)) return no_such_function();
  if (function->module->context != s->context)
    return refuse(CUDA_ERROR_INVALID_HANDLE, "the function and the stream are of different contexts", page::launch);
  const KernelEntry& kernel = entry_of(*function);
  if (extra) return refuse(CUDA_ERROR_INVALID_VALUE, "parameters in `extra` are not emulated", page::launch);
  if (kernel.count && !parameters) return refuse(CUDA_ERROR_INVALID_VALUE, "the kernel has parameters", page::launch);
  const Shape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
  if ((status = check_shape(*function, shape))) return status;
  std::vector<unsigned char> values(kernel.bytes);
  for (unsigned i = 0; i < kernel.count; ++i) std::memcpy(&values[kernel.offsets[i]], parameters[i], kernel.sizes[i]);
  Work work;
  work.engine = Engine::compute;
  work.ns = transfer_ns(find_uses(values, work.uses), settings().memory_rate, settings().kernel_ns);
  for (const std::uintptr_t address : work.uses) {
    const Allocation* a = device_heap().find(address);
    if (a && a->doomed) return refuse(CUDA_ERROR_INVALID_VALUE, "a parameter points to freed memory", page::pool);
  }
  work.activity = kernel_activity(kernel.name);
  work.run = [function, shape, values = std::move(values)] { return run(function, shape, values); };
  return enqueue(*s, std::move(work));
}

}  // extern "C"
