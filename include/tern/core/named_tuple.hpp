// Results of several tensors: a std::tuple whose elements also have PyTorch's names.
#pragma once
#include <tuple>
#include <utility>

/// The constructors of a struct that is derived from `Tuple` and has references to its elements. A copy's refer to its
/// own elements.
#define TERN_NAMED_TUPLE(Self)              \
  Self(const Self& other) : Tuple(other) {} \
  Self& operator=(const Self& other) {      \
    Tuple::operator=(other);                \
    return *this;                           \
  }

/// Makes `auto [a, b] = result` see the elements of a template Self<D, T> with n elements. At global scope.
#define TERN_NAMED_TUPLE_SIZE(Self, n)                                            \
  template <class D, class T>                                                     \
  struct std::tuple_size<Self<D, T>> : std::integral_constant<std::size_t, n> {}; \
  template <std::size_t I, class D, class T>                                      \
  struct std::tuple_element<I, Self<D, T>> : std::tuple_element<I, typename Self<D, T>::Tuple> {};
