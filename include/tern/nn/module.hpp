// Module: a layer or a network. TERN_FIELDS lists a module's members once. parameters(), state_dict(), to(), clone(),
// train() and the summary use that list.
#pragma once
#include <utility>

#include "../core/for_each.hpp"
#include "../tensor/parameters.hpp"
#include "call.hpp"
#include "parameter.hpp"
#include "rebuild.hpp"
#include "traversal.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace nn {

namespace detail {

/// Sets of tensor types.
template <class... P>
struct Set {
  using Parameters = tern::detail::Parameters<P...>;
};
template <class A, class B>
struct Union;
template <class... A>
struct Union<Set<A...>, Set<>> {
  using type = Set<A...>;
};
template <class... A, class B, class... Rest>
struct Union<Set<A...>, Set<B, Rest...>> {
  using type =
      typename Union<std::conditional_t<(std::is_same_v<A, B> || ...), Set<A...>, Set<A..., B>>, Set<Rest...>>::type;
};

template <class... S>
struct UnionOf {
  using type = Set<>;
};
template <class First, class... Rest>
struct UnionOf<First, Rest...> {
  using type = typename Union<First, typename UnionOf<Rest...>::type>::type;
};

/// The tensor types of the parameters in X, which may be a container.
template <class X>
struct TensorTypesOf : TensorTypesOf<typename Elements<X>::types> {};
template <class D, class T>
struct TensorTypesOf<Parameter<D, T>> {
  using type = Set<tern::detail::TensorType<D, T>>;
};
template <class D, class T>
struct TensorTypesOf<AnyLayer<D, T>> {
  using type = Set<tern::detail::TensorType<D, T>>;
};
template <class... X>
struct TensorTypesOf<TypeList<X...>> : UnionOf<typename TensorTypesOf<X>::type...> {};
template <class D, class T>
struct TensorTypesOf<Module<D, T>> {
  using type = Set<>;
};
template <class Self, class D, class T>
struct TensorTypesOf<ModuleOf<Self, D, T>> {
  using type = Set<>;
};
template <IsModule X>
struct TensorTypesOf<X> : Union<typename TensorTypesOf<base_t<X>>::type, typename X::OwnTensorTypes> {};
template <class... X>
TensorTypesOf<TypeList<X...>> tensor_types(const X&... members);

/// Names the fields of the module that M is derived from.
template <class M, class Self, class V>
void name_base_fields(Self& self, V& visit) {
  using Base = base_t<M>;
  using Part = std::conditional_t<std::is_const_v<Self>, const Base, Base>;
  if constexpr (requires { Base::type_name(); }) Base::name_fields(static_cast<Part&>(self), visit);
}

}  // namespace detail

/// The base of all modules, without device and element type.
class TERN_API ModuleBase : public detail::Registered {
 public:
  ModuleBase() {}
  explicit ModuleBase(bool on) : training(on) {}
  ModuleBase(ModuleBase&& other) noexcept;
  ModuleBase& operator=(ModuleBase&& other) noexcept;
  ~ModuleBase();

  bool is_training() const { return training; }

 protected:
  detail::Hooks* hooks_ = nullptr;  // null if there are none

 public:
  /// True in training mode, in which some layers (such as dropout) behave differently. train() and eval() set it.
  bool training = true;
};

/// A type in the error about a copy of a module, which the compiler prints.
struct error_a_module_is_not_copied_write_clone {};

/// The base of modules on device D with elements of type T.
template <Device D, Element T = float>
struct Module : ModuleBase {
  using device_type = D;
  using value_type = T;

  Module() {}
  template <class From, class D0, class T0>
  explicit Module(const Rebuild<From, D0, T0>& from) : ModuleBase(from.source.is_training()) {}

  template <class M>
  friend std::type_identity<Module> module_base_(const Module*, std::type_identity<M>) {
    return {};
  }

  // Of a class without TERN_FIELDS, whose methods hide these.
  using Own = Tensor<D, T>;
#define TERN_NEEDS_FIELDS(Result, method)                                                                          \
  template <class M = Module>                                                                                      \
  Result method const {                                                                                            \
    static_assert(sizeof(M) == 0, "a module's class ends with a list of its members: TERN_FIELDS(Net, fc1, fc2)"); \
    return Result();                                                                                               \
  }
  TERN_NEEDS_FIELDS(std::vector<Own>, parameters())
  TERN_NEEDS_FIELDS(StateDict, state_dict())
  TERN_NEEDS_FIELDS(void, train(bool = true))
  TERN_NEEDS_FIELDS(void, eval())
  TERN_NEEDS_FIELDS(Own, operator()(const auto&...))
#undef TERN_NEEDS_FIELDS
};

/// The learned tensors with their names: for (auto& p : net.parameters()) p.mul_(0.5). A tied one is listed once. If
/// the network has parameters of several types, they are NamedTensors. Error for a part of a mixed network, whose type
/// does not say that they are floats: where() makes a group of the whole network's.
template <IsModule M>
auto parameters(const M& module) {
  std::vector<NamedTensor> list;
  detail::list_parameters(module, list);
  if constexpr (tern::detail::is_half_v<typename M::value_type>) detail::check_not_mixed(list);
  return typename detail::TensorTypesOf<M>::type::Parameters(list);
}

/// A parameter with its name and its methods.
template <class D, class T>
struct NamedParameter {
  std::string name;
  Tensor<D, T> tensor;
  const std::string& key() const { return name; }
  const Tensor<D, T>& value() const { return tensor; }
};

/// The learned tensors of a network with their names: a list, and a dictionary by name.
template <class D, class T>
struct NamedParameters : std::vector<NamedParameter<D, T>> {
  using std::vector<NamedParameter<D, T>>::operator[];
  /// The tensor of that name. Error if there is none.
  const Tensor<D, T>& operator[](const tern::detail::TextAt& name) const {
    for (const auto& item : *this)
      if (item.name == name.text) return item.tensor;
    Error::fail({"named_parameters", name.here}, {"there is no '", name.text, "'"});
  }
};

namespace detail {

template <class List>
List typed(const List& list) {
  return list;
}
template <class D, class T>
auto typed(const tern::detail::Parameters<tern::detail::TensorType<D, T>>& list) {
  NamedParameters<D, T> named;
  for (const auto& p : list) named.push_back({p.name, p});
  return named;
}
// What parameters() and named_parameters() return. The methods of a module name their result, because a function whose
// result is deduced cannot be called in a class before it, as in a constructor above TERN_FIELDS.
template <class M>
struct ParametersFor {  // where a field is misspelt, which is an error already
  using type = tern::detail::Parameters<>;
};
template <class M>
  requires requires { typename TensorTypesOf<M>::type::Parameters; }
struct ParametersFor<M> {
  using type = typename TensorTypesOf<M>::type::Parameters;
};
template <class M>
using ParametersOf = typename ParametersFor<M>::type;
template <class List>
using Named = decltype(typed(std::declval<const List&>()));

}  // namespace detail

/// The learned tensors with their names: for (auto& [name, p] : net.named_parameters()) p.grad() …. A tied one is
/// listed once. If the network has parameters of several types, they are of type AnyTensor.
template <IsModule M>
auto named_parameters(const M& module) {
  return detail::typed(nn::parameters(module));
}

/// A copy of the module with another floating-point type, on a device of kind D2: on the given device, or where its
/// tensors are. Tied tensors stay tied.
template <class T2, class D2, IsModule M>
auto converted(const M& module, const D2* device = nullptr) {
  detail::check_listed(module);
  detail::Converted done;
  return detail::rebind_t<M, D2, T2>(Rebuild<M, D2, T2>(module, device, done));
}

}  // namespace nn

/// The methods of every module, which a class declares itself (TERN_FIELDS) or has from ModuleOf, where *this is
/// self(). Hooks are functions of the module itself: f(module, inputs) before a call; f(module, inputs, output) after
/// it; f(module, gradients of inputs, gradient of output) in the backward pass. The inputs are a
/// std::vector<AnyTensor>, the output is a Tensor<D, T>, and its gradient is a std::vector of one, as PyTorch's. A
/// hook's return value replaces the inputs, the output, or the gradients of the inputs. The module must not move until
/// the backward pass. to(), cuda(), cpu() and clone() make a new module, whose type names its device, and do not copy
/// hooks.
#define TERN_MODULE_METHODS(Self, self)                                                                                \
  template <class M_ = Self>                                                                                           \
  ::tern::nn::detail::ParametersOf<M_> parameters() const {                                                            \
    return ::tern::nn::parameters(self);                                                                               \
  }                                                                                                                    \
  ::tern::StateDict state_dict() const { return ::tern::nn::state_dict(self); }                                        \
  ::tern::StateDict buffers() const { return ::tern::nn::buffers(self); }                                              \
  ::tern::StateDict named_buffers() const { return ::tern::nn::buffers(self); }                                        \
  ::tern::nn::IncompatibleKeys load_state_dict(const ::tern::StateDict& dict, bool strict = true,                      \
                                               ::tern::CallSite here_ = {}) const {                                    \
    return ::tern::nn::load_state_dict(self, dict, strict, here_);                                                     \
  }                                                                                                                    \
  Self& train(bool on = true) {                                                                                        \
    ::tern::nn::set_training(self, on);                                                                                \
    return self;                                                                                                       \
  }                                                                                                                    \
  Self& eval() { return train(false); }                                                                                \
  void zero_grad(bool set_to_none = true) const { ::tern::nn::zero_grad(self, set_to_none); }                          \
  const Self& requires_grad_(bool on = true) const {                                                                   \
    ::tern::nn::requires_grad_(self, on);                                                                              \
    return self;                                                                                                       \
  }                                                                                                                    \
  Self& requires_grad_(bool on = true) {                                                                               \
    ::tern::nn::requires_grad_(self, on);                                                                              \
    return self;                                                                                                       \
  }                                                                                                                    \
  Self* operator->() { return &self; }                                                                                 \
  const Self* operator->() const { return &self; }                                                                     \
  Self clone(::tern::CallSite here_ = {}) const {                                                                      \
    const ::tern::CallScope scope_(here_);                                                                             \
    return ::tern::nn::converted<typename Self::value_type, typename Self::device_type>(self);                         \
  }                                                                                                                    \
  template <::tern::Device D_>                                                                                         \
  auto to(D_ device, ::tern::CallSite here_ = {}) const {                                                              \
    const ::tern::CallScope scope_(here_);                                                                             \
    return ::tern::nn::converted<typename Self::value_type>(self, &device);                                            \
  }                                                                                                                    \
  template <::tern::Device D_>                                                                                         \
  auto to(::tern::CallSite here_ = {}) const {                                                                         \
    const ::tern::CallScope scope_(here_);                                                                             \
    return to(::tern::detail::current_device<D_>(), here_);                                                            \
  }                                                                                                                    \
  template <class C_ = ::tern::Cpu>                                                                                    \
  auto cpu(::tern::CallSite here_ = {}) const {                                                                        \
    return to(C_{}, here_);                                                                                            \
  }                                                                                                                    \
  template <class C_ = ::tern::Cuda>                                                                                   \
  auto cuda(::tern::CallSite here_ = {}) const {                                                                       \
    const ::tern::CallScope scope_(here_);                                                                             \
    return to(::tern::detail::current_device<::tern::detail::included<C_>>(), here_);                                  \
  }                                                                                                                    \
  template <class C_ = ::tern::Cuda>                                                                                   \
  auto cuda(int ordinal, ::tern::CallSite here_ = {}) const {                                                          \
    return to(::tern::detail::included<C_>{ordinal}, here_);                                                           \
  }                                                                                                                    \
  template <::std::convertible_to<::std::string_view> Text_>                                                           \
  auto to(const Text_&) const {                                                                                        \
    static_assert(!::std::convertible_to<Text_, ::std::string_view>,                                                   \
                  "a device is part of a module's type, not a text: write net.cpu() or net.cuda()");                   \
  }                                                                                                                    \
  template <::tern::Element U_>                                                                                        \
  auto to(::tern::detail::Type<U_>, ::tern::CallSite here_ = {}) const {                                               \
    const ::tern::CallScope scope_(here_);                                                                             \
    return ::tern::nn::converted<U_, typename Self::device_type>(self);                                                \
  }                                                                                                                    \
  TERN_CALLS_(Self, self, )                                                                                            \
  TERN_CALLS_(Self, self, const)                                                                                       \
  template <class F_>                                                                                                  \
  void apply(const F_& f) {                                                                                            \
    ::tern::nn::apply(self, f);                                                                                        \
  }                                                                                                                    \
  std::vector<::tern::nn::ModuleRef> modules() { return ::tern::nn::modules(self); }                                   \
  std::vector<::tern::nn::NamedModule> named_modules() { return ::tern::nn::named_modules(self); }                     \
  std::vector<::tern::nn::ModuleRef> children() { return ::tern::nn::children(self); }                                 \
  std::vector<::tern::nn::NamedModule> named_children() { return ::tern::nn::named_children(self); }                   \
  template <class M_ = Self>                                                                                           \
  ::tern::nn::detail::Named<::tern::nn::detail::ParametersOf<M_>> named_parameters() const {                           \
    return ::tern::nn::named_parameters(self);                                                                         \
  }                                                                                                                    \
  template <class F_>                                                                                                  \
  auto register_forward_pre_hook(F_ f) {                                                                               \
    return ::tern::nn::detail::add_hook<::tern::nn::detail::HookKind::forward_pre>(this->hooks_, &self, std::move(f)); \
  }                                                                                                                    \
  template <class F_>                                                                                                  \
  auto register_forward_hook(F_ f) {                                                                                   \
    return ::tern::nn::detail::add_hook<::tern::nn::detail::HookKind::forward>(this->hooks_, &self, std::move(f));     \
  }                                                                                                                    \
  template <class F_>                                                                                                  \
  auto register_full_backward_hook(F_ f) {                                                                             \
    return ::tern::nn::detail::add_hook<::tern::nn::detail::HookKind::full_backward>(this->hooks_, &self,              \
                                                                                     std::move(f));                    \
  }

namespace nn {

/// Module<D, T> with the methods of Self, which is derived from it. tern's own modules are: so their methods are read
/// once, and not in each of a hundred classes, which is a tenth of the compile time of a program.
template <class Self, Device D, Element T>
struct ModuleOf : Module<D, T> {
  ModuleOf() {}
  template <class From, class D0, class T0>
  explicit ModuleOf(const Rebuild<From, D0, T0>& from) : Module<D, T>(from) {}
  template <class M>
    requires(!std::is_same_v<M, ModuleOf>)
  friend std::type_identity<ModuleOf> module_base_(const ModuleOf*, std::type_identity<M>) {
    return {};
  }
  TERN_MODULE_METHODS(Self, self())

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace nn

/// What every module's class says of itself, given the set of its own parameters' tensor types.
#define TERN_MODULE_CLASS(Self, ...)                                                     \
  using OwnTensorTypes = __VA_ARGS__;                                                    \
  Self(const Self&, ::tern::nn::error_a_module_is_not_copied_write_clone = {}) = delete; \
  ::tern::nn::error_a_module_is_not_copied_write_clone operator=(const Self&) = delete;  \
  template <class M_>                                                                    \
    requires(!std::is_same_v<M_, Self>)                                                  \
  friend std::type_identity<Self> module_base_(const Self*, std::type_identity<M_>) {    \
    return {};                                                                           \
  }

#define TERN_FIELD_VISIT_(name) visit(#name, self.name);
#define TERN_FIELD_REBUILD_(name) , name(from(from.source.name))

/// Put it at the end of a module's class. It takes the class's name, then all members in the order of their
/// declaration: layers, parameters and plain values. Layers and parameters may be in a std::vector, array, pair or
/// tuple (their names are 0, 1, …), a map (its keys) or an optional, unique_ptr or shared_ptr (the member's own name),
/// and in these again; other types that contain them do not compile. If a layer or a parameter
/// is not listed, parameters() throws an Error, so it is never silently left untrained. The exception is what an
/// unlisted pointer or container leads to: it may belong to another module. Listed tensors are buffers, unless they are
/// nn::Parameters. A class that is derived from a module with fields lists its own; the base's come first. The class
/// gets a default constructor. It is a template, so a default constructor of the class's own (to tie weights, for
/// example) replaces it.
#define TERN_FIELDS(Self, ...) TERN_LAYER_AS(Self, #Self, __VA_ARGS__) TERN_MODULE_METHODS(Self, (*this))

/// The same for a class template whose name depends on its arguments.
#define TERN_FIELDS_AS(Self, name, ...) TERN_LAYER_AS(Self, name, __VA_ARGS__) TERN_MODULE_METHODS(Self, (*this))

/// The same for a class whose layers have other names than its members, such as positions in a list of PyTorch's. It
/// has `static void name_fields(self, visit)`, which calls visit(name, member) for each layer and parameter.
#define TERN_NAMED_FIELDS(Self, ...) TERN_NAMED_LAYER(Self, __VA_ARGS__) TERN_MODULE_METHODS(Self, (*this))

/// The same three for classes that are derived from ModuleOf.
#define TERN_NAMED_LAYER(Self, ...) TERN_NAMED_LAYER_AS_(Self, #Self, __VA_ARGS__)
#define TERN_LAYER(Self, ...) TERN_LAYER_AS(Self, #Self, __VA_ARGS__)
#define TERN_LAYER_AS(Self, name, ...)                                             \
 public:                                                                           \
  template <class M_, class V_>                                                    \
  static void name_fields([[maybe_unused]] M_& self, [[maybe_unused]] V_& visit) { \
    ::tern::nn::detail::name_base_fields<Self>(self, visit);                       \
    TERN_FOR_EACH(TERN_FIELD_VISIT_, __VA_ARGS__)                                  \
  }                                                                                \
  TERN_NAMED_LAYER_AS_(Self, name, __VA_ARGS__)

/// What these define besides name_fields() and the methods.
#define TERN_NAMED_LAYER_AS_(Self, name, ...)                                                            \
 public:                                                                                                 \
  template <int = 0>                                                                                     \
  Self() {}                                                                                              \
  Self(Self&&) = default;                                                                                \
  Self& operator=(Self&&) = default;                                                                     \
  template <class From_, class D_, class T_>                                                             \
  explicit Self(const ::tern::nn::Rebuild<From_, D_, T_>& from)                                          \
      : ::tern::nn::detail::base_t<Self>(from.base()) TERN_FOR_EACH(TERN_FIELD_REBUILD_, __VA_ARGS__) {} \
  static constexpr const char* type_name() { return name; }                                              \
  TERN_MODULE_CLASS(Self, typename decltype(::tern::nn::detail::tensor_types(__VA_ARGS__))::type)

}}  // namespace tern

#ifndef TERN_COMPILED
#include "module.ipp"
#endif
