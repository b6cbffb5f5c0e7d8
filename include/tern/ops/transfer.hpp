// Moving tensors between devices.
#pragma once
#include "../backend/transfer.hpp"
#include "copy.hpp"

namespace tern {

/// x on a device; x itself where it is there already.
template <Device D, Element T, Device D2>
Tensor<D2, T> to_device(const Tensor<D, T>& x, [[maybe_unused]] D2 device, [[maybe_unused]] Here here = {}) {
  x.checked("to");
  if constexpr (std::is_same_v<D, D2>) {
    return x;
  } else {
    const Site user(here);
    const Tensor<D, T> dense = detail::dense(x);
    const Tensor<D2, T> y = empty<D2, T>(x.shape());
    backend::transfer(D2{}, D{}, *y.impl(), *dense.impl());
    if constexpr (is_floating_v<T>)
      record({"to", here}, y, wrt(x, [](const Tensor<D2, T>& g) { return to_device(g, D{}); }));
    return y;
  }
}

}  // namespace tern
