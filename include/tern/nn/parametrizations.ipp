// The functions of parametrizations.hpp that are not templates.
#pragma once
#include "parametrizations.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD tern::detail::Dims dim_first(const CallSite& op, Index dim, int n) {
  tern::detail::Dims order;
  order.push_back(tern::detail::existing_dim(op, dim, n));
  for (int i = 0; i < n; ++i)
    if (i != order[0]) order.push_back(i);
  return order;
}

TERN_COLD void check_name(const CallSite& op, std::string_view parameter) {
  if (parameter != "weight") Error::fail(op, {"only a layer's weight is normalised, not ", std::string(parameter)});
}

}}}  // namespace tern::nn::detail
