// BatchNorm1d, BatchNorm2d, BatchNorm3d.
#pragma once
#include "../core/options.hpp"
#include "../ops/activations.hpp"
#include "../ops/batch_norm.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct BatchNormOptions {
  tern::detail::ByName by_name{};
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // without a value, running statistics average over all batches so far
  bool affine = true;                    // has weight and bias
  bool track_running_stats = true;       // if false, evaluation too normalises by the batch's own statistics
};

namespace detail {

inline constexpr const char* batch_norm_names[] = {"BatchNorm1d", "BatchNorm2d", "BatchNorm3d"};

/// The statistics for a layer's next call.
template <class D, class T>
struct BatchNormCall {
  Tensor<D, compute_t<T>> mean, var;
  bool training;
  double momentum = 0;

  template <class M>
  explicit BatchNormCall(const M& layer) : mean(layer.running_mean), var(layer.running_var) {
    training = layer.is_training() || !mean.defined();
    momentum = layer.options.momentum.value_or(0);
    if (!layer.is_training() || !mean.defined()) return;
    add_(layer.num_batches_tracked, 1);
    if (!layer.options.momentum) momentum = 1 / double(layer.num_batches_tracked.item());
  }
};

/// Normalises a layer's input by statistics of more samples than its own, such as those of other processes.
template <class D, class T>
struct SyncStatistics {
  virtual ~SyncStatistics() {}
  /// batch_norm of x in training, with the layer's tensors.
  virtual Tensor<D, T> normalise(const Tensor<D, T>& x, const BatchNormCall<D, T>& call,
                                 const Tensor<D, compute_t<T>>& weight, const Tensor<D, compute_t<T>>& bias,
                                 double eps) const = 0;
};

/// Error unless x has `least` to `most` dimensions.
[[gnu::noinline, gnu::cold]] inline void check_batch_norm_input(const char* layer, const tern::detail::Array* x,
                                                                int least, int most) {
  if (x && (x->ndim < least || x->ndim > most))
    Error::fail(layer, {"an input of ", least, least == most ? "" : " or ",
                        least == most ? tern::detail::Piece("") : tern::detail::Piece(most),
                        " dimensions is needed, not ", x->shape_ref()});
}

}  // namespace detail

/// For each channel of [N, C], [N, C, L] (1d), [N, C, H, W] (2d), [N, C, D, H, W] (3d): (x - mean) / sqrt(var + eps)
/// weight + bias (Ioffe, Szegedy: "Batch normalization", 2015). Training takes the batch's mean and variance, and
/// updates running_mean and running_var. Evaluation takes running_mean and running_var. weight starts as ones, bias as
/// zeros. relu(x) applies relu to the result, and add_relu(x, residual) to the result + residual, without further
/// passes over memory. Without a momentum, the host waits for the device in training. A layer that fuse_for_inference
/// has folded into a convolution has no tensors and returns x.
template <int dims, Device D, Element T = float>
struct BatchNormNd : ModuleOf<BatchNormNd<dims, D, T>, D, T> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  BatchNormOptions options;
  Parameter<D, T> weight, bias;
  Buffer<D, T> running_mean, running_var;
  Tensor<D, Index> num_batches_tracked;
  bool folded = false;
  /// What training takes instead of the batch's own statistics; distributed::convert_sync_batchnorm sets it. Copies of
  /// the layer have none.
  std::shared_ptr<const detail::SyncStatistics<D, T>> sync;

  explicit BatchNormNd(Index num_features, const BatchNormOptions& chosen = {}, CallSite here = {}) : options(chosen) {
    const CallScope scope({BatchNormNd::type_name(), here});
    if (num_features < 0) Error::fail(BatchNormNd::type_name(), {"num_features must not be negative: ", num_features});
    if (chosen.affine) weight = ones<D, T>(num_features), bias = zeros<D, T>(num_features);
    if (!chosen.track_running_stats) return;
    running_mean = zeros<D, compute_t<T>>(num_features);
    running_var = ones<D, compute_t<T>>(num_features);
    num_batches_tracked = zeros<D, Index>({});
  }
  BatchNormNd(Index num_features, tern::detail::RealNumber eps, std::optional<double> momentum = 0.1,
              tern::detail::Positional<bool> affine = true, tern::detail::Positional<bool> track_running_stats = true,
              CallSite here = {})
      : BatchNormNd(num_features,
                    {.eps = eps, .momentum = momentum, .affine = affine, .track_running_stats = track_running_stats},
                    here) {}
  TERN_LAYER_AS(BatchNormNd, detail::batch_norm_names[dims - 1], options, weight, bias, running_mean, running_var,
                num_batches_tracked, folded)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    check_input(x);
    if (folded) return x;
    const detail::BatchNormCall<D, T> c(*this);
    if (sync && this->is_training()) return synchronized(x, c);
    return batch_norm(x, c.mean, c.var, weight.promoted(), bias.promoted(), c.training, c.momentum, options.eps);
  }
  Tensor<D, T> relu(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    check_input(x);
    if (folded) return tern::relu(x, here);
    const detail::BatchNormCall<D, T> c(*this);
    if (sync && this->is_training()) return tern::relu(synchronized(x, c), here);
    return batch_norm_relu(x, c.mean, c.var, weight.promoted(), bias.promoted(), c.training, c.momentum, options.eps);
  }
  Tensor<D, T> add_relu(const Tensor<D, T>& x, const Tensor<D, T>& residual, CallSite here = {}) const {
    const CallScope scope(here);
    check_input(x);
    if (folded) return tern::relu(add(x, residual, 1, here), here);
    const detail::BatchNormCall<D, T> c(*this);
    if (sync && this->is_training()) return tern::relu(add(synchronized(x, c), residual, 1, here), here);
    return batch_norm_add_relu(x, residual, c.mean, c.var, weight.promoted(), bias.promoted(), c.training, c.momentum,
                               options.eps);
  }

 private:
  Tensor<D, T> synchronized(const Tensor<D, T>& x, const detail::BatchNormCall<D, T>& call) const {
    return sync->normalise(x, call, weight.promoted(), bias.promoted(), options.eps);
  }
  void check_input(const Tensor<D, T>& x) const {
    detail::check_batch_norm_input(BatchNormNd::type_name(), x.impl(), dims == 1 ? 2 : dims + 2, dims + 2);
  }
};

/// BatchNormNd of [N, C] or [N, C, L].
template <Device D, Element T = float>
using BatchNorm1d = BatchNormNd<1, D, T>;

/// BatchNormNd of [N, C, H, W].
template <Device D, Element T = float>
using BatchNorm2d = BatchNormNd<2, D, T>;

/// BatchNormNd of [N, C, D, H, W].
template <Device D, Element T = float>
using BatchNorm3d = BatchNormNd<3, D, T>;

}}}  // namespace tern::nn
