// What is made of all tensors of a module: parameters, state dicts, and what is done with them.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <vector>

#include "../autograd/backward.hpp"
#include "members.hpp"

namespace tern::inline TERN_BUILD::nn {

namespace detail {

/// Error if a layer or parameter is a member of the module, or of one below it, but not listed.
[[gnu::noinline, gnu::cold]] inline void check_listed(const AnyModule& module) {
  module.each([](const Member& m) {
    if (m.type) tern::detail::check_members(m.type, m.extent, m.lists);
  });
}

[[gnu::noinline, gnu::cold]] inline void list_parameters(const AnyModule& module, std::vector<NamedTensor>& list) {
  check_listed(module);
  module.each([&](const Member& m) {
    bool is_new = m.grad_ops;
    for (const NamedTensor& known : list) is_new = is_new && known.tensor.impl() != m.tensor.impl();
    if (is_new) tern::detail::append(list, {m.path}, m.tensor);
  });
}

/// The entry of that name for a tensor of the module; null if there is none. Error if it does not fit.
[[gnu::noinline, gnu::cold]] inline const AnyTensor* find_fitting(const Member& m, const StateDict& dict, std::vector<char>& used) {
  const AnyTensor* found = nullptr;
  for (std::size_t i = 0; i < dict.size(); ++i) {
    if (dict[i].name != m.path) continue;
    const AnyTensor &from = dict[i].tensor, &to = m.tensor;
    if (!(from.shape() == to.shape()))
      fail("load_state_dict", {m.path, " has shape ", to.shape(), ", the loaded one ", from.shape()});
    if (from.dtype() != to.dtype() && !(is_floating(from.dtype()) && is_floating(to.dtype())))
      fail("load_state_dict", {m.path, " is ", name_of(to.dtype()), ", the loaded one ", name_of(from.dtype())});
    found = &from;
    used[i] = true;
  }
  return found;
}

[[gnu::noinline, gnu::cold]] inline void list(std::string& names, const char* heading, const std::string& name) {
  names += text({names.empty() ? heading : ", ", name});
}

}  // namespace detail

/// Every tensor by its name: parameters and buffers.
[[gnu::noinline, gnu::cold]] inline StateDict state_dict(const AnyModule& module) {
  detail::check_listed(module);
  StateDict dict;
  module.each([&](const detail::Member& m) {
    if (!m.type) tern::detail::append(dict, {m.path}, m.tensor.detach());
  });
  return dict;
}

/// Copies the named tensors into the module's, whatever floating-point type they have. Error, and nothing changed, if a shape
/// differs or, where strict, a name is missing or unexpected.
[[gnu::noinline, gnu::cold]] inline void load_state_dict(const AnyModule& module, const StateDict& dict, bool strict = true) {
  detail::check_listed(module);
  std::vector<char> used(dict.size());
  std::string missing, unexpected;
  module.each([&](const detail::Member& m) {
    if (!m.type && !detail::find_fitting(m, dict, used)) detail::list(missing, "missing: ", m.path);
  });
  for (std::size_t i = 0; i < dict.size(); ++i)
    if (!used[i]) detail::list(unexpected, "unexpected: ", dict[i].name);
  if (strict && !(missing.empty() && unexpected.empty()))
    fail("load_state_dict", {missing, missing.empty() || unexpected.empty() ? "" : "; ", unexpected});
  module.each([&](const detail::Member& m) {
    const AnyTensor* const from = m.type ? nullptr : detail::find_fitting(m, dict, used);
    if (from) m.overwrite(m.tensor, *from);
  });
}

/// Makes all parameters such that require a gradient, or (off) freezes them: no gradient is computed for them, no optimiser moves them.
[[gnu::noinline, gnu::cold]] inline void requires_grad_(const AnyModule& module, bool on) {
  detail::check_listed(module);
  module.each([on](const detail::Member& m) {
    if (m.grad_ops) tern::detail::require_grad(m.tensor.impl(), on, m.grad_ops);
  });
}

/// Drops the gradients of all parameters.
[[gnu::noinline]] inline void zero_grad(const AnyModule& module) {
  module.each([](const detail::Member& m) {
    Node* const node = m.type ? nullptr : m.tensor.impl()->node;
    if (node) tern::detail::release(std::exchange(node->gradient, nullptr));
  });
}

}  // namespace tern::nn
