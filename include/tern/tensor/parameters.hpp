// A network's parameters in the form that an optimiser takes.
#pragma once
#include "any_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// The type of a tensor, without a tensor: its device and element type.
template <class D, class T>
struct TensorType {
  using device_type = D;
  using value_type = T;
};

/// A network's parameters. The type lists the tensor types that occur among them.
template <class... TensorTypes>
struct Parameters : std::vector<NamedTensor> {
  /// The parameters for which f(parameter) is true, as a group of their own.
  template <class F>
  Parameters where(const F& f) const {
    Parameters some;
    for (const NamedTensor& parameter : *this)
      if (f(parameter)) some.push_back(parameter);
    return some;
  }
};

/// Tensors of one device and element type as parameters. Their names are their positions in the list.
template <Device D, Element T>
Parameters<TensorType<D, T>> parameters_of(const std::vector<Tensor<D, T>>& tensors) {
  Parameters<TensorType<D, T>> list;
  for (const Tensor<D, T>& x : tensors) list.push_back({text({Index(list.size())}), x});
  return list;
}

}}}  // namespace tern::detail
