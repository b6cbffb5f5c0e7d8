// All modules of a network, to look at or to change them, whatever their classes.
#pragma once
#include <climits>

#include "state_dict.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// Sets the training or evaluation mode of the module and all modules below it. None of them may be const.
TERN_API void set_training(const AnyModule& module, bool on);

/// A module of a network, type-erased. The network must outlive it and stay where it is.
class TERN_API ModuleRef : public AnyModule {
 public:
  ModuleRef(const void* object, const detail::ModuleType* type) : AnyModule(object, type) {}

  const char* type_name() const { return type_->name; }
  /// The module, if it is of class M, else null.
  template <IsModule M>
  M* as() const {
    return type_ == &detail::module_type<M> ? static_cast<M*>(const_cast<void*>(object_)) : nullptr;
  }
  void train(bool on = true) const { set_training(*this, on); }
  void eval() const { train(false); }
  const ModuleRef* operator->() const { return this; }
  bool operator==(const ModuleRef& other) const { return object_ == other.object_ && type_ == other.type_; }
};

/// A module and the names that lead to it, such as layers.0; nothing for the network itself.
struct NamedModule {
  std::string name;
  ModuleRef module;
};

namespace detail {

/// The modules that are inside at least `first` and at most `last` others.
TERN_API std::vector<NamedModule> modules_to_depth(const AnyModule& network, int first, int last);
TERN_API std::vector<ModuleRef> without_names(const std::vector<NamedModule>& named);
/// The network's modules, each after those below it.
TERN_API std::vector<ModuleRef> inner_first(const AnyModule& network);

}  // namespace detail

/// The module itself and all modules below it, in the order listed, with their names. A shared one comes once.
template <IsModule M>
std::vector<NamedModule> named_modules(M& network) {
  return detail::modules_to_depth(network, 0, INT_MAX);
}
/// The same without names.
template <IsModule M>
std::vector<ModuleRef> modules(M& network) {
  return detail::without_names(detail::modules_to_depth(network, 0, INT_MAX));
}
/// The modules that the module lists, also in containers, with their names. A shared one comes once.
template <IsModule M>
std::vector<NamedModule> named_children(M& network) {
  return detail::modules_to_depth(network, 1, 1);
}
/// The same without names.
template <IsModule M>
std::vector<ModuleRef> children(M& network) {
  return detail::without_names(detail::modules_to_depth(network, 1, 1));
}

/// Calls f(ModuleRef) for each module below the module, and at last for the module itself:
///
///   net.apply([](nn::ModuleRef m) {
///     if (auto* linear = m.as<nn::Linear<Cpu>>()) nn::init::xavier_uniform_(linear->weight);
///   });
template <IsModule M, class F>
void apply(M& network, const F& f) {
  for (const ModuleRef module : detail::inner_first(network)) f(module);
}

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "traversal.ipp"
#endif
