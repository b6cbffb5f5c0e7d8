// The functions of init.hpp that are not templates.
#pragma once
#include "init.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::init::detail {

TERN_COLD std::pair<double, double> fans(const char* op, const tern::detail::Array& x) {
  if (x.ndim < 2) Error::fail(op, {"at least two dimensions are needed, not ", x.shape()});
  double field = 1;
  for (int i = 2; i < x.ndim; ++i) field *= double(x.dims[i]);
  return {double(x.dims[1]) * field, double(x.dims[0]) * field};
}

}}}  // namespace tern::nn::init::detail
