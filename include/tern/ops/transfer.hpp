// Moving tensors between devices.
#pragma once
#include "copy.hpp"

namespace tern {

/// x on a device; x itself where it is there already.
template <Device D, Element T, Device D2>
Tensor<D2, T> to_device(const Tensor<D, T>& x, [[maybe_unused]] D2 device, [[maybe_unused]] Here here = {}) {
  x.checked("to");
  if constexpr (std::is_same_v<D, D2>) {
    return x;
  } else {
    static_assert(HostDevice<D> && HostDevice<D2>,
                  "this version of tern has no copies to or from a GPU: its CUDA backend is not written yet");
    const Tensor<D2, T> y = empty<D2, T>(x.shape());
    backend::copy(Cpu{}, *y.impl(), *x.impl());
    if constexpr (is_floating_v<T>)
      record({"to", here}, y, wrt(x, [](const Tensor<D2, T>& g) { return to_device(g, D{}); }));
    return y;
  }
}

}  // namespace tern
