// The functions of cudnn_rnn.hpp that are not templates.
#pragma once
#include "cudnn_rnn.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_COLD RnnPlan::RnnPlan(Cudnn handle, int ordinal, const RnnForm& form) : form_(form) {
  // The first keeps a small layer's recurrent weights in registers through all steps: half the time of the second,
  // whose every step is several kernels, for 128 units in both directions on an H100.
  for (const int algorithm : {cudnn_small_layer_algorithm, cudnn_standard_algorithm}) {
    is_refused_ = !(describe(handle, algorithm) && ask_sizes(handle) && find_pieces(handle, ordinal));
    if (!is_refused_) return;
  }
}

TERN_INLINE bool RnnPlan::describe(Cudnn handle, int algorithm) {
  const bool is_double = form_.type == cudnn_double;
  // Without dropout there are no random numbers, and nothing runs.
  TERN_CUDNN(cudnnSetDropoutDescriptor, dropout_, handle, 0, nullptr, 0, 0);
  if (!TERN_CUDNN_SUPPORTS(cudnnSetRNNDescriptor_v8, rnn_, algorithm, form_.cell, form_.biases, form_.directions - 1,
                           cudnn_linear_input, form_.type, is_double ? cudnn_double : cudnn_float, form_.math,
                           form_.inputs, form_.hidden, form_.state, 1, dropout_, 0))
    return false;
  describe_states(h_, form_.state);
  describe_states(c_, form_.hidden);
  return true;
}

TERN_INLINE void RnnPlan::describe_states(CudnnTensor descriptor, int size) {
  const int sizes[] = {form_.directions, form_.sequences, size}, strides[] = {form_.sequences * size, size, 1};
  TERN_CUDNN(cudnnSetTensorNdDescriptor, descriptor, form_.type, 3, sizes, strides);
}

TERN_INLINE void RnnPlan::set_lengths(const int* lengths) {
  const auto set = [&](CudnnRNNData descriptor, int size) {
    TERN_CUDNN(cudnnSetRNNDataDescriptor, descriptor, form_.type, cudnn_packed_sequences, form_.steps, form_.sequences,
               size, lengths, nullptr);
  };
  set(x_, form_.inputs);
  set(y_, form_.directions * form_.state);
}

TERN_INLINE bool RnnPlan::ask_sizes(Cudnn handle) {
  // They depend on the longest sequence alone.
  set_lengths(std::vector<int>(std::size_t(form_.sequences), form_.steps).data());
  std::size_t none = 0;
  return TERN_CUDNN_SUPPORTS(cudnnGetRNNWeightSpaceSize, handle, rnn_, &weight_bytes_) &&
         TERN_CUDNN_SUPPORTS(cudnnGetRNNTempSpaceSizes, handle, rnn_, cudnn_inference, x_, &inference_bytes_, &none) &&
         TERN_CUDNN_SUPPORTS(cudnnGetRNNTempSpaceSizes, handle, rnn_, cudnn_training, x_, &training_bytes_,
                             &reserve_bytes_);
}

TERN_INLINE bool RnnPlan::find_pieces(Cudnn handle, int ordinal) {
  const Scratch block(ordinal, weight_bytes_);
  const OwnedCudnnTensor matrix, bias;
  const int gates = form_.cell == cudnn_lstm ? 4 : form_.cell == cudnn_gru ? 3 : 1;
  const std::size_t size = form_.type == cudnn_double  ? 8
                           : form_.type == cudnn_float ? 4
                                                       : 2,
                    hidden = std::size_t(form_.hidden) * size;
  bool in_order = true;
  for (int direction = 0; direction < form_.directions; ++direction) {
    const auto find = [&](int piece, std::size_t& matrix_at, std::size_t& bias_at) {
      void *matrix_data = nullptr, *bias_data = nullptr;
      TERN_CUDNN(cudnnGetRNNWeightParams, handle, rnn_, direction, weight_bytes_, block.data(), piece, matrix,
                 &matrix_data, bias, &bias_data);
      matrix_at = std::size_t(static_cast<char*>(matrix_data) - block.data());
      if (bias_data) bias_at = std::size_t(static_cast<char*>(bias_data) - block.data());
    };
    const auto find_gates = [&](int first, std::size_t columns, std::size_t& matrix_at, std::size_t& bias_at) {
      find(first, matrix_at, bias_at);
      for (int gate = 1; gate < gates; ++gate) {
        std::size_t next = 0, next_bias = 0;
        find(first + gate, next, next_bias);
        in_order &= next == matrix_at + std::size_t(gate) * columns * hidden;
        in_order &= form_.biases == cudnn_no_bias || next_bias == bias_at + std::size_t(gate) * hidden;
      }
    };
    RnnPieces& p = pieces_[direction];
    find_gates(0, std::size_t(form_.inputs), p.w_ih, p.b_ih);
    find_gates(gates, std::size_t(form_.state), p.w_hh, p.b_hh);
    std::size_t none = 0;
    if (form_.state < form_.hidden) find(2 * gates, p.w_hr, none);
  }
  return in_order;
}

TERN_INLINE bool RnnPlan::forward(Cudnn handle, int ordinal, const int* lengths, const RnnMemory& m) {
  set_lengths(lengths);
  const std::size_t bytes = m.reserve ? training_bytes_ : inference_bytes_;
  const Scratch workspace(ordinal, bytes);
  const Span span(tern::detail::Work::kernel, "recurrent layer", ordinal, bind(ordinal).compute);
  const bool done = TERN_CUDNN_SUPPORTS(cudnnRNNForward, handle, rnn_, m.reserve ? cudnn_training : cudnn_inference,
                                        nullptr, x_, m.x, y_, m.y, h_, m.h0, m.h_n, c_, m.c0, m.c_n, weight_bytes_,
                                        m.weights, bytes, workspace.data(), m.reserve ? reserve_bytes_ : 0, m.reserve);
  is_refused_ |= !done;
  return done;
}

TERN_INLINE bool RnnPlan::backward(Cudnn handle, int ordinal, const int* lengths, const RnnGradientMemory& m) {
  set_lengths(lengths);
  const Scratch workspace(ordinal, training_bytes_), reserve(ordinal, reserve_bytes_);
  // The pass writes to the reserve, and the graph may be kept for another one.
  start_copy_on_device(ordinal, reserve.data(), m.reserve, reserve_bytes_);
  const Span span(tern::detail::Work::kernel, "recurrent layer's gradient", ordinal, bind(ordinal).compute);
  const bool done =
      TERN_CUDNN_SUPPORTS(cudnnRNNBackwardData_v8, handle, rnn_, nullptr, y_, m.y, m.dy, x_, m.dx, h_, m.h0, m.dh_n,
                          m.dh0, c_, m.c0, m.dc_n, m.dc0, weight_bytes_, m.weights, training_bytes_, workspace.data(),
                          reserve_bytes_, reserve.data()) &&
      (!m.dweights || TERN_CUDNN_SUPPORTS(cudnnRNNBackwardWeights_v8, handle, rnn_, cudnn_add_gradient, nullptr, x_,
                                          m.x, h_, m.h0, y_, m.y, weight_bytes_, m.dweights, training_bytes_,
                                          workspace.data(), reserve_bytes_, reserve.data()));
  is_refused_ |= !done;
  return done;
}

TERN_INLINE RnnPlans& rnn_plans(int ordinal) {
  static std::vector<RnnPlans>& all = *new std::vector<RnnPlans>(system().devices.size());
  return all[std::size_t(ordinal)];
}

}}}  // namespace tern::cuda::detail
