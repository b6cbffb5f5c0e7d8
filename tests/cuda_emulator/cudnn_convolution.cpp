// libcudnn: choosing an algorithm for a convolution, and the convolution as work on a stream.
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
using namespace emulator::dnn;
using namespace abi;

namespace {

// Handle and descriptors of a call; after them `c` is set.
int begin(cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
          cudnnTensorDescriptor_t y, Pass pass, Convolution& c) {
  if (const int status = check_handle(handle)) return status;
  if (!is_live(x) || !is_live(w) || !is_live(conv) || !is_live(y))
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor is missing or was destroyed", page_of(pass));
  c = {*x, *y, *w, *conv};
  return check_convolution(c, pass);
}

int check_algorithm(const Convolution& c, Pass pass, int algorithm, Stage stage) {
  const std::string why = unsupported(c, pass, algorithm, stage);
  return why.empty() ? 0 : refuse(CUDNN_STATUS_NOT_SUPPORTED, why, page_of(pass));
}

Window window_of(const Convolution& c) { return {c.x, tensor_of(c.w), c.y, c.conv}; }

double operations_of(const Convolution& c) {
  double operations = 2.0 * c.w.dims[1];
  for (int i = 0; i < c.y.nd; ++i) operations *= c.y.dims[i] * (i < 2 ? 1.0 : c.w.dims[i]);
  return operations;
}

double rate_of(const Convolution& c, const Algorithm& algorithm) {
  const Settings& s = settings();
  if (c.x.type == CUDNN_DATA_DOUBLE) return s.float64;
  if (rounds_to_tf32(c, algorithm)) return s.tf32;
  return c.x.type == CUDNN_DATA_FLOAT || !algorithm.tensor_cores || c.conv.math == CUDNN_FMA_MATH ? s.float32
                                                                                                  : s.float16;
}

// x, w, y, workspace.
std::vector<Memory> memory_of(const Convolution& c, const void* x, const void* w, const void* y, const void* workspace,
                              std::size_t bytes) {
  return {{"x", x, extent(c.x)},
          {"w", w, extent(tensor_of(c.w))},
          {"y", y, extent(c.y)},
          {"workspace", workspace, bytes, bytes == 0}};
}

std::uint64_t duration(const Convolution& c, const Algorithm& algorithm, const std::vector<Memory>& memory) {
  return time_of(operations_of(c), rate_of(c, algorithm), memory);
}

cudnnConvolutionAlgoPerf_t result_of(const Convolution& c, const Algorithm& a) {
  const bool tensor_cores = a.tensor_cores && c.conv.math != CUDNN_FMA_MATH && c.x.type != CUDNN_DATA_DOUBLE;
  const int math = c.conv.math == CUDNN_FMA_MATH ? CUDNN_FMA_MATH
                   : tensor_cores                ? CUDNN_TENSOR_OP_MATH
                                                 : CUDNN_DEFAULT_MATH;
  return {a.number, CUDNN_STATUS_SUCCESS, -1, a.workspace, a.deterministic, math, {}};
}

// The heuristics: what computes it, fastest first; then what does not, with its status.
int choose(const Convolution& c, Pass pass, int requested, int* returned, cudnnConvolutionAlgoPerf_t* results) {
  if (requested < 1 || !returned || !results)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no results requested", page::convolution_search);
  std::vector<cudnnConvolutionAlgoPerf_t> all;
  for (const bool supported : {true, false})
    for (const Algorithm& a : algorithms(pass)) {
      if (unsupported(c, pass, a.number, Stage::choice).empty() != supported) continue;
      all.push_back(result_of(c, a));
      if (!supported) all.back().status = CUDNN_STATUS_NOT_SUPPORTED;
    }
  *returned = std::min(requested, static_cast<int>(all.size()));
  std::copy_n(all.begin(), *returned, results);
  return CUDNN_STATUS_SUCCESS;
}

// The search: every algorithm runs, so the result and the workspace are overwritten and the host waits.
int search(cudnnHandle_t handle, const Convolution& c, Pass pass, const void* x, const void* w, const void* y,
           int requested, int* returned, cudnnConvolutionAlgoPerf_t* results, const void* workspace,
           std::size_t bytes) {
  int status = choose(c, pass, requested, returned, results);
  if (status) return status;
  Stream* stream = stream_of(handle->stream, status);
  if (!stream) return CUDNN_STATUS_EXECUTION_FAILED;
  if (stream->capture)
    return refuse(CUDNN_STATUS_EXECUTION_FAILED, "a search waits, and the stream is being captured", page::capture);
  const std::vector<Memory> memory = memory_of(c, x, w, y, workspace, bytes);
  for (int i = 0; i < *returned; ++i) {
    cudnnConvolutionAlgoPerf_t& r = results[i];
    const Algorithm& algorithm = *find_algorithm(pass, r.algo);
    if (!r.status && r.memory > bytes) r.status = CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    if (r.status) continue;
    const std::uint64_t ns = duration(c, algorithm, memory);
    const std::size_t written = pass == Pass::forward ? 2 : pass == Pass::data ? 0 : 1;
    status = queue(handle, memory, ns, page::convolution_search, [=, n = memory[written].bytes](char* const* at) {
      std::memset(at[written], 0xff, n);
      if (bytes) std::memset(at[3], 0xa5, bytes);
    });
    if (status) return status;
    wait_for(end_of(*stream));
    r.time = static_cast<float>(ns) * 1e-6f;
  }
  std::stable_sort(results, results + *returned, [](const auto& a, const auto& b) {
    return (a.status ? INFINITY : a.time) < (b.status ? INFINITY : b.time);
  });
  return CUDNN_STATUS_SUCCESS;
}

int workspace_size(const Convolution& c, Pass pass, int algorithm, std::size_t* bytes) {
  if (const int status = check_algorithm(c, pass, algorithm, Stage::choice)) return status;
  *bytes = find_algorithm(pass, algorithm)->workspace;
  return CUDNN_STATUS_SUCCESS;
}

int check_workspace(Pass pass, const Algorithm& a, std::size_t bytes) {
  if (bytes >= a.workspace) return CUDNN_STATUS_SUCCESS;
  return refuse(CUDNN_STATUS_BAD_PARAM, "the algorithm needs a workspace of " + std::to_string(a.workspace) + " bytes",
                page_of(pass));
}

int convolve(cudnnHandle_t handle, const Convolution& c, Pass pass, int number, const void* alpha, const void* beta,
             const void* x, const void* w, const void* y, const void* workspace, std::size_t bytes) {
  if (const int status = check_algorithm(c, pass, number, Stage::run)) return status;
  const Algorithm& a = *find_algorithm(pass, number);
  if (!alpha || !beta) return refuse(CUDNN_STATUS_BAD_PARAM, "alpha or beta is null", page_of(pass));
  if (const int status = check_workspace(pass, a, bytes)) return status;
  const std::vector<Memory> memory = memory_of(c, x, w, y, workspace, bytes);
  const Blend blend = read_blend(c.x.type, alpha, beta);
  return queue(handle, memory, duration(c, a, memory), page_of(pass),
               [=, tf32 = rounds_to_tf32(c, a)](char* const* at) {
                 if (bytes) std::memset(at[3], 0xa5, bytes);  // it is cudnn's to overwrite
                 compute_convolution(window_of(c), pass, tf32, blend, at[0], at[1], at[2]);
               });
}

bool same_shape(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.nd == b.nd && std::equal(a.dims, a.dims + a.nd, b.dims);
}

// [1, C, 1, 1] of a type.
bool is_channels(const Tensor& t, int type, const Tensor& of) {
  if (t.type != type || t.nd != of.nd || t.dims[0] != 1 || t.dims[1] != of.dims[1]) return false;
  return std::all_of(t.dims + 2, t.dims + t.nd, [](int n) { return n == 1; }) && t.strides[1] == 1;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
                                                     cudnnTensorDescriptor_t y, int requested, int* returned,
                                                     cudnnConvolutionAlgoPerf_t* results) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, x, w, conv, y, Pass::forward, c)) return status;
  return choose(c, Pass::forward, requested, returned, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t dy, cudnnConvolutionDescriptor_t conv,
                                                          cudnnTensorDescriptor_t dx, int requested, int* returned,
                                                          cudnnConvolutionAlgoPerf_t* results) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, dx, w, conv, dy, Pass::data, c)) return status;
  return choose(c, Pass::data, requested, returned, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                            cudnnTensorDescriptor_t dy,
                                                            cudnnConvolutionDescriptor_t conv,
                                                            cudnnFilterDescriptor_t dw, int requested, int* returned,
                                                            cudnnConvolutionAlgoPerf_t* results) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, x, dw, conv, dy, Pass::filter, c)) return status;
  return choose(c, Pass::filter, requested, returned, results);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t x_desc,
                                                     const void* x, cudnnFilterDescriptor_t w_desc, const void* w,
                                                     cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y_desc,
                                                     void* y, int requested, int* returned,
                                                     cudnnConvolutionAlgoPerf_t* results, void* workspace,
                                                     std::size_t workspace_bytes) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, x_desc, w_desc, conv, y_desc, Pass::forward, c)) return status;
  return search(handle, c, Pass::forward, x, w, y, requested, returned, results, workspace, workspace_bytes);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle, cudnnFilterDescriptor_t w_desc,
                                                          const void* w, cudnnTensorDescriptor_t dy_desc,
                                                          const void* dy, cudnnConvolutionDescriptor_t conv,
                                                          cudnnTensorDescriptor_t dx_desc, void* dx, int requested,
                                                          int* returned, cudnnConvolutionAlgoPerf_t* results,
                                                          void* workspace, std::size_t workspace_bytes) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, dx_desc, w_desc, conv, dy_desc, Pass::data, c)) return status;
  return search(handle, c, Pass::data, dx, w, dy, requested, returned, results, workspace, workspace_bytes);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t x_desc,
                                                            const void* x, cudnnTensorDescriptor_t dy_desc,
                                                            const void* dy, cudnnConvolutionDescriptor_t conv,
                                                            cudnnFilterDescriptor_t dw_desc, void* dw, int requested,
                                                            int* returned, cudnnConvolutionAlgoPerf_t* results,
                                                            void* workspace, std::size_t workspace_bytes) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, x_desc, dw_desc, conv, dy_desc, Pass::filter, c)) return status;
  return search(handle, c, Pass::filter, x, dw, dy, requested, returned, results, workspace, workspace_bytes);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
                                                      cudnnTensorDescriptor_t y, int algo, std::size_t* bytes) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, x, w, conv, y, Pass::forward, c)) return status;
  return workspace_size(c, Pass::forward, algo, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle, cudnnFilterDescriptor_t w,
                                                           cudnnTensorDescriptor_t dy,
                                                           cudnnConvolutionDescriptor_t conv,
                                                           cudnnTensorDescriptor_t dx, int algo, std::size_t* bytes) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, dx, w, conv, dy, Pass::data, c)) return status;
  return workspace_size(c, Pass::data, algo, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                             cudnnTensorDescriptor_t dy,
                                                             cudnnConvolutionDescriptor_t conv,
                                                             cudnnFilterDescriptor_t dw, int algo, std::size_t* bytes) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  Convolution c;
  if (const int status = begin(handle, x, dw, conv, dy, Pass::filter, c)) return status;
  return workspace_size(c, Pass::filter, algo, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_desc,
                                      const void* x, cudnnFilterDescriptor_t w_desc, const void* w,
                                      cudnnConvolutionDescriptor_t conv, int algo, void* workspace,
                                      std::size_t workspace_bytes, const void* beta, cudnnTensorDescriptor_t y_desc,
                                      void* y) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  Convolution c;
  if (const int status = begin(handle, x_desc, w_desc, conv, y_desc, Pass::forward, c)) return status;
  return convolve(handle, c, Pass::forward, algo, alpha, beta, x, w, y, workspace, workspace_bytes);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, cudnnFilterDescriptor_t w_desc,
                                           const void* w, cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           cudnnConvolutionDescriptor_t conv, int algo, void* workspace,
                                           std::size_t workspace_bytes, const void* beta,
                                           cudnnTensorDescriptor_t dx_desc, void* dx) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  Convolution c;
  if (const int status = begin(handle, dx_desc, w_desc, conv, dy_desc, Pass::data, c)) return status;
  return convolve(handle, c, Pass::data, algo, alpha, beta, dx, w, dy, workspace, workspace_bytes);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_desc,
                                             const void* x, cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             cudnnConvolutionDescriptor_t conv, int algo, void* workspace,
                                             std::size_t workspace_bytes, const void* beta,
                                             cudnnFilterDescriptor_t dw_desc, void* dw) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  Convolution c;
  if (const int status = begin(handle, x_desc, dw_desc, conv, dy_desc, Pass::filter, c)) return status;
  return convolve(handle, c, Pass::filter, algo, alpha, beta, x, dw, dy, workspace, workspace_bytes);
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, cudnnTensorDescriptor_t x_desc, const void* x,
    cudnnFilterDescriptor_t w_desc, const void* w, cudnnConvolutionDescriptor_t conv, int algo, void* workspace,
    std::size_t workspace_bytes, const void* alpha2, cudnnTensorDescriptor_t z_desc, const void* z,
    cudnnTensorDescriptor_t bias_desc, const void* bias, cudnnActivationDescriptor_t activation,
    cudnnTensorDescriptor_t y_desc, void* y) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  Convolution c;
  if (const int status = begin(handle, x_desc, w_desc, conv, y_desc, Pass::forward, c)) return status;
  if (const int status = check_algorithm(c, Pass::forward, algo, Stage::fused)) return status;
  const Algorithm& a = *find_algorithm(Pass::forward, algo);
  if (!is_live(z_desc) || !is_live(bias_desc) || !is_live(activation) || !activation->set || !alpha1 || !alpha2)
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor or a factor is missing", page::convolution_fused);
  if (!same_shape(*z_desc, c.y) || !std::equal(c.y.strides, c.y.strides + c.y.nd, z_desc->strides) ||
      !is_channels(*bias_desc, c.y.type, c.y))
    return refuse(CUDNN_STATUS_BAD_PARAM, "z is not as y, or the bias not one number for each of its channels",
                  page::convolution_fused);
  const bool relu = activation->mode == CUDNN_ACTIVATION_RELU;
  if (!relu && algo != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "without an activation the algorithm must be IMPLICIT_PRECOMP_GEMM",
                  page::convolution_fused);
  if (const int status = check_workspace(Pass::forward, a, workspace_bytes)) return status;
  std::vector<Memory> memory = memory_of(c, x, w, y, workspace, workspace_bytes);
  memory.push_back({"z", z, extent(*z_desc)});
  memory.push_back({"bias", bias, extent(*bias_desc)});
  const Blend blend = read_blend(c.x.type, alpha1, alpha2);
  const std::uint64_t ns = duration(c, a, memory);
  const bool keeps_nan = activation->nan == CUDNN_PROPAGATE_NAN;
  return queue(handle, memory, ns, page::convolution_fused, [=, tf32 = rounds_to_tf32(c, a)](char* const* at) {
    if (workspace_bytes) std::memset(at[3], 0xa5, workspace_bytes);
    compute_convolution(window_of(c), Pass::forward, tf32, {blend.alpha, 0}, at[0], at[1], at[2],
                        {blend.beta, at[4], at[5], relu, keeps_nan});
  });
}

}  // extern "C"
