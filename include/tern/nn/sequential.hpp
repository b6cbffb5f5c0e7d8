// Sequential: modules one after the other.
#pragma once
#include "module_list.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// Applies its modules, first to last. Their names are 0, 1, …
///
///   nn::Sequential(nn::Linear<Cpu>(4, 8), nn::ReLU<Cpu>())   the classes of the modules are part of its type
///   nn::Sequential<D, T>                                     grows by push_back; see AnyLayer
template <class... L>
struct Sequential : ModuleOf<Sequential<L...>, typename std::tuple_element_t<0, std::tuple<L...>>::device_type,
                             typename std::tuple_element_t<0, std::tuple<L...>>::value_type> {
  std::tuple<L...> layers;

  explicit(sizeof...(L) == 1) Sequential(L... modules) : layers(std::move(modules)...) {}
  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential&&) = default;
  template <class From, class D, class T>
  explicit Sequential(const Rebuild<From, D, T>& from) : Sequential::ModuleOf(from), layers(from(from.source.layers)) {}

  static constexpr const char* type_name() { return "Sequential"; }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    int i = 0;
    std::apply([&](auto&... layer) { (visit(std::to_string(i++).c_str(), layer), ...); }, self.layers);
  }
  TERN_MODULE_CLASS(Sequential, typename detail::TensorTypesOf<detail::TypeList<L...>>::type)

  template <class X>
  auto forward(const X& x, CallSite here = {}) {
    const CallScope scope(here);
    return from<0>(layers, x);
  }
  template <class X>
  auto forward(const X& x, CallSite here = {}) const {
    const CallScope scope(here);
    return from<0>(layers, x);
  }

 private:
  template <std::size_t i, class Layers, class X>
  static auto from(Layers& layers, const X& x) {
    if constexpr (i + 1 == sizeof...(L)) return std::get<i>(layers)(x);
    else return from<i + 1>(layers, std::get<i>(layers)(x));
  }
};

template <Device D, Element... T>
struct Sequential<D, T...> : ModuleOf<Sequential<D, T...>, D, T...>, detail::Layers<AnyLayer<D, T...>> {
  using X = Tensor<D, T...>;

  template <IsModule... L>
  explicit(sizeof...(L) == 1) Sequential(L... modules) {
    (this->push_back(std::move(modules)), ...);
  }
  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential&&) = default;
  template <class From, class D2, class T2>
  explicit Sequential(const Rebuild<From, D2, T2>& from)
      : Sequential::ModuleOf(from), detail::Layers<AnyLayer<D, T...>>(from) {}

  static constexpr const char* type_name() { return "Sequential"; }
  using detail::Layers<AnyLayer<D, T...>>::name_fields;
  TERN_MODULE_CLASS(Sequential, typename detail::TensorTypesOf<AnyLayer<D, T...>>::type)

  X forward(const X& x, CallSite here = {}) const {
    const CallScope scope(here);
    X y = x;
    for (const auto& layer : *this) y = layer(y);
    return y;
  }
};

namespace detail {

template <class... L, class D, class T>
struct Rebind<Sequential<L...>, D, T> {
  using type = Sequential<rebind_t<L, D, T>...>;
};
template <class D0, class D, class T>
struct Rebind<Sequential<D0>, D, T> {
  using type = std::conditional_t<Device<D0>, Sequential<D>, Sequential<rebind_t<D0, D, T>>>;
};
template <class D0, class T0, class D, class T>
struct Rebind<Sequential<D0, T0>, D, T> {
  using type = std::conditional_t<Device<D0>, Sequential<D, T>, Sequential<rebind_t<D0, D, T>, rebind_t<T0, D, T>>>;
};

}  // namespace detail
}}}  // namespace tern::nn
