// The functions of state_dict.hpp that are not templates.
#pragma once
#include <algorithm>

#include "state_dict.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD void check_listed(const AnyModule& module) {
  std::vector<const tern::detail::TensorImpl*> parameters;
  StateDict others;  // leaves that require a gradient
  const auto look = [&](const Member& m) {
    if (m.type) return tern::detail::check_members(m.type, m.extent, m.base, m.module_type->lists);
    const tern::detail::TensorImpl* const x = m.tensor.impl();
    if (m.grad_ops) parameters.push_back(x);
    else if (x && x->node && x->node->leaf) tern::detail::append(others, {m.path}, m.tensor);
    else if (!x && Registered::find_in(m.extent))
      Error::fail("TERN_FIELDS", {m.path,
                                  " has layers or parameters, but is no nn::Module, so they would not be trained: "
                                  "derive its class from nn::Module and list them"});
  };
  module.each(look, true);
  for (const NamedTensor& other : others)
    if (std::find(parameters.begin(), parameters.end(), other.tensor.impl()) == parameters.end())
      Error::fail(
          "TERN_FIELDS",
          {other.name,
           " requires a gradient, but is no nn::Parameter, so it would not be trained: declare it as one, or call "
           "requires_grad_(false)"});
}

TERN_COLD void list_parameters(const AnyModule& module, std::vector<NamedTensor>& list) {
  check_listed(module);
  module.each([&](const Member& m) {
    bool is_new = m.grad_ops;
    for (const NamedTensor& known : list) is_new = is_new && known.tensor.impl() != m.tensor.impl();
    if (is_new) tern::detail::append(list, {m.path}, m.tensor.with_grad_ops(m.grad_ops));
  });
}

TERN_COLD void check_not_mixed(const std::vector<NamedTensor>& list) {
  for (const NamedTensor& p : list)
    if (p.tensor.dtype() == DType::float32)
      Error::fail("parameters",
                  {p.name, " is a float of a mixed network: take where() of the whole network's parameters()"});
}

TERN_COLD const AnyTensor* find_fitting(const Member& m, const StateDict& dict, std::vector<char>& used) {
  const AnyTensor* found = nullptr;
  for (std::size_t i = 0; i < dict.size(); ++i) {
    if (dict[i].name != m.path) continue;
    const AnyTensor &from = dict[i].tensor, &to = m.tensor;
    if (!(from.shape() == to.shape()))
      Error::fail("load_state_dict", {m.path, " has shape ", to.shape(), ", the loaded one ", from.shape()});
    if (from.dtype() != to.dtype() &&
        !(tern::detail::is_floating(from.dtype()) && tern::detail::is_floating(to.dtype())))
      Error::fail("load_state_dict", {m.path, " is ", tern::detail::name_of(to.dtype()), ", the loaded one ",
                                      tern::detail::name_of(from.dtype())});
    found = &from;
    used[i] = true;
  }
  return found;
}

TERN_COLD std::string listed(const char* heading, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? heading : ", ") + name;
  return text;
}

TERN_COLD IncompatibleKeys check_fits(const AnyModule& module, const StateDict& dict, bool strict) {
  check_listed(module);
  std::vector<char> used(dict.size());
  IncompatibleKeys keys;
  module.each([&](const Member& m) {
    if (!m.type && !find_fitting(m, dict, used)) keys.missing_keys.push_back(m.path);
  });
  for (std::size_t i = 0; i < dict.size(); ++i)
    if (!used[i]) keys.unexpected_keys.push_back(dict[i].name);
  const std::string missing = listed("missing: ", keys.missing_keys),
                    unexpected = listed("unexpected: ", keys.unexpected_keys);
  if (strict && !(missing.empty() && unexpected.empty()))
    Error::fail("load_state_dict", {missing, missing.empty() || unexpected.empty() ? "" : "; ", unexpected});
  return keys;
}

}}}  // namespace tern::nn::detail

namespace tern { inline namespace TERN_BUILD { namespace nn {

TERN_COLD StateDict state_dict(const AnyModule& module) {
  detail::check_listed(module);
  StateDict dict;
  module.each([&](const detail::Member& m) {
    if (!m.type) tern::detail::append(dict, {m.path}, m.tensor.detach());
  });
  return dict;
}

TERN_COLD StateDict buffers(const AnyModule& module) {
  detail::check_listed(module);
  StateDict list;
  module.each([&](const detail::Member& m) {
    bool is_new = !m.type && !m.grad_ops;
    for (const NamedTensor& known : list) is_new = is_new && known.tensor.impl() != m.tensor.impl();
    if (is_new) tern::detail::append(list, {m.path}, m.tensor);
  });
  return list;
}

TERN_COLD IncompatibleKeys load_state_dict(const AnyModule& module, const StateDict& dict, bool strict, CallSite here) {
  const CallScope scope(here);
  IncompatibleKeys keys = detail::check_fits(module, dict, strict);
  std::vector<char> used(dict.size());
  module.each([&](const detail::Member& m) {
    const AnyTensor* const from = m.type ? nullptr : detail::find_fitting(m, dict, used);
    if (from) m.overwrite(m.tensor, *from);
  });
  return keys;
}

TERN_COLD void requires_grad_(const AnyModule& module, bool on) {
  detail::check_listed(module);
  module.each([on](const detail::Member& m) {
    if (m.grad_ops) tern::detail::require_grad(m.tensor.impl(), on, m.grad_ops);
  });
}

TERN_NOINLINE void zero_grad(const AnyModule& module, bool set_to_none) {
  module.each([set_to_none](const detail::Member& m) {
    if (!m.type) tern::detail::zero_grad(m.tensor.impl()->node, set_to_none);
  });
}

}}}  // namespace tern::nn
