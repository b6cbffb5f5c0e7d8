// A module, type-erased: a walk over its tensors and over the modules below it. Functions that use such a walk are
// compiled once, so another class of modules costs little compile time beyond the list of its members.
#pragma once
#include <string>
#include <vector>

#include "../ops/support/grad_ops.hpp"
#include "../ops/support/overwrite.hpp"
#include "children.hpp"
#include "parameter.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

using tern::detail::Extent;
using tern::detail::Registered;

class Walk;

/// What is known of a module's class. Its address identifies the class.
struct ModuleType {
  const char* name;
  DType dtype;                    // of its activations
  std::size_t bytes, base_bytes;  // of the whole object, and of its ModuleBase
  tern::detail::Lists* lists;
  void (*walk)(const void* module, Walk& walk);
};

/// True if the address is in a layer or tensor that x is or holds in itself, in a container that holds them elsewhere,
/// or in the unwritten memory of a std::optional that holds none.
template <class X>
bool covers(const X& x, const void* address) {
  if constexpr (is_leaf<X> || Sequence<X> || Dictionary<X> || requires { typename X::element_type; }) {
    return Extent{&x, sizeof x}.contains(address);
  } else {
    bool found = false;
    if constexpr (Holder<X>) found = !x && Extent{&x, sizeof x}.contains(address);
    each_child(x, [&](const tern::detail::Piece*, const auto& child) {
      if constexpr (has_tensors<std::remove_cvref_t<decltype(child)>>) found = found || covers(child, address);
    });
    return found;
  }
}

/// Whether the module lists a layer or tensor at the address.
template <class M>
bool lists_at(const void* module, const void* address) {
  bool found = false;
  const auto look = [&](const char*, const auto& x) {
    if constexpr (has_tensors<std::remove_cvref_t<decltype(x)>>) found = found || covers(x, address);
  };
  M::name_fields(*static_cast<const M*>(module), look);
  return found;
}

template <class M>
void walk_module(const void* module, Walk& walk);

template <IsModule M>
inline constexpr ModuleType module_type{M::type_name(), dtype_of<typename M::value_type>,
                                        sizeof(M),      sizeof(typename M::ModuleBase),
                                        &lists_at<M>,   &walk_module<M>};

/// A module or a tensor that a walk visits, or, if it looks for layers that nobody lists, an object of another class.
struct Member {
  const std::string& path;  // the names that lead to it, such as layers.0.weight
  int depth;                // how many modules it is inside
  // For a module:
  const char* type = nullptr;  // null for all else
  Extent extent{}, base{};     // of the object and of its ModuleBase
  const ModuleType* module_type = nullptr;
  // For a tensor, which is defined, and so is no other member's:
  AnyTensor tensor{};
  const tern::detail::GradOps* grad_ops = nullptr;  // of a parameter; null for a buffer
  void (*overwrite)(const AnyTensor& to, const AnyTensor& from) = nullptr;
  const std::shared_ptr<Original>* original = nullptr;  // of a mixed network's parameter; its float is the tensor
};

/// A walk over a module and everything below it.
class TERN_API Walk {
 public:
  using Visit = void (*)(const void* context, const Member&);
  Walk(Visit visit, const void* context, bool opaque) : visit_(visit), context_(context), opaque_(opaque) {}

  /// A module's name_fields() calls it for each member.
  template <class X>
  void operator()(const char* name, const X& x) {
    static_assert(has_tensors<X> || !mentions_layer<X>,
                  "a member that holds layers or parameters must be a std::vector, array, optional, pair, tuple, map, "
                  "unique_ptr or shared_ptr of them");
    if constexpr (has_tensors<X> || is_opaque<X>)
      if (has_tensors<X> || opaque_) enter(name, x);
  }

  template <class X>
  void member(const X& x) {
    if constexpr (IsModule<X>) {
      module(module_type<X>, &x, &x);
      X::name_fields(x, *this);
      --depth_;
    } else if constexpr (is_tensor<X>) {
      using D = typename X::device_type;
      using T = typename X::value_type;
      if constexpr (requires { x.original(); }) {
        if (x.original())
          return tensor(x.original()->learned(), &tern::detail::GradOpsFor<D, float>::table,
                        &tern::detail::overwrite<D, float>, &x.original());
      }
      if (x.defined()) tensor(x, grad_ops<X>(), &tern::detail::overwrite<D, T>);
    } else if constexpr (is_any_layer<X>) {
      x.walk(*this);
    } else if constexpr (std::is_same_v<typename Elements<X>::types, TypeList<>>) {
      if (opaque_) object({&x, sizeof x});
    } else {
      if constexpr (requires { typename X::element_type; }) check_pointer<typename X::element_type>();
      each_child(x, [this](const tern::detail::Piece* name, const auto& child) {
        using Child = std::remove_cvref_t<decltype(child)>;
        if constexpr (has_tensors<Child> || is_opaque<Child>) {
          if (name) this->enter(*name, child);
          else this->member(child);
        }
      });
    }
  }

 private:
  template <class X>
  void enter(tern::detail::Piece name, const X& x) {
    const std::size_t outside = lengthen(name);
    member(x);
    shorten(outside);
  }
  std::size_t lengthen(tern::detail::Piece name);
  void shorten(std::size_t length);

  void module(const ModuleType& type, const void* object, const ModuleBase* base);
  void object(const Extent& extent);
  void tensor(const AnyTensor& x, const tern::detail::GradOps* grad_ops,
              void (*overwrite)(const AnyTensor& to, const AnyTensor& from),
              const std::shared_ptr<Original>* original = nullptr);
  /// A module that is known by a pointer must be of the pointer's class.
  template <class X>
  static void check_pointer() {
    if constexpr (IsModule<X>) {
      static_assert(
          std::is_final_v<X> || (!std::is_polymorphic_v<X> && requires { X::type_name(); }),
          "a pointer to a base class does not know its module's layers: hold the class itself, or an nn::AnyLayer");
    }
  }
  template <class X>
  static const tern::detail::GradOps* grad_ops() {
    if constexpr (std::is_base_of_v<Registered, X>)
      return &tern::detail::GradOpsFor<typename X::device_type, typename X::value_type>::table;
    else return nullptr;
  }

  Visit visit_;
  const void* context_;
  bool opaque_;
  std::string path_;
  int depth_ = 0;
};

template <class M>
void walk_module(const void* module, Walk& walk) {
  walk.member(*static_cast<const M*>(module));
}

}  // namespace detail

/// Any module, type-erased. Every module converts to it. The module must outlive it.
class TERN_API AnyModule {
 public:
  template <IsModule M>
  AnyModule(const M& module) : object_(&module), type_(&detail::module_type<M>) {}

  /// Calls visit(member) for this module and for all tensors and modules below it, in the order listed; with opaque,
  /// for listed objects of all other classes that may have members, too.
  template <class F>
  void each(const F& visit, bool opaque = false) const {
    run([](const void* f, const detail::Member& m) { (*static_cast<const F*>(f))(m); }, &visit, opaque);
  }

 protected:
  AnyModule(const void* object, const detail::ModuleType* type) : object_(object), type_(type) {}

  const void* object_;
  const detail::ModuleType* type_;

 private:
  void run(detail::Walk::Visit visit, const void* context, bool opaque) const;
};

namespace detail {

/// Names the layer whose call threw an Error that now passes the call of `module`. The innermost module that it passes
/// is the layer; each one outside puts the layer's path before the message.
TERN_API void name_layer(Error& error, const void* module, const AnyModule& tree);

}  // namespace detail

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "members.ipp"
#endif
