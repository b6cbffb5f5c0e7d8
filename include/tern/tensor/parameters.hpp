// The parameters of a network as an optimiser takes them.
#pragma once
#include "any_tensor.hpp"

namespace tern::inline TERN_BUILD {

/// A device and an element type that parameters of a network have.
template <class D, class T>
struct TensorType {
  using device_type = D;
  using value_type = T;
};

/// A network's parameters, and (as a type) on which places they are.
template <class... TensorTypes>
struct Parameters : std::vector<NamedTensor> {
  /// Those for which f(parameter) is true, for a group of their own.
  template <class F>
  Parameters where(const F& f) const {
    Parameters some;
    for (const NamedTensor& parameter : *this)
      if (f(parameter)) some.push_back(parameter);
    return some;
  }
};

}  // namespace tern
