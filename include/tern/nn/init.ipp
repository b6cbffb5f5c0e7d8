// The functions of init.hpp that are not templates.
#pragma once
#include <cstring>

#include "init.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::init::detail {

TERN_COLD std::pair<double, double> fans(const CallSite& op, const tern::detail::Array& x) {
  if (x.ndim < 2) Error::fail(op, {"at least two dimensions are needed, not ", x.shape()});
  double field = 1;
  for (int i = 2; i < x.ndim; ++i) field *= double(x.dims[i]);
  return {double(x.dims[1]) * field, double(x.dims[0]) * field};
}

}}}  // namespace tern::nn::init::detail

namespace tern { inline namespace TERN_BUILD { namespace nn::init {

TERN_COLD double calculate_gain(const char* nonlinearity, double negative_slope, CallSite here) {
  const auto is = [&](const char* name) { return !std::strcmp(nonlinearity, name); };
  for (const char* const linear :
       {"linear", "sigmoid", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
    if (is(linear)) return 1;
  if (is("tanh")) return 5. / 3;
  if (is("relu")) return std::sqrt(2);
  if (is("leaky_relu")) return std::sqrt(2 / (1 + negative_slope * negative_slope));
  if (is("selu")) return 3. / 4;
  Error::fail({"calculate_gain", here}, {"no gain is known of \"", nonlinearity, "\""});
}

}}}  // namespace tern::nn::init
