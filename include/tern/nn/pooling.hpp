// Pooling layers.
#pragma once
#include "../ops/pooling.hpp"
#include "module.hpp"

namespace tern::inline TERN_BUILD::nn {

// MaxPool, AvgPool, AdaptiveAvgPool and AdaptiveMaxPool for images of n = 1, 2 or 3 dimensions. They call max_poolnd(x,
// kernel_size, options) and so on; see ops/pooling.hpp.
#define TERN_POOLING_LAYER(Name, function, Options)                                                 \
  template <Device D, Element T = float>                                                            \
  struct Name : Module<D, T> {                                                                      \
    Dims kernel_size;                                                                               \
    Options options;                                                                                \
    Name(const Dims& size, const Options& how = {}) : kernel_size(size), options(how) {}            \
    TERN_FIELDS(Name, kernel_size, options)                                                         \
    Tensor<D, T> forward(const Tensor<D, T>& x) const { return function(x, kernel_size, options); } \
  };
TERN_POOLING_LAYER(MaxPool1d, max_pool1d, MaxPoolOptions)
TERN_POOLING_LAYER(MaxPool2d, max_pool2d, MaxPoolOptions)
TERN_POOLING_LAYER(MaxPool3d, max_pool3d, MaxPoolOptions)
TERN_POOLING_LAYER(AvgPool1d, avg_pool1d, AvgPoolOptions)
TERN_POOLING_LAYER(AvgPool2d, avg_pool2d, AvgPoolOptions)
TERN_POOLING_LAYER(AvgPool3d, avg_pool3d, AvgPoolOptions)
#undef TERN_POOLING_LAYER

#define TERN_ADAPTIVE_POOLING_LAYER(Name, function)                                        \
  template <Device D, Element T = float>                                                   \
  struct Name : Module<D, T> {                                                             \
    Dims output_size;                                                                      \
    explicit Name(const Dims& size) : output_size(size) {}                                 \
    TERN_FIELDS(Name, output_size)                                                         \
    Tensor<D, T> forward(const Tensor<D, T>& x) const { return function(x, output_size); } \
  };
TERN_ADAPTIVE_POOLING_LAYER(AdaptiveAvgPool1d, adaptive_avg_pool1d)
TERN_ADAPTIVE_POOLING_LAYER(AdaptiveAvgPool2d, adaptive_avg_pool2d)
TERN_ADAPTIVE_POOLING_LAYER(AdaptiveAvgPool3d, adaptive_avg_pool3d)
TERN_ADAPTIVE_POOLING_LAYER(AdaptiveMaxPool1d, adaptive_max_pool1d)
TERN_ADAPTIVE_POOLING_LAYER(AdaptiveMaxPool2d, adaptive_max_pool2d)
TERN_ADAPTIVE_POOLING_LAYER(AdaptiveMaxPool3d, adaptive_max_pool3d)
#undef TERN_ADAPTIVE_POOLING_LAYER

/// (sum over a window of x^norm_type)^(1/norm_type).
#define TERN_LP_POOLING_LAYER(Name, function)                                                                          \
  template <Device D, Element T = float>                                                                               \
  struct Name : Module<D, T> {                                                                                         \
    double norm_type = 2;                                                                                              \
    Dims kernel_size;                                                                                                  \
    LpPoolOptions options;                                                                                             \
    Name(double p, const Dims& size, const LpPoolOptions& how = {}) : norm_type(p), kernel_size(size), options(how) {} \
    TERN_FIELDS(Name, norm_type, kernel_size, options)                                                                 \
    Tensor<D, T> forward(const Tensor<D, T>& x) const { return function(x, norm_type, kernel_size, options); }         \
  };
TERN_LP_POOLING_LAYER(LPPool1d, lp_pool1d)
TERN_LP_POOLING_LAYER(LPPool2d, lp_pool2d)
TERN_LP_POOLING_LAYER(LPPool3d, lp_pool3d)
#undef TERN_LP_POOLING_LAYER

}  // namespace tern::nn
