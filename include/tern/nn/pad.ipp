// The functions of pad.hpp that are not templates.
#pragma once
#include "pad.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD tern::detail::Shape padding_of(const CallSite& layer, int dims, const tern::detail::Shape& padding) {
  if (padding.n != 1 && padding.n != 2 * dims)
    Error::fail(layer, {"one size or ", Index(2 * dims), " are needed, not ", padding});
  tern::detail::Shape all;
  for (int i = 0; i < 2 * dims; ++i) all.push_back(padding[padding.n == 1 ? 0 : i]);
  return all;
}

}}}  // namespace tern::nn::detail
