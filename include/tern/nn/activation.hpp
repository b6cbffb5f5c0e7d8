// Activations and reshapes as modules, for Sequential. They have no tensors, except PReLU.
#pragma once
#include "../core/options.hpp"
#include "../ops/rrelu.hpp"
#include "../ops/shape.hpp"
#include "../ops/softmax.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {
/// The option as a literal, which outlives its caller's text. Error unless it is "none" or "tanh".
inline const char* checked_approximation(const char* formula, const CallSite& here) {
  for (const char* const known : {"none", "tanh"})
    if (!std::strcmp(formula, known)) return known;
  Error::fail({"GELU", here}, {"approximate is \"none\" or \"tanh\", not \"", formula, "\""});
}
}  // namespace detail

/// A module of one pointwise function without options, with PyTorch's name.
#define TERN_ACTIVATION_MODULE(Name, function)                                                          \
  template <Device D, Element T = float>                                                                \
  struct Name : ModuleOf<Name<D, T>, D, T> {                                                            \
    TERN_LAYER(Name)                                                                                    \
    Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return function(x, here); } \
  };

TERN_ACTIVATION_MODULE(LogSigmoid, logsigmoid)
TERN_ACTIVATION_MODULE(Softsign, softsign)
TERN_ACTIVATION_MODULE(Tanhshrink, tanhshrink)
TERN_ACTIVATION_MODULE(Tanh, tanh)
TERN_ACTIVATION_MODULE(Sigmoid, sigmoid)
#undef TERN_ACTIVATION_MODULE

/// The same with one number as an option, such as LeakyReLU(0.2).
#define TERN_ACTIVATION_MODULE(Name, function, option, standard)                                                \
  template <Device D, Element T = float>                                                                        \
  struct Name : ModuleOf<Name<D, T>, D, T> {                                                                    \
    double option = standard;                                                                                   \
    explicit Name(tern::detail::RealNumber value) : option(value) {}                                            \
    TERN_LAYER(Name, option)                                                                                    \
    Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return function(x, option, here); } \
  };

TERN_ACTIVATION_MODULE(Hardshrink, hardshrink, lambda, 0.5)
TERN_ACTIVATION_MODULE(Softshrink, softshrink, lambda, 0.5)
#undef TERN_ACTIVATION_MODULE

/// A pointwise function that may write its argument instead: ReLU(true) is relu_(x).
#define TERN_ACTIVATION_MODULE(Name, function)                              \
  template <Device D, Element T = float>                                    \
  struct Name : ModuleOf<Name<D, T>, D, T> {                                \
    bool inplace = false;                                                   \
    explicit Name(tern::detail::Positional<bool> on) : inplace(on) {}       \
    TERN_LAYER(Name, inplace)                                               \
    Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { \
      const CallScope scope(here);                                          \
      return inplace ? Tensor<D, T>(function##_(x)) : function(x);          \
    }                                                                       \
  };

TERN_ACTIVATION_MODULE(ReLU, relu)
TERN_ACTIVATION_MODULE(ReLU6, relu6)
TERN_ACTIVATION_MODULE(SiLU, silu)
TERN_ACTIVATION_MODULE(Mish, mish)
TERN_ACTIVATION_MODULE(SELU, selu)
TERN_ACTIVATION_MODULE(Hardswish, hardswish)
TERN_ACTIVATION_MODULE(Hardsigmoid, hardsigmoid)
#undef TERN_ACTIVATION_MODULE

/// The same with one number as an option, such as LeakyReLU(0.2, true).
#define TERN_ACTIVATION_MODULE(Name, function, option, standard)                             \
  template <Device D, Element T = float>                                                     \
  struct Name : ModuleOf<Name<D, T>, D, T> {                                                 \
    double option = standard;                                                                \
    bool inplace = false;                                                                    \
    explicit Name(tern::detail::RealNumber value, tern::detail::Positional<bool> on = false) \
        : option(value), inplace(on) {}                                                      \
    TERN_LAYER(Name, option, inplace)                                                        \
    Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {                  \
      const CallScope scope(here);                                                           \
      return inplace ? Tensor<D, T>(function##_(x, option)) : function(x, option);           \
    }                                                                                        \
  };

TERN_ACTIVATION_MODULE(ELU, elu, alpha, 1)
TERN_ACTIVATION_MODULE(CELU, celu, alpha, 1)
TERN_ACTIVATION_MODULE(LeakyReLU, leaky_relu, negative_slope, 0.01)
#undef TERN_ACTIVATION_MODULE

/// gelu(x, approximate): "none", or "tanh" for a cheaper formula.
template <Device D, Element T = float>
struct GELU : ModuleOf<GELU<D, T>, D, T> {
  const char* approximate = "none";
  explicit GELU(const char* formula, CallSite here = {}) : approximate(detail::checked_approximation(formula, here)) {}
  TERN_LAYER(GELU, approximate)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return gelu(x, approximate, here); }
};

/// log(1 + e^(beta x)) / beta; x itself if beta x is above the threshold.
template <Device D, Element T = float>
struct Softplus : ModuleOf<Softplus<D, T>, D, T> {
  double beta = 1, threshold = 20;
  explicit Softplus(tern::detail::RealNumber steepness, tern::detail::RealNumber limit = 20)
      : beta(steepness), threshold(limit) {}
  TERN_LAYER(Softplus, beta, threshold)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return softplus(x, beta, threshold, here); }
};

/// x limited to [min_val, max_val].
template <Device D, Element T = float>
struct Hardtanh : ModuleOf<Hardtanh<D, T>, D, T> {
  double min_val = -1, max_val = 1;
  Hardtanh(tern::detail::RealNumber low, tern::detail::RealNumber high, CallSite here = {})
      : min_val(low), max_val(high) {
    if (!(low < high))
      Error::fail({"Hardtanh", here}, {"min_val ", low.value(), " must be less than max_val ", high.value()});
  }
  TERN_LAYER(Hardtanh, min_val, max_val)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return hardtanh(x, min_val, max_val, here); }
};

/// x if x is above the threshold, else value.
template <Device D, Element T = float>
struct Threshold : ModuleOf<Threshold<D, T>, D, T> {
  double threshold = 0, value = 0;
  Threshold(tern::detail::RealNumber limit, tern::detail::RealNumber otherwise) : threshold(limit), value(otherwise) {}
  TERN_LAYER(Threshold, threshold, value)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return tern::threshold(x, threshold, value, here);
  }
};

/// max(0, x) + weight min(0, x), with one weight, or one for each channel (dimension 1). Initial value: 0.25.
template <Device D, Element T = float>
struct PReLU : ModuleOf<PReLU<D, T>, D, T> {
  Parameter<D, T> weight = full<D, T>({1}, 0.25);
  struct Options {
    tern::detail::ByName by_name{};
    Index num_parameters = 1;
    double init = 0.25;
  };
  explicit PReLU(Options options, CallSite here = {})
      : weight(full<D, T>({options.num_parameters}, options.init, {}, here)) {}
  explicit PReLU(tern::detail::Positional<Index> num_parameters, tern::detail::RealNumber init = 0.25,
                 CallSite here = {})
      : PReLU({.num_parameters = num_parameters, .init = init}, here) {}
  TERN_LAYER(PReLU, weight)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return prelu(x, weight, here); }
};

/// rrelu: in training each element has its own slope for x <= 0, uniform in [lower, upper); in evaluation it is their
/// mean.
template <Device D, Element T = float>
struct RReLU : ModuleOf<RReLU<D, T>, D, T> {
  double lower = 1. / 8, upper = 1. / 3;
  explicit RReLU(double low, double high = 1. / 3, CallSite here = {}) : lower(low), upper(high) {
    if (!(lower <= upper)) Error::fail({"RReLU", here}, {"lower ", lower, " is above upper ", upper});
  }
  TERN_LAYER(RReLU, lower, upper)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return rrelu(x, lower, upper, this->is_training(), here);
  }
};

/// a σ(b), where a and b are the halves of a dimension.
template <Device D, Element T = float>
struct GLU : ModuleOf<GLU<D, T>, D, T> {
  Index dim = -1;
  explicit GLU(Index over) : dim(over) {}
  TERN_LAYER(GLU, dim)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return glu(x, dim, here); }
};

/// softmax over a dimension.
template <Device D, Element T = float>
struct Softmax : ModuleOf<Softmax<D, T>, D, T> {
  Index dim = -1;
  explicit Softmax(Index over) : dim(over) {}
  TERN_LAYER(Softmax, dim)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return softmax(x, dim, here); }
};

/// softmax over the channels of images, [N, C, H, W] or [C, H, W].
template <Device D, Element T = float>
struct Softmax2d : ModuleOf<Softmax2d<D, T>, D, T> {
  TERN_LAYER(Softmax2d)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    const int n = x.checked("Softmax2d")->ndim;
    if (n != 3 && n != 4) Error::fail("Softmax2d", {"images [N, C, H, W] or [C, H, W] are needed, not ", x.shape()});
    return softmax(x, -3);
  }
};

/// softmax of -x over a dimension.
template <Device D, Element T = float>
struct Softmin : ModuleOf<Softmin<D, T>, D, T> {
  Index dim = -1;
  explicit Softmin(Index over) : dim(over) {}
  TERN_LAYER(Softmin, dim)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return softmin(x, dim, here); }
};

/// log(softmax) over a dimension.
template <Device D, Element T = float>
struct LogSoftmax : ModuleOf<LogSoftmax<D, T>, D, T> {
  Index dim = -1;
  explicit LogSoftmax(Index over) : dim(over) {}
  TERN_LAYER(LogSoftmax, dim)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return log_softmax(x, dim, here); }
};

/// x itself.
template <Device D, Element T = float>
struct Identity : ModuleOf<Identity<D, T>, D, T> {
  TERN_LAYER(Identity)
  template <class X>
  X forward(const X& x, CallSite here = {}) const {
    const CallScope scope(here);
    return x;
  }
};

/// Merges dimensions start_dim … end_dim into one.
template <Device D, Element T = float>
struct Flatten : ModuleOf<Flatten<D, T>, D, T> {
  Index start_dim = 1, end_dim = -1;
  explicit Flatten(Index start, Index end = -1) : start_dim(start), end_dim(end) {}
  TERN_LAYER(Flatten, start_dim, end_dim)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return flatten(x, start_dim, end_dim, here); }
};

/// Splits dimension dim into several of the given sizes, of which one may be -1.
template <Device D, Element T = float>
struct Unflatten : ModuleOf<Unflatten<D, T>, D, T> {
  Index dim = 1;
  std::vector<Index> sizes{-1};
  Unflatten(Index d, std::vector<Index> unflattened_size) : dim(d), sizes(std::move(unflattened_size)) {}
  TERN_LAYER(Unflatten, dim, sizes)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return unflatten(x, dim, sizes, here); }
};

}}}  // namespace tern::nn
