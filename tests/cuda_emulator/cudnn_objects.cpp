// libcudnn: handles, descriptors, and how work gets into a stream.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "call.hpp"
#include "cudnn.hpp"
#include "exports.hpp"
#include "heap.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace emulator::dnn {

std::size_t type_bytes(int type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return 8;
    case CUDNN_DATA_FLOAT: return 4;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return 2;
    default: return 0;
  }
}

std::string describe(const int* dims, int nd) {
  std::string text = "[";
  for (int i = 0; i < nd; ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

bool names_refusal(const std::string& pass, int number) {
  const std::string all = "+" + settings().refuse + "+";
  return all.find("+" + pass + ":" + std::to_string(number) + "+") != std::string::npos;
}

int check_handle(cudnnHandle_t handle) {
  if (!is_live(handle)) return refuse(CUDNN_STATUS_BAD_PARAM, "no such handle", page::cudnn_handle);
  const Context* current = current_context();
  if (!current || !current->retained || current->sticky) return CUDNN_STATUS_EXECUTION_FAILED;
  if (handle->context != current)
    return refuse(CUDNN_STATUS_BAD_PARAM, "the handle was made for another device", page::cudnn_handle);
  return CUDNN_STATUS_SUCCESS;
}

namespace {

int check_memory(const Memory& m, const char* page) {
  const auto address = reinterpret_cast<std::uintptr_t>(m.pointer);
  if (!m.pointer) return m.optional ? 0 : refuse(CUDNN_STATUS_BAD_PARAM, m.name + " is null", page);
  const Allocation* a = device_heap().find(address, m.bytes);
  if (a && !a->doomed) return CUDNN_STATUS_SUCCESS;
  return refuse(
      CUDNN_STATUS_BAD_PARAM,
      m.name + ": " + std::to_string(m.bytes) + " bytes at " + hex(address) + " are not inside one device allocation",
      page);
}

}  // namespace

int queue(cudnnHandle_t handle, const std::vector<Memory>& memory, std::uint64_t ns, const char* page,
          std::function<void(char* const*)> run) {
  Work work;
  for (const Memory& m : memory) {
    if (const int status = check_memory(m, page)) return status;
    if (const Allocation* found = device_heap().find(reinterpret_cast<std::uintptr_t>(m.pointer)))
      work.uses.push_back(found->address);
  }
  int status = CUDA_SUCCESS;
  Stream* stream = stream_of(handle->stream, status);
  if (!stream) return CUDNN_STATUS_EXECUTION_FAILED;
  work.engine = Engine::compute;
  work.ns = ns;
  work.run = [memory, run = std::move(run)] {
    std::vector<char*> views;
    for (const Memory& m : memory) {
      views.push_back(nullptr);
      if (!m.pointer) continue;
      const std::string what = "cudnn's " + m.name;
      views.back() = reach(reinterpret_cast<std::uintptr_t>(m.pointer), m.bytes, what.c_str());
      if (!views.back()) return int{CUDA_ERROR_ILLEGAL_ADDRESS};
    }
    run(views.data());
    return int{CUDA_SUCCESS};
  };
  return enqueue(*stream, std::move(work)) ? CUDNN_STATUS_EXECUTION_FAILED : CUDNN_STATUS_SUCCESS;
}

std::uint64_t time_of(double operations, double rate, const std::vector<Memory>& memory) {
  double bytes = 0;
  for (const Memory& m : memory) bytes += m.pointer ? static_cast<double>(m.bytes) : 0;
  return static_cast<std::uint64_t>(
      std::ceil(settings().kernel_ns + std::max(operations / rate, bytes / settings().memory_rate)));
}

}  // namespace emulator::dnn

using namespace emulator::dnn;

namespace {

const char* status_name(cudnnStatus_t status) {
#define STATUS_NAME(name, value) \
  if (status == (value) && std::string_view(#name).starts_with("CUDNN_STATUS")) return #name;
  ABI_CUDNN_CONSTANTS(STATUS_NAME)
#undef STATUS_NAME
  return "CUDNN_UNKNOWN_STATUS";
}

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return static_cast<std::size_t>(settings().cudnn); }
std::size_t cudnnGetCudartVersion() { return 12000; }
const char* cudnnGetErrorString(cudnnStatus_t status) { return status_name(status); }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  EMULATED_CALL(CUDNN_STATUS_NOT_INITIALIZED);
  Context* current = current_context();
  if (!state().initialised || !current || !current->retained)
    return refuse(CUDNN_STATUS_NOT_INITIALIZED, "the thread has no current context", page::cudnn_handle);
  open_library("cudnn");
  *handle = new cudnnContext{current};
  add_live("cudnn", *handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(handle));
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, CUstream stream) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_handle(handle)) return status;
  int status = CUDA_SUCCESS;
  if (!stream_of(stream, status)) return CUDNN_STATUS_BAD_PARAM;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  return create("tensor desc", desc);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t desc, int type, int nd, const int* dims,
                                         const int* strides) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_live(desc) || !dims || !strides)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or a null pointer", page::cudnn_tensor);
  if (!type_bytes(type))
    return refuse(CUDNN_STATUS_BAD_PARAM, "type " + std::to_string(type) + " is not emulated", page::cudnn_tensor);
  if (nd < 3 || nd > CUDNN_DIM_MAX)
    return refuse(nd > CUDNN_DIM_MAX ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_BAD_PARAM,
                  std::to_string(nd) + " dimensions; they are 3 to 8, and unused ones have size 1", page::cudnn_tensor);
  const double elements = std::accumulate(dims, dims + nd, 1.0, std::multiplies<>());
  if (std::any_of(dims, dims + nd, [](int n) { return n < 1; }) || elements > 0x1p31)
    return refuse(CUDNN_STATUS_BAD_PARAM, describe(dims, nd) + ": sizes are at least 1, elements at most 2^31",
                  page::cudnn_tensor);
  if (std::any_of(strides, strides + nd, [](int n) { return n < 1; }))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "strides " + describe(strides, nd), page::cudnn_tensor);
  *desc = {type, nd, {}, {}};
  std::copy_n(dims, nd, desc->dims);
  std::copy_n(strides, nd, desc->strides);
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
