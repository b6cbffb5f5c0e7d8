// What a module's member holds: a layer, a tensor, or a container of them. The walk over names, the list of tensor
// types and the rebuilding of a module all use this description. It names no container: a container is known by what
// it can do.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "../tensor/any_tensor.hpp"
#include "registry.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

class ModuleBase;
template <Device D, Element T>
struct Module;
template <class Self, Device D, Element T = float>
struct ModuleOf;

template <class X>
concept IsModule = std::is_base_of_v<ModuleBase, X>;

template <class D, class T = float>
class Parameter;
template <class D, class T = float>
class Buffer;
template <Device D, Element T>
class AnyLayer;

namespace detail {

/// The class that a module's class is derived from: Module<D, T>, or a module with fields of its own. Of the overloads
/// that take a base of M, the nearest one is chosen. That of M itself takes no M.
template <class M>
using base_t = typename decltype(module_base_(static_cast<const M*>(nullptr), std::type_identity<M>()))::type;

template <class X>
inline constexpr bool is_tensor = false;
template <class D, class T>
inline constexpr bool is_tensor<Tensor<D, T>> = true;
template <class D, class T>
inline constexpr bool is_tensor<Parameter<D, T>> = true;
template <class D, class T>
inline constexpr bool is_tensor<Buffer<D, T>> = true;
template <class X>
inline constexpr bool is_any_layer = false;
template <class D, class T>
inline constexpr bool is_any_layer<AnyLayer<D, T>> = true;

/// What a walk visits by itself, not element by element.
template <class X>
inline constexpr bool is_leaf = IsModule<X> || is_tensor<X> || is_any_layer<X>;

/// std::vector, std::deque, std::list.
template <class X>
concept Sequence = !std::is_same_v<typename X::value_type, X> && requires(X& x, typename X::value_type element) {
  x.begin();
  x.push_back(std::move(element));
};
/// std::map.
template <class X>
concept Dictionary = requires(X& x) {
  typename X::key_compare;
  typename X::mapped_type;
  x.begin()->second;
};
/// std::array, std::pair, std::tuple.
template <class X>
concept TupleLike = requires { std::tuple_size<X>::value; };
/// std::optional, std::unique_ptr, std::shared_ptr. It holds one child or none.
template <class X>
concept Holder = std::is_class_v<X> && requires(X& x) {
  x ? 0 : 1;
  *x;
  x.reset();
};
/// std::shared_ptr.
template <class X>
concept SharedHolder = Holder<X> && std::is_copy_constructible_v<X> && requires { typename X::element_type; };

template <class... X>
struct TypeList {};

/// The types of a container's elements; none for a plain value.
template <class X>
struct Elements {
  using types = TypeList<>;
};
template <Sequence X>
struct Elements<X> {
  using types = TypeList<typename X::value_type>;
};
template <Dictionary X>
struct Elements<X> {
  using types = TypeList<typename X::mapped_type>;
};
template <TupleLike X>
struct Elements<X> {
  template <std::size_t... i>
  static TypeList<std::tuple_element_t<i, X>...> all(std::index_sequence<i...>);
  using types = decltype(all(std::make_index_sequence<std::tuple_size<X>::value>()));
};
template <Holder X>
struct Elements<X> {
  using types = TypeList<std::remove_cvref_t<decltype(*std::declval<X&>())>>;
};

template <class... X>
constexpr bool any_has_tensors(TypeList<X...>);

/// True for a module, a tensor, and a container of these. All other members are plain values.
template <class X>
constexpr bool find_tensors() {
  if constexpr (is_leaf<X>) return true;
  else return any_has_tensors(typename Elements<X>::types());
}
template <class X>
inline constexpr bool has_tensors = find_tensors<X>();
template <class... X>
constexpr bool any_has_tensors(TypeList<X...>) {
  return (has_tensors<X> || ...);
}

template <class... X>
constexpr bool any_opaque(TypeList<X...>);

/// True for a class that is no module, tensor or container, so that nobody knows its members, and for a container of
/// such. What is destroyed trivially has no layers.
template <class X>
constexpr bool find_opaque() {
  using Types = typename Elements<X>::types;
  if constexpr (is_leaf<X> || !std::is_class_v<X>) return false;
  else if constexpr (std::is_same_v<Types, TypeList<>>) return !std::is_trivially_destructible_v<X>;
  else return any_opaque(Types());
}
template <class X>
inline constexpr bool is_opaque = find_opaque<X>();
template <class... X>
constexpr bool any_opaque(TypeList<X...>) {
  return (is_opaque<X> || ...);
}

template <class... X>
constexpr bool all_copyable(TypeList<X...>);

/// True for what can be copied, also its elements: a std::vector says so of any.
template <class X>
inline constexpr bool is_copyable = std::is_copy_constructible_v<X> && all_copyable(typename Elements<X>::types());
template <class... X>
constexpr bool all_copyable(TypeList<X...>) {
  return (is_copyable<X> && ...);
}

/// True for a layer or parameter.
template <class X>
inline constexpr bool is_registered = false;
template <class X>
  requires(std::is_class_v<X> && sizeof(X) > 0)  // a type that is only declared has no size
inline constexpr bool is_registered<X> = std::is_base_of_v<tern::detail::Registered, X>;

/// True if a layer or parameter is part of the type. If such a type is no container that is known here, its layers
/// would not be trained.
template <class X>
inline constexpr bool mentions_layer = is_registered<X>;
template <class X>
inline constexpr bool mentions_layer<X*> = mentions_layer<X>;
template <class X>
inline constexpr bool mentions_layer<X[]> = mentions_layer<X>;
template <class X, std::size_t n>
inline constexpr bool mentions_layer<X[n]> = mentions_layer<X>;
template <template <class...> class X, class... A>
inline constexpr bool mentions_layer<X<A...>> = is_registered<X<A...>> || (mentions_layer<A> || ...);

/// Error unless it can be one part of a dotted name.
TERN_API void check_key(tern::detail::Piece key);

/// Calls visit(name, child) for each child of a container. The name is null where the child has its holder's name, and
/// in a map of plain values, whose keys may be anything.
template <class X, class V>
void each_child(X& x, const V& visit) {
  using C = std::remove_const_t<X>;
  if constexpr (Sequence<C>) {
    Index i = 0;
    for (auto& child : x) {
      const tern::detail::Piece name(i++);
      visit(&name, child);
    }
  } else if constexpr (Dictionary<C>) {
    for (auto& [key, child] : x) {
      if constexpr (has_tensors<C>) {
        static_assert(std::is_constructible_v<tern::detail::Piece, const typename C::key_type&>,
                      "the keys of a map of layers must be std::string or whole numbers");
        const tern::detail::Piece name(key);
        check_key(name);
        visit(&name, child);
      } else {
        visit(nullptr, child);
      }
    }
  } else if constexpr (TupleLike<C>) {
    Index i = 0;
    const auto next = [&](auto& child) {
      const tern::detail::Piece name(i++);
      visit(&name, child);
    };
    std::apply([&](auto&... child) { (next(child), ...); }, x);
  } else if constexpr (Holder<C>) {
    if (x) visit(nullptr, *x);
  }
}

}  // namespace detail
}}}  // namespace tern::nn
