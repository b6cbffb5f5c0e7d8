// A network's parameters: a list to loop over, and the form that an optimiser takes.
#pragma once
#include "any_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// The type of a tensor, without a tensor: its device and element type.
template <class D, class T>
struct TensorType {
  using device_type = D;
  using value_type = T;
};

/// A parameter of a network whose parameters have one device and element type: a Tensor<D, T> with a name. In
/// `auto& [name, p]`, p is the same.
template <class D, class T>
struct TypedParameter : Tensor<D, T> {
  std::string name;
  AnyTensor tensor;  // the same tensor

  /// An undefined tensor stays undefined: an optimiser refuses it.
  TypedParameter(const NamedTensor& p);
  operator NamedTensor() const { return {name, tensor}; }

  const TypedParameter& requires_grad_(bool on = true, CallSite here = {}) const {
    tensor.requires_grad_(on, here);
    return *this;
  }
  template <Device D2, Element T2 = float>
  Tensor<D2, T2> as(CallSite here = {}) const {
    return tensor.as<D2, T2>(here);
  }
  template <std::size_t I>
  const auto& get() const {
    if constexpr (I == 0) return name;
    else return *this;
  }
};

template <class D, class T>
TypedParameter<D, T>::TypedParameter(const NamedTensor& p)
    : Tensor<D, T>(p.tensor.defined() ? p.as<D, T>() : Tensor<D, T>()), name(p.name), tensor(p.tensor) {}

template <class... TensorTypes>
struct ParameterOf {
  using type = NamedTensor;
};
template <class D, class T>
struct ParameterOf<TensorType<D, T>> {
  using type = TypedParameter<D, T>;
};

/// A network's parameters. The type lists the tensor types that occur among them. If that is one, the parameters are
/// tensors of this type, else NamedTensors.
template <class... TensorTypes>
struct Parameters : std::vector<typename ParameterOf<TensorTypes...>::type> {
  using Parameter = typename ParameterOf<TensorTypes...>::type;

  Parameters() = default;
  explicit Parameters(const std::vector<NamedTensor>& list);
  operator StateDict() const
    requires(!std::is_same_v<Parameter, NamedTensor>);

  template <class D, class T>
    requires std::derived_from<Parameter, Tensor<D, T>>
  operator std::vector<Tensor<D, T>>() const {
    return std::vector<Tensor<D, T>>(this->begin(), this->end());
  }

  /// Appends those of another network.
  void extend(const Parameters& others) { this->insert(this->end(), others.begin(), others.end()); }

  /// The parameters for which f(parameter) is true, as a group of their own.
  template <class F>
  Parameters where(const F& f) const {
    Parameters some;
    for (const Parameter& parameter : *this)
      if (f(parameter)) some.push_back(parameter);
    return some;
  }
};

template <class... TensorTypes>
Parameters<TensorTypes...>::Parameters(const std::vector<NamedTensor>& list)
    : std::vector<Parameter>(list.begin(), list.end()) {}

template <class... TensorTypes>
Parameters<TensorTypes...>::operator StateDict() const
  requires(!std::is_same_v<Parameter, NamedTensor>)
{
  return StateDict(this->begin(), this->end());
}

/// Tensors, or nn::Parameters, of one device and element type as parameters. Their names are their positions in the
/// list.
template <class X>
Parameters<TensorType<typename X::device_type, typename X::value_type>> parameters_of(const std::vector<X>& tensors) {
  Parameters<TensorType<typename X::device_type, typename X::value_type>> list;
  for (const X& x : tensors) list.push_back(NamedTensor{text({Index(list.size())}), x});
  return list;
}

TERN_CLASS_INSTANCE(TypedParameter<Cpu, float>)
TERN_CLASS_INSTANCE(Parameters<TensorType<Cpu, float>>)
TERN_CUDA_CLASS_INSTANCE(TypedParameter<Cuda, float>)
TERN_CUDA_CLASS_INSTANCE(Parameters<TensorType<Cuda, float>>)

}}}  // namespace tern::detail

template <class D, class T>
struct std::tuple_size<tern::detail::TypedParameter<D, T>> : std::integral_constant<std::size_t, 2> {};
template <class D, class T>
struct std::tuple_element<0, tern::detail::TypedParameter<D, T>> {
  using type = const std::string;
};
template <class D, class T>
struct std::tuple_element<1, tern::detail::TypedParameter<D, T>> {
  using type = const tern::detail::TypedParameter<D, T>;
};
