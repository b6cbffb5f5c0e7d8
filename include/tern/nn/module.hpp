// Module: a layer or a network. TERN_FIELDS lists a module's members once. parameters(), state_dict(), to(), clone(),
// train() and the summary use that list.
#pragma once
#include <utility>

#include "../core/for_each.hpp"
#include "../ops/transfer.hpp"
#include "../tensor/parameters.hpp"
#include "hooks.hpp"
#include "state_dict.hpp"

namespace tern::inline TERN_BUILD {

namespace nn {

namespace detail {

/// The type of a module, a tensor or a plain value after a move to another device or element type.
template <class X, class D, class T>
struct Rebind {
  using type = X;
};
template <template <Device, Element> class X, Device D0, Element T0, class D, class T>
struct Rebind<X<D0, T0>, D, T> {
  using type = X<D, T>;
};
template <template <int, Device, Element> class X, int n, Device D0, Element T0, class D, class T>
struct Rebind<X<n, D0, T0>, D, T> {
  using type = X<n, D, T>;
};
template <template <Device> class X, Device D0, class D, class T>
struct Rebind<X<D0>, D, T> {
  using type = X<D>;
};
template <template <class...> class X, IsModule... L, class D, class T>
struct Rebind<X<L...>, D, T> {
  using type = X<typename Rebind<L, D, T>::type...>;
};
template <class X, class D, class T>
struct Rebind<std::vector<X>, D, T> {
  using type = std::vector<typename Rebind<X, D, T>::type>;
};
template <class X, class D, class T>
using rebind_t = typename Rebind<X, D, T>::type;

/// Sets of tensor types.
template <class... P>
struct Set {
  using Parameters = tern::Parameters<P...>;
};
template <class A, class B>
struct Union;
template <class... A>
struct Union<Set<A...>, Set<>> {
  using type = Set<A...>;
};
template <class... A, class B, class... Rest>
struct Union<Set<A...>, Set<B, Rest...>> {
  using type = typename Union<std::conditional_t<(std::is_same_v<A, B> || ...), Set<A...>, Set<A..., B>>, Set<Rest...>>::type;
};

template <class X>
struct TensorTypesOf {
  using type = Set<>;
};
template <class D, class T>
struct TensorTypesOf<Parameter<D, T>> {
  using type = Set<TensorType<D, T>>;
};
template <class X>
struct TensorTypesOf<std::vector<X>> : TensorTypesOf<X> {};
template <IsModule X>
struct TensorTypesOf<X> {
  using type = typename X::TensorTypes;
};
template <class... X>
struct TensorTypesOfAll {
  using type = Set<>;
};
template <class First, class... Rest>
struct TensorTypesOfAll<First, Rest...> {
  using type = typename Union<typename TensorTypesOf<First>::type, typename TensorTypesOfAll<Rest...>::type>::type;
};

}  // namespace detail

/// The base of all modules, without device and element type.
class TERN_API ModuleBase : public detail::Registered {
 public:
  ModuleBase() {}
  explicit ModuleBase(bool training) : training_(training) {}
  ModuleBase(ModuleBase&& other) noexcept;
  ModuleBase& operator=(ModuleBase&& other) noexcept;
  ~ModuleBase();

  /// True in training mode, in which some layers (such as dropout) behave differently.
  bool is_training() const { return training_; }

 protected:
  detail::Hooks* hooks_ = nullptr;  // null if there are none

 private:
  template <class M>
  friend void set_training(M& module, bool on);
  bool training_ = true;
};

template <class M>
void set_training(M& module, bool on);

/// The source from which a copied or moved module is built. It converts each listed member. A member that occurs twice
/// (tied weights) is converted once.
template <class Source, class D, class T>
class Rebuild {
 public:
  using Converted = std::vector<std::pair<const TensorImpl*, AnyTensor>>;
  /// With device null, each tensor stays on its own device.
  Rebuild(const Source& from, const D* device, Converted& done) : source(from), device_(device), done_(done) {}

  const Source& source;

  template <class X>
  auto operator()(const X& x) const {
    if constexpr (IsModule<X>) {
      return detail::rebind_t<X, D, T>(Rebuild<X, D, T>(x, device_, done_));
    } else if constexpr (detail::is_tensor<X>) {
      return convert(x);
    } else if constexpr (detail::is_vector<X>) {
      detail::rebind_t<X, D, T> out;
      out.reserve(x.size());
      for (const auto& element : x) out.push_back((*this)(element));
      return out;
    } else {
      return x;
    }
  }

 private:
  template <class X>
  auto convert(const X& x) const {
    using Out = detail::rebind_t<X, D, std::conditional_t<is_floating_v<typename X::value_type>, T, typename X::value_type>>;
    using U = typename Out::value_type;
    if (!x.defined()) return Out();
    Tensor<D, U> y = tied<U>(x.impl());
    if (!y.defined()) {
      const NoGradGuard off;
      const D place = device_ ? *device_ : tern::detail::device_at<D>(x.impl()->ordinal);
      y = to_device(to_type(x.detach(), Type<U>{}), place);
      if (y.impl()->owner == x.impl()->owner) y = tern::clone(y);
      done_.emplace_back(x.impl(), y);
    }
    Out out(std::move(y));
    if constexpr (is_floating_v<U>) out.requires_grad_(x.requires_grad());
    return out;
  }

  template <class U>
  Tensor<D, U> tied(const TensorImpl* x) const {
    for (const auto& [from, to] : done_)
      if (from == x) return to.template as<D, U>();
    return {};
  }

  const D* device_;
  Converted& done_;
};

/// The base of modules on device D with elements of type T.
template <Device D, Element T = float>
struct Module : ModuleBase {
  using ModuleBase::ModuleBase;
  using device_type = D;
  using value_type = T;
};

/// A learned tensor: a module's member, and a leaf that requires a gradient.
template <class D, class T>
class Parameter : public Tensor<D, T>, public detail::Registered {
 public:
  Parameter() = default;
  /// Takes ownership of the tensor. An undefined one stays undefined (a layer without bias).
  Parameter(Tensor<D, T> x) : Tensor<D, T>(std::move(x)) {
    if (this->defined()) this->requires_grad_();
  }
};

/// A module's tensor that is not learned, such as running statistics. Its elements are of type compute_t<T>, so those
/// of a 16-bit network are floats.
template <class D, class T>
class Buffer : public Tensor<D, compute_t<T>> {
 public:
  Buffer() = default;
  Buffer(Tensor<D, compute_t<T>> x) : Tensor<D, compute_t<T>>(std::move(x)) {}
};

namespace detail {

template <class X, class F>
void each_module(X& x, const F& f) {
  if constexpr (IsModule<X>) {
    f(x);
    const auto below = [&](const char*, auto& member) { each_module(member, f); };
    X::name_fields(x, below);
  } else if constexpr (is_vector<std::remove_const_t<X>>) {
    for (auto& element : x) each_module(element, f);
  }
}

}  // namespace detail

/// The learned tensors with their names. A tied one is listed once.
template <IsModule M>
auto parameters(const M& module) {
  typename M::TensorTypes::Parameters list;
  detail::list_parameters(module, list);
  return list;
}

/// Sets the training or evaluation mode of the module and all modules below it.
template <class M>
void set_training(M& module, bool on) {
  detail::each_module(module, [on](auto& m) { static_cast<ModuleBase&>(m).training_ = on; });
}

/// A copy of the module with another floating-point type, on a device of kind D2: on the given device, or where its
/// tensors are. Tied tensors stay tied.
template <class T2, class D2, IsModule M>
auto converted(const M& module, const D2* device = nullptr) {
  detail::check_listed(module);
  typename Rebuild<M, D2, T2>::Converted done;
  return detail::rebind_t<M, D2, T2>(Rebuild<M, D2, T2>(module, device, done));
}

}  // namespace nn

/// The methods of every module, given the types of its members. Hooks are functions of the module itself: f(module,
/// inputs) before a call; f(module, inputs, output) after it; f(module, gradients of inputs, gradient of output) in the
/// backward pass. The inputs are a std::vector<AnyTensor>, and the output is a Tensor<D, T>. A hook's return value
/// replaces the inputs, the output, or the gradients of the inputs. The module must not move until the backward pass.
/// to() and clone() do not copy hooks.
#define TERN_MODULE_METHODS(Self, ...)                                                                                       \
  using TensorTypes = typename ::tern::nn::detail::TensorTypesOfAll<__VA_ARGS__>::type;                                          \
  auto parameters() const { return ::tern::nn::parameters(*this); }                                                    \
  ::tern::StateDict state_dict() const { return ::tern::nn::state_dict(*this); }                                       \
  void load_state_dict(const ::tern::StateDict& dict, bool strict = true) const {                                      \
    ::tern::nn::load_state_dict(*this, dict, strict);                                                                  \
  }                                                                                                                    \
  void train(bool on = true) { ::tern::nn::set_training(*this, on); }                                                  \
  void eval() { train(false); }                                                                                        \
  void zero_grad() const { ::tern::nn::zero_grad(*this); }                                                             \
  const Self& requires_grad_(bool on = true) const {                                                                   \
    ::tern::nn::requires_grad_(*this, on);                                                                             \
    return *this;                                                                                                      \
  }                                                                                                                    \
  auto clone() const { return ::tern::nn::converted<typename Self::value_type, typename Self::device_type>(*this); }           \
  template <::tern::Device D_>                                                                                         \
  auto to(D_ device) const {                                                                                           \
    return ::tern::nn::converted<typename Self::value_type>(*this, &device);                                           \
  }                                                                                                                    \
  template <::tern::Element U_>                                                                                        \
  auto to(::tern::Type<U_>) const {                                                                                    \
    return ::tern::nn::converted<U_, typename Self::device_type>(*this);                                               \
  }                                                                                                                    \
  template <class X_>                                                                                                  \
  [[gnu::noinline]] auto operator()(const X_& x, ::tern::Here here = {}) {                                             \
    const ::tern::Site at(here);                                                                                       \
    try {                                                                                                              \
      if (this->hooks_) [[unlikely]] return ::tern::nn::detail::call_hooked(*this->hooks_, *this, x);                  \
      return this->forward(x);                                                                                         \
    } catch (::tern::Error& error) {                                                                                   \
      ::tern::nn::detail::name_layer(error, this, *this);                                                              \
      throw;                                                                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  template <class X_, class Y_>                                                                                        \
  [[gnu::noinline]] auto operator()(const X_& x, const Y_& y, ::tern::Here here = {}) {                                \
    const ::tern::Site at(here);                                                                                       \
    try {                                                                                                              \
      if (this->hooks_) [[unlikely]] return ::tern::nn::detail::call_hooked(*this->hooks_, *this, x, y);               \
      return this->forward(x, y);                                                                                      \
    } catch (::tern::Error& error) {                                                                                   \
      ::tern::nn::detail::name_layer(error, this, *this);                                                              \
      throw;                                                                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  template <class X_, class Y_, class Z_>                                                                              \
  [[gnu::noinline]] auto operator()(const X_& x, const Y_& y, const Z_& z, ::tern::Here here = {}) {                   \
    const ::tern::Site at(here);                                                                                       \
    try {                                                                                                              \
      if (this->hooks_) [[unlikely]] return ::tern::nn::detail::call_hooked(*this->hooks_, *this, x, y, z);            \
      return this->forward(x, y, z);                                                                                   \
    } catch (::tern::Error& error) {                                                                                   \
      ::tern::nn::detail::name_layer(error, this, *this);                                                              \
      throw;                                                                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  template <class F_>                                                                                                  \
  auto register_forward_pre_hook(F_ f) {                                                                               \
    return ::tern::nn::detail::add_hook<::tern::nn::detail::HookKind::forward_pre>(this->hooks_, this, std::move(f));  \
  }                                                                                                                    \
  template <class F_>                                                                                                  \
  auto register_forward_hook(F_ f) {                                                                                   \
    return ::tern::nn::detail::add_hook<::tern::nn::detail::HookKind::forward>(this->hooks_, this, std::move(f));      \
  }                                                                                                                    \
  template <class F_>                                                                                                  \
  auto register_full_backward_hook(F_ f) {                                                                             \
    return ::tern::nn::detail::add_hook<::tern::nn::detail::HookKind::full_backward>(this->hooks_, this, std::move(f)); \
  }

#define TERN_FIELD_VISIT_(name) visit(#name, self.name);
#define TERN_FIELD_REBUILD_(name) , name(from(from.source.name))
#define TERN_FIELD_TYPE_(name) , decltype(name)

/// Put it at the end of a module's class. It takes the class's name, then all members in the order of their
/// declaration: layers, parameters and plain values. If a layer or parameter is not listed, parameters() throws an
/// Error, so it is never silently left untrained. The exception is elements of an unlisted std::vector, which cannot be
/// told from other objects. The class gets a default constructor. It is a template, so a default constructor of the
/// class's own (to tie weights, for example) replaces it.
#define TERN_FIELDS(Self, ...) TERN_FIELDS_AS(Self, #Self, __VA_ARGS__)

/// The same for a class template whose name depends on its arguments.
#define TERN_FIELDS_AS(Self, name, ...)                                                                                \
 public:                                                                                                               \
  template <class M_, class V_>                                                                                        \
  static void name_fields([[maybe_unused]] M_& self, [[maybe_unused]] V_& visit) {                                     \
    TERN_FOR_EACH(TERN_FIELD_VISIT_, __VA_ARGS__)                                                                      \
  }                                                                                                                    \
  TERN_REBUILT_MODULE_(Self, name, __VA_ARGS__)

/// The same for a class whose layers have other names than its members, such as positions in a list of PyTorch's. It
/// has `static void name_fields(self, visit)`, which calls visit(name, member) for each layer and parameter.
#define TERN_NAMED_FIELDS(Self, ...) TERN_REBUILT_MODULE_(Self, #Self, __VA_ARGS__)

/// The methods that these define besides name_fields().
#define TERN_REBUILT_MODULE_(Self, name, ...)                                                                          \
 public:                                                                                                               \
  template <int = 0>                                                                                                   \
  Self() {}                                                                                                            \
  Self(Self&&) = default;                                                                                              \
  Self& operator=(Self&&) = default;                                                                                   \
  template <class From_, class D_, class T_>                                                                           \
  explicit Self(const ::tern::nn::Rebuild<From_, D_, T_>& from)                                                        \
      : ::tern::nn::Module<D_, T_>(from.source.is_training()) TERN_FOR_EACH(TERN_FIELD_REBUILD_, __VA_ARGS__) {}       \
  static constexpr const char* type_name() { return name; }                                                            \
  TERN_MODULE_METHODS(Self, void TERN_FOR_EACH(TERN_FIELD_TYPE_, __VA_ARGS__))

}  // namespace tern

#ifndef TERN_COMPILED
#include "module.ipp"
#endif
