// libcudnn: descriptors of recurrent layers and of their data.
#include <algorithm>

#include "cudnn_rnn.hpp"
#include "exports.hpp"

using namespace emulator;
using namespace emulator::dnn;
using namespace abi;

namespace {

// Types that products are computed in, for tensors of a type.
bool computes_in(int type, int math_type) {
  if (type == CUDNN_DATA_HALF) return math_type == CUDNN_DATA_HALF || math_type == CUDNN_DATA_FLOAT;
  return math_type == (type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  return create("dropout desc", desc);
}
cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  return create("rnn desc", desc);
}
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  return create("rnn data desc", desc);
}
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}

cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t desc, cudnnHandle_t handle, float dropout, void*,
                                        std::size_t, unsigned long long) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_handle(handle)) return status;
  if (!is_live(desc) || dropout != 0)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor; or dropout, which is not emulated", page::cudnn_dropout);
  desc->set = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t desc, int algo, int cell, int bias, int direction,
                                       int input_mode, int type, int math_type, int math, std::int32_t inputs,
                                       std::int32_t hidden, std::int32_t projected, std::int32_t layers,
                                       cudnnDropoutDescriptor_t dropout, std::uint32_t flags) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_live(desc) || !is_live(dropout) || !dropout->set)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or its dropout was not set", page::rnn);
  if ((algo != CUDNN_RNN_ALGO_STANDARD && algo != CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H) ||
      input_mode != CUDNN_LINEAR_INPUT || layers != 1 || flags != CUDNN_RNN_PADDED_IO_DISABLED)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED,
                  "only one layer with weights for its inputs, by the standard algorithm or that for small layers, "
                  "without padding, is emulated",
                  page::rnn);
  if ((cell != CUDNN_RNN_TANH && cell != CUDNN_LSTM && cell != CUDNN_GRU) ||
      (bias != CUDNN_RNN_NO_BIAS && bias != CUDNN_RNN_DOUBLE_BIAS) ||
      (direction != CUDNN_UNIDIRECTIONAL && direction != CUDNN_BIDIRECTIONAL))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "cell " + std::to_string(cell) + ", biases " + std::to_string(bias) + " or direction " +
                      std::to_string(direction) + " is none, or not emulated",
                  page::rnn);
  if (!type_bytes(type) || !computes_in(type, math_type))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED,
                  "type " + std::to_string(type) + " is not computed in type " + std::to_string(math_type), page::rnn);
  if (math < CUDNN_DEFAULT_MATH || math > CUDNN_FMA_MATH ||
      (type == CUDNN_DATA_DOUBLE && math != CUDNN_DEFAULT_MATH && math != CUDNN_FMA_MATH))
    return refuse(CUDNN_STATUS_BAD_PARAM, "math type " + std::to_string(math) + " for type " + std::to_string(type),
                  page::rnn);
  if (inputs < 1 || hidden < 1 || projected < 0 || projected > hidden ||
      (projected > 0 && projected != hidden && cell != CUDNN_LSTM))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  std::to_string(inputs) + " inputs, " + std::to_string(hidden) + " units, projected to " +
                      std::to_string(projected) + "; only an LSTM's are, and to no more than there are",
                  page::rnn);
  *desc = {
      cell,   bias,   direction == CUDNN_BIDIRECTIONAL ? 2 : 1, type,   math,
      inputs, hidden, projected ? projected : hidden,           layers, algo == CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t desc, int type, int layout, int longest, int batch,
                                        int vector, const int* lengths, void*) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_live(desc) || !lengths)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or no lengths", page::rnn_data);
  if (!type_bytes(type) || layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED,
                  "type " + std::to_string(type) + " or layout " + std::to_string(layout) + " is not emulated",
                  page::rnn_data);
  if (longest < 1 || batch < 1 || vector < 1)
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  describe(std::vector{longest, batch, vector}.data(), 3) + ": sizes are at least 1", page::rnn_data);
  if (lengths[0] != longest || lengths[batch - 1] < 1 || !std::is_sorted(lengths, lengths + batch, std::greater<>()))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "packed sequences are ordered, the longest first, which is maxSeqLength, and none is empty: " +
                      describe(lengths, batch) + ", not " + std::to_string(longest),
                  page::rnn_data);
  *desc = {type, vector, {lengths, lengths + batch}};
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
