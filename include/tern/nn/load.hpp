// Copying the tensors of a state dict into a module's.
#pragma once
#include <string>
#include <vector>

#include "../ops/transfer.hpp"
#include "../tensor/convert.hpp"

namespace tern::nn::detail {

/// A tensor that load_state_dict is to write, and how.
struct LoadTarget {
  std::string name;
  AnyTensor tensor;
  void (*copy)(const AnyTensor& to, const AnyTensor& from);
};

template <class D, class T>
void copy_loaded(const AnyTensor& to, const AnyTensor& from) {
  const Tensor<D, T> x = to.as<D, T>();
  x.copy_(to_device(tern::detail::convert_on_host(from, dtype_of<T>).template as<Cpu, T>(), x.device()));
}

[[gnu::noinline, gnu::cold]] inline void load(const std::vector<LoadTarget>& targets, const StateDict& dict, bool strict) {
  std::string missing, unexpected;
  std::vector<const AnyTensor*> sources(targets.size());
  for (const NamedTensor& entry : dict) {
    bool used = false;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].name != entry.name) continue;
      const AnyTensor &from = entry.tensor, &to = targets[i].tensor;
      if (!(from.shape() == to.shape()))
        fail("load_state_dict", {entry.name, " has shape ", to.shape(), ", the loaded one ", from.shape()});
      if (from.dtype() != to.dtype() && !(is_floating(from.dtype()) && is_floating(to.dtype())))
        fail("load_state_dict", {entry.name, " is ", name_of(to.dtype()), ", the loaded one ", name_of(from.dtype())});
      sources[i] = &from;
      used = true;
    }
    if (!used) unexpected += (unexpected.empty() ? "unexpected: " : ", ") + entry.name;
  }
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!sources[i]) missing += (missing.empty() ? "missing: " : ", ") + targets[i].name;
  if (strict && !(missing.empty() && unexpected.empty()))
    fail("load_state_dict", {missing, missing.empty() || unexpected.empty() ? "" : "; ", unexpected});
  const NoGradGuard off;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (sources[i]) targets[i].copy(targets[i].tensor, *sources[i]);
}

}  // namespace tern::nn::detail
