// Activations and reshapes as modules, for Sequential. They have no tensors, except PReLU.
#pragma once
#include "../ops/activations.hpp"
#include "../ops/softmax.hpp"
#include "module.hpp"

namespace tern::inline TERN_BUILD::nn {

/// A module of one pointwise function, with PyTorch's name.
#define TERN_ACTIVATION_MODULE(Name, function)                               \
  template <Device D, Element T = float>                                     \
  struct Name : Module<D, T> {                                               \
    TERN_FIELDS(Name)                                                        \
    Tensor<D, T> forward(const Tensor<D, T>& x) const { return function(x); } \
  };

TERN_ACTIVATION_MODULE(ReLU, relu)
TERN_ACTIVATION_MODULE(ReLU6, relu6)
TERN_ACTIVATION_MODULE(GELU, gelu)
TERN_ACTIVATION_MODULE(SiLU, silu)
TERN_ACTIVATION_MODULE(Mish, mish)
TERN_ACTIVATION_MODULE(ELU, elu)
TERN_ACTIVATION_MODULE(SELU, selu)
TERN_ACTIVATION_MODULE(LeakyReLU, leaky_relu)
TERN_ACTIVATION_MODULE(Softplus, softplus)
TERN_ACTIVATION_MODULE(Hardtanh, hardtanh)
TERN_ACTIVATION_MODULE(Hardswish, hardswish)
TERN_ACTIVATION_MODULE(Tanh, tanh)
TERN_ACTIVATION_MODULE(Sigmoid, sigmoid)
#undef TERN_ACTIVATION_MODULE

/// max(0, x) + weight min(0, x), with one weight, or one for each channel (dimension 1). Initial value: 0.25.
template <Device D, Element T = float>
struct PReLU : Module<D, T> {
  Parameter<D, T> weight = full<D, T>({1}, 0.25);
  struct Options {
    Index num_parameters = 1;
    double init = 0.25;
  };
  explicit PReLU(Options options) : weight(full<D, T>({options.num_parameters}, options.init)) {}
  TERN_FIELDS(PReLU, weight)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return prelu(x, weight); }
};

/// a σ(b), where a and b are the halves of a dimension.
template <Device D, Element T = float>
struct GLU : Module<D, T> {
  Index dim = -1;
  explicit GLU(Index over) : dim(over) {}
  TERN_FIELDS(GLU, dim)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return glu(x, dim); }
};

/// softmax over a dimension.
template <Device D, Element T = float>
struct Softmax : Module<D, T> {
  Index dim = -1;
  explicit Softmax(Index over) : dim(over) {}
  TERN_FIELDS(Softmax, dim)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return softmax(x, dim); }
};

/// log(softmax) over a dimension.
template <Device D, Element T = float>
struct LogSoftmax : Module<D, T> {
  Index dim = -1;
  explicit LogSoftmax(Index over) : dim(over) {}
  TERN_FIELDS(LogSoftmax, dim)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return log_softmax(x, dim); }
};

/// Merges dimensions start_dim … end_dim into one.
template <Device D, Element T = float>
struct Flatten : Module<D, T> {
  Index start_dim = 1, end_dim = -1;
  explicit Flatten(Index start, Index end = -1) : start_dim(start), end_dim(end) {}
  TERN_FIELDS(Flatten, start_dim, end_dim)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return flatten(x, start_dim, end_dim); }
};

}  // namespace tern::nn
