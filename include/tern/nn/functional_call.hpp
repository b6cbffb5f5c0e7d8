// A network called with other tensors in place of its own.
#pragma once
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {
/// The tensors of a functional_call(), with names, or "" where they come in the order of parameters(), and its line.
struct TensorsAt {
  StateDict tensors;
  CallSite here;
  template <class X>
    requires std::convertible_to<const X&, StateDict>
  TensorsAt(const X& named, CallSite h = {}) : tensors(named), here(h) {}
  TensorsAt(std::initializer_list<NamedTensor> named, CallSite h = {})
      : tensors(std::vector<NamedTensor>(named)), here(h) {}
  template <class X>
    requires requires { typename X::value_type; }
  TensorsAt(const std::vector<X>& ordered, CallSite h = {}) : here(h) {
    for (const X& x : ordered) tensors.emplace_back("", x);
  }
};

/// The network's tensor that `given` stands for. Error if there is none, or if it differs in type or shape.
TERN_API const NamedTensor& replaced_by(const CallSite& op, const StateDict& own, const NamedTensor& given,
                                        std::size_t at);
}  // namespace detail

/// net(x…) with `tensors` in place of those of its parameters and buffers that have their names, or of all parameters
/// in their order. Gradients go to `tensors`, and to what they were computed from (PyTorch:
/// torch.func.functional_call):
///
///   std::vector<Tensor<Cpu>> fast;
///   for (std::size_t i = 0; i < w.size(); ++i) fast.push_back(w[i] - 0.01 * g[i]);
///   const auto y = nn::functional_call(net, fast, x);
///
/// net keeps its tensors; hooks of modules are not called. Error if a name, a type, a shape or the number of tensors
/// does not fit.
template <IsModule M, class... X>
auto functional_call(const M& net, const detail::TensorsAt& tensors, X&&... x) {
  using D = typename M::device_type;
  using T = typename M::value_type;
  const CallSite op{"functional_call", tensors.here};
  const CallScope scope(op);
  detail::check_listed(net);
  StateDict own;
  for (const auto& p : parameters(net)) own.push_back(p);
  const std::size_t count = own.size();
  const auto& given = tensors.tensors;
  if (!given.empty() && given[0].name.empty() && given.size() != count)
    Error::fail(op, {Index(given.size()), " tensors for ", Index(count), " parameters"});
  for (const auto& b : buffers(net)) own.push_back(b);
  detail::Converted done;
  done.shared = true;
  for (std::size_t i = 0; i < given.size(); ++i)
    done.add(detail::replaced_by(op, own, given[i], i).tensor.impl(), given[i].tensor);
  auto other = detail::rebind_t<M, D, T>(Rebuild<M, D, T>(net, nullptr, done));
  return other(std::forward<X>(x)...);
}

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "functional_call.ipp"
#endif
