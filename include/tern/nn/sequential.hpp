// Sequential: modules one after the other.
#pragma once
#include <tuple>

#include "module.hpp"

namespace tern::inline TERN_BUILD::nn {

/// Applies its modules, first to last. Their names are 0, 1, …
template <IsModule... L>
struct Sequential : Module<typename std::tuple_element_t<0, std::tuple<L...>>::device_type,
                           typename std::tuple_element_t<0, std::tuple<L...>>::value_type> {
  std::tuple<L...> layers;

  explicit Sequential(L... modules) : layers(std::move(modules)...) {}
  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential&&) = default;
  template <class From, class D, class T>
  explicit Sequential(const Rebuild<From, D, T>& from)
      : Module<D, T>(from.source.is_training()),
        layers(std::apply([&](const auto&... layer) { return std::tuple<L...>(from(layer)...); }, from.source.layers)) {}

  static constexpr const char* type_name() { return "Sequential"; }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    int i = 0;
    std::apply([&](auto&... layer) { (visit(std::to_string(i++).c_str(), layer), ...); }, self.layers);
  }
  TERN_MODULE_METHODS(Sequential, L...)

  template <class X>
  auto forward(const X& x) {
    return from<0>(x);
  }

 private:
  template <std::size_t i, class X>
  auto from(const X& x) {
    if constexpr (i + 1 == sizeof...(L)) return std::get<i>(layers)(x);
    else return from<i + 1>(std::get<i>(layers)(x));
  }
};

}  // namespace tern::nn
