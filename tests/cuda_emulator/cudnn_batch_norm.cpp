// libcudnn: batch normalisation as work on a stream.
#include <algorithm>

#include "call.hpp"
#include "cudnn.hpp"
#include "exports.hpp"
#include "settings.hpp"

using namespace emulator;
using namespace emulator::dnn;
using namespace abi;

namespace {

// What the three functions ask alike. `b` is set after it.
int begin(cudnnHandle_t handle, int mode, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
          cudnnTensorDescriptor_t parameters, double epsilon, std::initializer_list<const void*> factors,
          const char* page, BatchNorm& b) {
  if (const int status = check_handle(handle)) return status;
  if (!is_live(x) || !is_live(y) || !is_live(parameters) || std::count(factors.begin(), factors.end(), nullptr))
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor or a factor is missing", page);
  if (mode != CUDNN_BATCHNORM_SPATIAL && mode != CUDNN_BATCHNORM_SPATIAL_PERSISTENT)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "only the spatial modes are emulated", page);
  if (x->nd < 4 || x->nd > 5 || x->type != y->type || x->nd != y->nd || !std::equal(x->dims, x->dims + x->nd, y->dims))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "x and y are alike, of 4 or 5 dimensions; they are " + describe(x->dims, x->nd) + " and " +
                      describe(y->dims, y->nd),
                  page);
  int channels[CUDNN_DIM_MAX] = {1, x->dims[1], 1, 1, 1};
  const int type = x->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  if (parameters->type != type || parameters->nd != x->nd || !std::equal(channels, channels + x->nd, parameters->dims))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "parameters are " + describe(channels, x->nd) + " of type " + std::to_string(type) + ", not " +
                      describe(parameters->dims, parameters->nd) + " of type " + std::to_string(parameters->type),
                  page);
  if (!(epsilon >= 0)) return refuse(CUDNN_STATUS_BAD_PARAM, "epsilon is less than CUDNN_BN_MIN_EPSILON", page);
  b = {*x, *y, epsilon, 0};
  return CUDNN_STATUS_SUCCESS;
}

int check_pair(const void* first, const void* second, const char* what, const char* page) {
  if (!first == !second) return CUDNN_STATUS_SUCCESS;
  return refuse(CUDNN_STATUS_BAD_PARAM, std::string("only one of the ") + what + " is null", page);
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, int mode, const void* alpha, const void* beta, cudnnTensorDescriptor_t x_desc, const void* x,
    cudnnTensorDescriptor_t y_desc, void* y, cudnnTensorDescriptor_t parameters, const void* scale, const void* bias,
    double factor, void* running_mean, void* running_variance, double epsilon, void* saved_mean, void* saved_inverse) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  BatchNorm b;
  if (const int status = begin(handle, mode, x_desc, y_desc, parameters, epsilon, {alpha, beta}, page::batch_norm, b))
    return status;
  if (const int status = check_pair(running_mean, running_variance, "running statistics", page::batch_norm))
    return status;
  if (const int status = check_pair(saved_mean, saved_inverse, "saved statistics", page::batch_norm)) return status;
  b.factor = factor;
  const std::size_t one = extent(*parameters);
  const std::vector<Memory> memory{{"x", x, extent(b.x)},
                                   {"y", y, extent(b.y)},
                                   {"scale", scale, one},
                                   {"bias", bias, one},
                                   {"running mean", running_mean, one, true},
                                   {"running variance", running_variance, one, true},
                                   {"saved mean", saved_mean, one, true},
                                   {"saved inverse", saved_inverse, one, true}};
  return queue(handle, memory, time_of(0, 1, memory), page::batch_norm,
               [b, blend = read_blend(b.x.type, alpha, beta)](char* const* at) {
                 normalise_training(b, blend, {at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]});
               });
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, int mode, const void* alpha,
                                                      const void* beta, cudnnTensorDescriptor_t x_desc, const void* x,
                                                      cudnnTensorDescriptor_t y_desc, void* y,
                                                      cudnnTensorDescriptor_t parameters, const void* scale,
                                                      const void* bias, const void* mean, const void* variance,
                                                      double epsilon) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  BatchNorm b;
  if (const int status = begin(handle, mode, x_desc, y_desc, parameters, epsilon, {alpha, beta}, page::batch_norm, b))
    return status;
  const std::size_t one = extent(*parameters);
  const std::vector<Memory> memory{{"x", x, extent(b.x)}, {"y", y, extent(b.y)}, {"scale", scale, one},
                                   {"bias", bias, one},   {"mean", mean, one},   {"variance", variance, one}};
  return queue(handle, memory, time_of(0, 1, memory), page::batch_norm,
               [b, blend = read_blend(b.x.type, alpha, beta)](char* const* at) {
                 normalise_inference(b, blend, {at[0], at[1], at[2], at[3], at[4], at[5]});
               });
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, int mode, const void* alpha_data, const void* beta_data, const void* alpha_parameters,
    const void* beta_parameters, cudnnTensorDescriptor_t x_desc, const void* x, cudnnTensorDescriptor_t dy_desc,
    const void* dy, cudnnTensorDescriptor_t dx_desc, void* dx, cudnnTensorDescriptor_t parameters, const void* scale,
    void* dscale, void* dbias, double epsilon, const void* saved_mean, const void* saved_inverse) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  BatchNorm b;
  const auto factors = {alpha_data, beta_data, alpha_parameters, beta_parameters};
  if (const int status =
          begin(handle, mode, x_desc, dx_desc, parameters, epsilon, factors, page::batch_norm_backward, b))
    return status;
  if (!is_live(dy_desc) || dy_desc->type != x_desc->type || dy_desc->nd != x_desc->nd ||
      !std::equal(x_desc->dims, x_desc->dims + x_desc->nd, dy_desc->dims) ||
      !std::equal(x_desc->strides, x_desc->strides + x_desc->nd, dy_desc->strides))
    return refuse(CUDNN_STATUS_BAD_PARAM, "dy is not as x", page::batch_norm_backward);
  if (const int status = check_pair(saved_mean, saved_inverse, "saved statistics", page::batch_norm_backward))
    return status;
  const std::size_t one = extent(*parameters);
  const std::vector<Memory> memory{{"x", x, extent(b.x)},
                                   {"dy", dy, extent(b.x)},
                                   {"dx", dx, extent(b.y)},
                                   {"scale", scale, one},
                                   {"dscale", dscale, one},
                                   {"dbias", dbias, one},
                                   {"saved mean", saved_mean, one, true},
                                   {"saved inverse", saved_inverse, one, true}};
  const Blend data = read_blend(b.x.type, alpha_data, beta_data),
              of = read_blend(b.x.type, alpha_parameters, beta_parameters);
  return queue(handle, memory, time_of(0, 1, memory), page::batch_norm_backward, [b, data, of](char* const* at) {
    normalise_backward(b, data, of, {at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]});
  });
}

}  // extern "C"
