// A module, type-erased: a walk over its tensors and over the modules below it. Functions that use such a walk are
// compiled once, so another class of modules costs little compile time beyond the list of its members.
#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "../ops/support/grad_ops.hpp"
#include "../ops/support/overwrite.hpp"
#include "registry.hpp"

namespace tern::inline TERN_BUILD::nn {

class ModuleBase;

template <class X>
concept IsModule = std::is_base_of_v<ModuleBase, X>;

template <class D, class T>
class Parameter;
template <class D, class T>
class Buffer;

namespace detail {

using tern::detail::Extent;
using tern::detail::Registered;

template <class X>
inline constexpr bool is_tensor = false;
template <class D, class T>
inline constexpr bool is_tensor<Tensor<D, T>> = true;
template <class D, class T>
inline constexpr bool is_tensor<Parameter<D, T>> = true;
template <class D, class T>
inline constexpr bool is_tensor<Buffer<D, T>> = true;
template <class X>
inline constexpr bool is_vector = false;
template <class X>
inline constexpr bool is_vector<std::vector<X>> = true;

/// A module, a tensor, or a list of these. All other members are plain values.
template <class X>
inline constexpr bool has_tensors = IsModule<X> || is_tensor<X>;
template <class X>
inline constexpr bool has_tensors<std::vector<X>> = has_tensors<X>;

/// A module or a tensor that a walk visits.
struct Member {
  const std::string& path;  // the names that lead to it, such as layers.0.weight
  int depth;                // how many modules it is inside
  // For a module:
  const char* type = nullptr;  // null for a tensor
  Extent extent{};
  tern::detail::Lists* lists = nullptr;
  // For a tensor, which is defined:
  AnyTensor tensor{};
  const GradOps* grad_ops = nullptr;  // of a parameter; null for a buffer
  void (*overwrite)(const AnyTensor& to, const AnyTensor& from) = nullptr;
};

/// A walk over a module and everything below it.
class TERN_API Walk {
 public:
  using Visit = void (*)(const void* context, const Member&);
  Walk(Visit visit, const void* context) : visit_(visit), context_(context) {}

  /// A module's name_fields() calls it for each member.
  template <class X>
  void operator()(const char* name, const X& x) {
    if constexpr (has_tensors<X>) enter(name, x);
  }

  template <class X>
  void member(const X& x) {
    if constexpr (IsModule<X>) {
      module(X::type_name(), {&x, sizeof x}, &has_listed<X>);
      X::name_fields(x, *this);
      --depth_;
    } else if constexpr (is_tensor<X>) {
      using D = typename X::device_type;
      using T = typename X::value_type;
      if (x.defined()) tensor(x, grad_ops<X>(), &tern::detail::overwrite<D, T>);
    } else {
      for (std::size_t i = 0; i < x.size(); ++i) enter(Index(i), x[i]);
    }
  }

 private:
  template <class X>
  void enter(Piece name, const X& x) {
    const std::size_t outside = lengthen(name);
    member(x);
    shorten(outside);
  }
  std::size_t lengthen(Piece name);
  void shorten(std::size_t length);

  void module(const char* type, Extent extent, tern::detail::Lists* lists);
  void tensor(const AnyTensor& x, const GradOps* grad_ops, void (*overwrite)(const AnyTensor& to, const AnyTensor& from));
  template <class X>
  static const GradOps* grad_ops() {
    if constexpr (std::is_base_of_v<Registered, X>) return &GradOpsFor<typename X::device_type, typename X::value_type>::table;
    else return nullptr;
  }

  template <class M>
  static bool has_listed(const void* module, const void* address) {
    bool found = false;
    const auto look = [&](const char*, const auto& x) { found = found || Extent{&x, sizeof x}.contains(address); };
    M::name_fields(*static_cast<const M*>(module), look);
    return found;
  }

  Visit visit_;
  const void* context_;
  std::string path_;
  int depth_ = 0;
};

}  // namespace detail

/// Any module, type-erased. Every module converts to it. The module must outlive it.
class TERN_API AnyModule {
 public:
  template <IsModule M>
  AnyModule(const M& module)
      : module_(&module), walk_([](const void* m, detail::Walk& walk) { walk.member(*static_cast<const M*>(m)); }) {}

  /// Calls visit(member) for this module and for all tensors and modules below it, in the order listed.
  template <class F>
  void each(const F& visit) const {
    run([](const void* f, const detail::Member& m) { (*static_cast<const F*>(f))(m); }, &visit);
  }

 private:
  void run(detail::Walk::Visit visit, const void* context) const;

  const void* module_;
  void (*walk_)(const void* module, detail::Walk& walk);
};

namespace detail {

/// Names the layer whose call threw an Error that now passes the call of `module`. The innermost module that it passes is
/// the layer; each one outside puts the layer's path before the message.
TERN_API void name_layer(Error& error, const void* module, const AnyModule& tree);

}  // namespace detail

}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "members.ipp"
#endif
