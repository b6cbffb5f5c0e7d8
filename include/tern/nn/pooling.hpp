// MaxPool, MaxUnpool, AvgPool, AdaptiveMaxPool, AdaptiveAvgPool and LPPool over 1, 2 or 3 dimensions.
#pragma once
#include "../ops/max_unpool.hpp"
#include "../ops/pooling.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

inline constexpr const char* max_pool_names[] = {"MaxPool1d", "MaxPool2d", "MaxPool3d"};
inline constexpr const char* max_unpool_names[] = {"MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"};
inline constexpr const char* avg_pool_names[] = {"AvgPool1d", "AvgPool2d", "AvgPool3d"};
inline constexpr const char* adaptive_max_pool_names[] = {"AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
                                                          "AdaptiveMaxPool3d"};
inline constexpr const char* adaptive_avg_pool_names[] = {"AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
                                                          "AdaptiveAvgPool3d"};
inline constexpr const char* lp_pool_names[] = {"LPPool1d", "LPPool2d", "LPPool3d"};

}  // namespace detail

/// The largest element of each window of `dims` dimensions: MaxPool1d, MaxPool2d or MaxPool3d.
template <int dims, Device D, Element T = float>
struct MaxPoolNd : ModuleOf<MaxPoolNd<dims, D, T>, D, T> {
  tern::detail::Dims kernel_size;
  MaxPoolOptions options;
  MaxPoolNd(const tern::detail::Dims& size, const MaxPoolOptions& chosen = {}) : kernel_size(size), options(chosen) {}
  template <std::size_t n>
  explicit MaxPoolNd(const Index (&size)[n], CallSite here = {}) : MaxPoolNd(tern::detail::Dims(size, int(n), here)) {}
  MaxPoolNd(const tern::detail::Dims& size, const tern::detail::Positional<tern::detail::Dims>& stride,
            const tern::detail::Dims& padding = 0, const tern::detail::Dims& dilation = 1)
      : MaxPoolNd(size, {.stride = stride, .padding = padding, .dilation = dilation}) {}
  TERN_LAYER_AS(MaxPoolNd, detail::max_pool_names[dims - 1], kernel_size, options)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return max_pool1d(x, kernel_size, options);
    else if constexpr (dims == 2) return max_pool2d(x, kernel_size, options);
    else return max_pool3d(x, kernel_size, options);
  }
  /// {values, indices}: also the positions, which MaxUnpool takes.
  ValuesAndIndices<D, T> forward_with_indices(const Tensor<D, T>& x, CallSite here = {}) const {
    if constexpr (dims == 1) return max_pool1d_with_indices(x, kernel_size, options, here);
    else if constexpr (dims == 2) return max_pool2d_with_indices(x, kernel_size, options, here);
    else return max_pool3d_with_indices(x, kernel_size, options, here);
  }
};

/// max_pool1d(x, kernel_size, options).
template <Device D, Element T = float>
using MaxPool1d = MaxPoolNd<1, D, T>;

/// max_pool2d(x, kernel_size, options).
template <Device D, Element T = float>
using MaxPool2d = MaxPoolNd<2, D, T>;

/// max_pool3d(x, kernel_size, options).
template <Device D, Element T = float>
using MaxPool3d = MaxPoolNd<3, D, T>;

/// The inverse of a MaxPool of `dims` dimensions, from its values and indices: MaxUnpool1d, MaxUnpool2d or MaxUnpool3d.
template <int dims, Device D, Element T = float>
struct MaxUnpoolNd : ModuleOf<MaxUnpoolNd<dims, D, T>, D, T> {
  tern::detail::Dims kernel_size;
  MaxUnpoolOptions options;
  MaxUnpoolNd(const tern::detail::Dims& size, const MaxUnpoolOptions& chosen = {})
      : kernel_size(size), options(chosen) {}
  template <std::size_t n>
  explicit MaxUnpoolNd(const Index (&size)[n], CallSite here = {})
      : MaxUnpoolNd(tern::detail::Dims(size, int(n), here)) {}
  MaxUnpoolNd(const tern::detail::Dims& size, const tern::detail::Positional<tern::detail::Dims>& stride,
              const tern::detail::Dims& padding = 0)
      : MaxUnpoolNd(size, {.stride = stride, .padding = padding}) {}
  TERN_LAYER_AS(MaxUnpoolNd, detail::max_unpool_names[dims - 1], kernel_size, options)
  /// output_size, if given, replaces the option.
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, Index>& indices,
                       const tern::detail::Dims& output_size = {}, CallSite here = {}) const {
    const CallScope scope(here);
    MaxUnpoolOptions o = options;
    if (!output_size.empty()) o.output_size = output_size;
    if constexpr (dims == 1) return max_unpool1d(x, indices, kernel_size, o);
    else if constexpr (dims == 2) return max_unpool2d(x, indices, kernel_size, o);
    else return max_unpool3d(x, indices, kernel_size, o);
  }
};

/// max_unpool1d(x, indices, kernel_size, options).
template <Device D, Element T = float>
using MaxUnpool1d = MaxUnpoolNd<1, D, T>;

/// max_unpool2d(x, indices, kernel_size, options).
template <Device D, Element T = float>
using MaxUnpool2d = MaxUnpoolNd<2, D, T>;

/// max_unpool3d(x, indices, kernel_size, options).
template <Device D, Element T = float>
using MaxUnpool3d = MaxUnpoolNd<3, D, T>;

/// The average of each window of `dims` dimensions: AvgPool1d, AvgPool2d or AvgPool3d.
template <int dims, Device D, Element T = float>
struct AvgPoolNd : ModuleOf<AvgPoolNd<dims, D, T>, D, T> {
  tern::detail::Dims kernel_size;
  AvgPoolOptions options;
  AvgPoolNd(const tern::detail::Dims& size, const AvgPoolOptions& chosen = {}) : kernel_size(size), options(chosen) {}
  template <std::size_t n>
  explicit AvgPoolNd(const Index (&size)[n], CallSite here = {}) : AvgPoolNd(tern::detail::Dims(size, int(n), here)) {}
  AvgPoolNd(const tern::detail::Dims& size, const tern::detail::Positional<tern::detail::Dims>& stride,
            const tern::detail::Dims& padding = 0, tern::detail::Positional<bool> ceil_mode = false,
            tern::detail::Positional<bool> count_include_pad = true, std::optional<Index> divisor_override = {})
      : AvgPoolNd(size, {.stride = stride,
                         .padding = padding,
                         .ceil_mode = ceil_mode,
                         .count_include_pad = count_include_pad,
                         .divisor_override = divisor_override}) {}
  TERN_LAYER_AS(AvgPoolNd, detail::avg_pool_names[dims - 1], kernel_size, options)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return avg_pool1d(x, kernel_size, options);
    else if constexpr (dims == 2) return avg_pool2d(x, kernel_size, options);
    else return avg_pool3d(x, kernel_size, options);
  }
};

/// avg_pool1d(x, kernel_size, options).
template <Device D, Element T = float>
using AvgPool1d = AvgPoolNd<1, D, T>;

/// avg_pool2d(x, kernel_size, options).
template <Device D, Element T = float>
using AvgPool2d = AvgPoolNd<2, D, T>;

/// avg_pool3d(x, kernel_size, options).
template <Device D, Element T = float>
using AvgPool3d = AvgPoolNd<3, D, T>;

/// The largest element of each window, with windows that follow from the output's size: AdaptiveMaxPool1d,
/// AdaptiveMaxPool2d or AdaptiveMaxPool3d.
template <int dims, Device D, Element T = float>
struct AdaptiveMaxPoolNd : ModuleOf<AdaptiveMaxPoolNd<dims, D, T>, D, T> {
  tern::detail::Dims output_size;
  explicit AdaptiveMaxPoolNd(const tern::detail::Dims& size) : output_size(size) {}
  TERN_LAYER_AS(AdaptiveMaxPoolNd, detail::adaptive_max_pool_names[dims - 1], output_size)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return adaptive_max_pool1d(x, output_size);
    else if constexpr (dims == 2) return adaptive_max_pool2d(x, output_size);
    else return adaptive_max_pool3d(x, output_size);
  }
  /// {values, indices}: also the positions.
  ValuesAndIndices<D, T> forward_with_indices(const Tensor<D, T>& x, CallSite here = {}) const {
    if constexpr (dims == 1) return adaptive_max_pool1d_with_indices(x, output_size, here);
    else if constexpr (dims == 2) return adaptive_max_pool2d_with_indices(x, output_size, here);
    else return adaptive_max_pool3d_with_indices(x, output_size, here);
  }
};

/// adaptive_max_pool1d(x, output_size).
template <Device D, Element T = float>
using AdaptiveMaxPool1d = AdaptiveMaxPoolNd<1, D, T>;

/// adaptive_max_pool2d(x, output_size).
template <Device D, Element T = float>
using AdaptiveMaxPool2d = AdaptiveMaxPoolNd<2, D, T>;

/// adaptive_max_pool3d(x, output_size).
template <Device D, Element T = float>
using AdaptiveMaxPool3d = AdaptiveMaxPoolNd<3, D, T>;

/// The average of each window, with windows that follow from the output's size: AdaptiveAvgPool1d, AdaptiveAvgPool2d
/// or AdaptiveAvgPool3d.
template <int dims, Device D, Element T = float>
struct AdaptiveAvgPoolNd : ModuleOf<AdaptiveAvgPoolNd<dims, D, T>, D, T> {
  tern::detail::Dims output_size;
  explicit AdaptiveAvgPoolNd(const tern::detail::Dims& size) : output_size(size) {}
  TERN_LAYER_AS(AdaptiveAvgPoolNd, detail::adaptive_avg_pool_names[dims - 1], output_size)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return adaptive_avg_pool1d(x, output_size);
    else if constexpr (dims == 2) return adaptive_avg_pool2d(x, output_size);
    else return adaptive_avg_pool3d(x, output_size);
  }
};

/// adaptive_avg_pool1d(x, output_size).
template <Device D, Element T = float>
using AdaptiveAvgPool1d = AdaptiveAvgPoolNd<1, D, T>;

/// adaptive_avg_pool2d(x, output_size).
template <Device D, Element T = float>
using AdaptiveAvgPool2d = AdaptiveAvgPoolNd<2, D, T>;

/// adaptive_avg_pool3d(x, output_size).
template <Device D, Element T = float>
using AdaptiveAvgPool3d = AdaptiveAvgPoolNd<3, D, T>;

/// (sum of x^norm_type)^(1/norm_type) of each window of `dims` dimensions: LPPool1d, LPPool2d or LPPool3d.
template <int dims, Device D, Element T = float>
struct LPPoolNd : ModuleOf<LPPoolNd<dims, D, T>, D, T> {
  double norm_type = 2;
  tern::detail::Dims kernel_size;
  LpPoolOptions options;
  LPPoolNd(tern::detail::RealNumber p, const tern::detail::Dims& size, const LpPoolOptions& chosen = {})
      : norm_type(p), kernel_size(size), options(chosen) {}
  LPPoolNd(tern::detail::RealNumber p, const tern::detail::Dims& size,
           const tern::detail::Positional<tern::detail::Dims>& stride, tern::detail::Positional<bool> ceil_mode = false)
      : LPPoolNd(p, size, {.stride = stride, .ceil_mode = ceil_mode}) {}
  TERN_LAYER_AS(LPPoolNd, detail::lp_pool_names[dims - 1], norm_type, kernel_size, options)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return lp_pool1d(x, norm_type, kernel_size, options);
    else if constexpr (dims == 2) return lp_pool2d(x, norm_type, kernel_size, options);
    else return lp_pool3d(x, norm_type, kernel_size, options);
  }
};

/// lp_pool1d(x, norm_type, kernel_size, options).
template <Device D, Element T = float>
using LPPool1d = LPPoolNd<1, D, T>;

/// lp_pool2d(x, norm_type, kernel_size, options).
template <Device D, Element T = float>
using LPPool2d = LPPoolNd<2, D, T>;

/// lp_pool3d(x, norm_type, kernel_size, options).
template <Device D, Element T = float>
using LPPool3d = LPPoolNd<3, D, T>;

}}}  // namespace tern::nn
