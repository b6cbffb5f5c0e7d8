// libcudnn: handles, descriptors, and how work gets into a stream.
#include <algorithm>
#include <cmath>
#include <cstring>

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
    case CUDNN_DATA_DOUBLE:
      return 8;
    case CUDNN_DATA_FLOAT:
      return 4;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    default:
      return 0;
  }
}

std::string describe(const int* dims, int nd) {
  std::string text = "[";
  for (int i = 0; i < nd; ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

void pack(int format, int nd, const int* dims, int* strides) {
  int stride = format == CUDNN_TENSOR_NHWC ? dims[1] : 1;
  for (int i = nd - 1; i >= 0; --i) {
    if (i == 1 && format == CUDNN_TENSOR_NHWC) {
      strides[i] = 1;
    } else {
      strides[i] = stride;
      stride *= dims[i];
    }
  }
}

Tensor tensor_of(const Filter& filter) {
  Tensor tensor{filter.type, filter.nd, {}, {}};
  std::copy_n(filter.dims, filter.nd, tensor.dims);
  pack(filter.format, filter.nd, filter.dims, tensor.strides);
  return tensor;
}

std::size_t extent(const Tensor& tensor) {
  std::size_t last = 0;
  for (int i = 0; i < tensor.nd; ++i)
    last += static_cast<std::size_t>(tensor.dims[i] - 1) * static_cast<std::size_t>(tensor.strides[i]);
  return (last + 1) * type_bytes(tensor.type);
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
  return refuse(CUDNN_STATUS_BAD_PARAM,
                m.name + ": " + std::to_string(m.bytes) + " bytes at " + hex(address) +
                    " are not inside one device allocation",
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

// What the functions that set a descriptor have in common.
int check_setting(const void* desc, const void* first, const void* second, const void* third, const char* page) {
  if (!is_live(desc) || !first || !second || !third)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or a null pointer", page);
  return CUDNN_STATUS_SUCCESS;
}

int check_dims(int type, int nd, int fewest, const int* dims, const char* page) {
  if (!type_bytes(type))
    return refuse(CUDNN_STATUS_BAD_PARAM, "type " + std::to_string(type) + " is not emulated", page);
  if (nd < fewest || nd > CUDNN_DIM_MAX)
    return refuse(nd > CUDNN_DIM_MAX ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_BAD_PARAM,
                  std::to_string(nd) + " dimensions; they are " + std::to_string(fewest) + " to 8, and unused ones have size 1", page);
  double elements = 1;
  for (int i = 0; i < nd; ++i) elements *= dims[i];
  if (std::any_of(dims, dims + nd, [](int n) { return n < 1; }) || elements > 0x1p31)
    return refuse(CUDNN_STATUS_BAD_PARAM, describe(dims, nd) + ": sizes are at least 1, elements at most 2^31", page);
  return CUDNN_STATUS_SUCCESS;
}

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
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  return create("filter desc", desc);
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  return create("convolution desc", desc);
}
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  return create("activation desc", desc);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t desc, int type, int nd, const int* dims,
                                         const int* strides) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_setting(desc, dims, strides, dims, page::cudnn_tensor)) return status;
  if (const int status = check_dims(type, nd, 3, dims, page::cudnn_tensor)) return status;
  if (std::any_of(strides, strides + nd, [](int n) { return n < 1; }))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "strides " + describe(strides, nd), page::cudnn_tensor);
  *desc = {type, nd, {}, {}};
  std::copy_n(dims, nd, desc->dims);
  std::copy_n(strides, nd, desc->strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t desc, int format, int type, int nd,
                                           const int* dims) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_setting(desc, dims, dims, dims, page::cudnn_tensor)) return status;
  if (const int status = check_dims(type, nd, 4, dims, page::cudnn_tensor)) return status;
  if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC)
    return refuse(CUDNN_STATUS_BAD_PARAM, "format " + std::to_string(format) + " is not emulated", page::cudnn_tensor);
  *desc = {type, nd, {}, {}};
  std::copy_n(dims, nd, desc->dims);
  pack(format, nd, dims, desc->strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t desc, int type, int format, int nd, const int* dims) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_setting(desc, dims, dims, dims, page::cudnn_filter)) return status;
  if (const int status = check_dims(type, nd, 3, dims, page::cudnn_filter)) return status;
  if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC)
    return refuse(CUDNN_STATUS_BAD_PARAM, "format " + std::to_string(format) + " is not emulated", page::cudnn_filter);
  *desc = {type, format, nd, {}};
  std::copy_n(dims, nd, desc->dims);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t desc, int nd, const int* pads,
                                              const int* strides, const int* dilations, int mode, int compute) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_setting(desc, pads, strides, dilations, page::convolution)) return status;
  if (nd < 2 || nd > CUDNN_DIM_MAX - 2)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "a convolution over " + std::to_string(nd) + " dimensions",
                  page::convolution);
  for (int i = 0; i < nd; ++i)
    if (pads[i] < 0 || strides[i] < 1 || dilations[i] < 1)
      return refuse(CUDNN_STATUS_BAD_PARAM,
                    "padding " + describe(pads, nd) + ", stride " + describe(strides, nd) + ", dilation " +
                        describe(dilations, nd),
                    page::convolution);
  if ((mode != CUDNN_CONVOLUTION && mode != CUDNN_CROSS_CORRELATION) ||
      (compute != CUDNN_DATA_FLOAT && compute != CUDNN_DATA_DOUBLE))
    return refuse(
        CUDNN_STATUS_BAD_PARAM,
        "mode " + std::to_string(mode) + "; it computes in float or double, not in type " + std::to_string(compute),
        page::convolution);
  const int groups = desc->groups, math = desc->math;
  *desc = {nd, {}, {}, {}, mode, compute, groups, math};
  std::copy_n(pads, nd, desc->pads);
  std::copy_n(strides, nd, desc->strides);
  std::copy_n(dilations, nd, desc->dilations);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t desc, int groups) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_live(desc) || groups < 1)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or " + std::to_string(groups) + " groups",
                  page::convolution);
  desc->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t desc, int math) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_live(desc) || math < CUDNN_DEFAULT_MATH || math > CUDNN_FMA_MATH)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or math type " + std::to_string(math),
                  page::convolution);
  desc->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t desc, int mode, int nan, double coefficient) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_live(desc) || (nan != CUDNN_NOT_PROPAGATE_NAN && nan != CUDNN_PROPAGATE_NAN) ||
      (mode != CUDNN_ACTIVATION_RELU && mode != CUDNN_ACTIVATION_IDENTITY))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "no such descriptor; or activation " + std::to_string(mode) + " is not emulated",
                  page::cudnn_activation);
  *desc = {true, mode, nan, coefficient};
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
