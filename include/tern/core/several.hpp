// A vector whose length is known while compiling, which a structured binding can take apart.
#pragma once
#include "config.hpp"
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A std::vector of N elements: `auto [a, b] = …` names them.
template <class T, std::size_t N>
struct Several : std::vector<T> {
  explicit Several(std::vector<T> elements) : std::vector<T>(std::move(elements)) {}

  template <std::size_t I>
  const T& get() const& {
    return (*this)[I];
  }
  template <std::size_t I>
  T& get() & {
    return (*this)[I];
  }
  template <std::size_t I>
  T&& get() && {
    return std::move((*this)[I]);
  }
};

}}}  // namespace tern::detail

template <class T, std::size_t N>
struct std::tuple_size<tern::detail::Several<T, N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, class T, std::size_t N>
struct std::tuple_element<I, tern::detail::Several<T, N>> {
  using type = T;
};
