// cuDNN's recurrent layers: one layer, in one direction or both, for sequences that are packed.
#pragma once
#include <vector>

#include "copy.hpp"
#include "cudnn.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_CUDNN_OWNED(OwnedCudnnDropout, CudnnDropout, Dropout)
TERN_CUDNN_OWNED(OwnedCudnnRNN, CudnnRNN, RNN)
TERN_CUDNN_OWNED(OwnedCudnnRNNData, CudnnRNNData, RNNData)

/// A layer as cuDNN describes it, for a number of sequences of at most a number of steps.
struct RnnForm {
  CudnnType type;
  CudnnMath math;
  CudnnCell cell;
  CudnnBiases biases;
  int directions, inputs, hidden, state, sequences, steps;

  bool operator==(const RnnForm&) const = default;
  std::uint64_t hash() const { return tern::detail::hash_fields(*this); }
};

/// Where the weights of a direction begin in cuDNN's block, in bytes.
struct RnnPieces {
  std::size_t w_ih, w_hh, b_ih, b_hh, w_hr;
};

/// The addresses of a layer's elements. h0, c0, their gradients and dweights may be null.
struct RnnMemory {
  const void *x, *h0, *c0, *weights;
  void *y, *h_n, *c_n;
  void* reserve;  // null: there will be no backward pass
};
struct RnnGradientMemory {
  const void *x, *h0, *c0, *weights, *y, *dy, *dh_n, *dc_n;
  void *dx, *dh0, *dc0, *dweights;
  const void* reserve;
};

/// The descriptors of a layer, and the sizes of its memory.
class TERN_API RnnPlan {
 public:
  RnnPlan(Cudnn handle, int ordinal, const RnnForm& form);

  const RnnForm& key() const { return form_; }

  /// True if cuDNN does not compute the layer.
  bool is_refused() const { return is_refused_; }
  std::size_t weight_bytes() const { return weight_bytes_; }
  std::size_t reserve_bytes() const { return reserve_bytes_; }
  const RnnPieces& pieces(int direction) const { return pieces_[direction]; }

  // lengths: of the sequences, the longest first. They return false if cuDNN does not support it after all.
  bool forward(Cudnn handle, int ordinal, const int* lengths, const RnnMemory& m);
  bool backward(Cudnn handle, int ordinal, const int* lengths, const RnnGradientMemory& m);

 private:
  bool describe(Cudnn handle, int algorithm);
  void describe_states(CudnnTensor descriptor, int size);
  void set_lengths(const int* lengths);
  bool ask_sizes(Cudnn handle);
  /// Asks where the weights are. False if the gates of one weight do not lie one behind the other.
  bool find_pieces(Cudnn handle, int ordinal);

  const RnnForm form_;
  OwnedCudnnDropout dropout_;
  OwnedCudnnRNN rnn_;
  OwnedCudnnRNNData x_, y_;
  OwnedCudnnTensor h_, c_;
  std::size_t weight_bytes_ = 0, inference_bytes_ = 0, training_bytes_ = 0, reserve_bytes_ = 0;
  RnnPieces pieces_[2] = {};
  bool is_refused_ = false;
};

using RnnPlans = tern::detail::KeyedCache<RnnPlan, RnnForm>;
using RnnLease = tern::detail::Lease<RnnPlan, RnnForm>;
/// The plans for one device.
TERN_API RnnPlans& rnn_plans(int ordinal);

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "cudnn_rnn.ipp"
#endif

#undef TERN_CUDNN
#undef TERN_CUDNN_OWNED
#undef TERN_CUDNN_SUPPORTS
