// The functions of functional_call.hpp that are not templates.
#pragma once
#include "functional_call.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD const NamedTensor& replaced_by(const CallSite& op, const StateDict& own, const NamedTensor& given,
                                         std::size_t at) {
  if (!given.name.empty()) {
    for (at = 0; at < own.size() && own[at].name != given.name; ++at) continue;
    if (at == own.size()) Error::fail(op, {"the network has no tensor \"", given.name, "\""});
  }
  const tern::detail::Array *const x = own[at].tensor.impl(), *const y = given.tensor.impl();
  if (!y || y->dtype != x->dtype || !tern::detail::same_shape(*x, *y) ||
      own[at].tensor.device_name() != given.tensor.device_name())
    Error::fail(op, {"\"", own[at].name, "\" is ", own[at].tensor.device_name(), " ", tern::detail::name_of(x->dtype),
                     " ", x->shape(), ", not ", y ? given.tensor.device_name() : "undefined", " ",
                     y ? tern::detail::name_of(y->dtype) : "", " ", y ? y->shape() : tern::detail::Shape()});
  return own[at];
}

}}}  // namespace tern::nn::detail
