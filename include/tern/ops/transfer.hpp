// Moving tensors between devices.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../backend/transfer.hpp"
#include "../tensor/pending.hpp"
#include "copy.hpp"

namespace tern::inline TERN_BUILD {

/// x on a device, in x's memory order; x itself where it is there already.
template <Device D, Element T, Device D2>
Tensor<D2, T> to_device(const Tensor<D, T>& x, D2 device, Here here = {}) {
  [[maybe_unused]] const int from = x.checked("to")->ordinal;
  if constexpr (std::is_same_v<D, D2>)
    if (from == detail::ordinal_of(device)) return x;
  if constexpr (!std::is_same_v<D, D2> || std::is_same_v<D, Cuda>) {
    const Site user(here);
    const Tensor<D, T> dense = is_dense(*x.impl()) ? x : detail::dense(x);
    const Tensor<D2, T> y = empty<D2, T>(x.shape(), device);
    detail::take_order(y.impl(), *dense.impl());
    if (std::is_same_v<D2, Cuda> && dense.impl()->pinned) detail::send_pinned(y.impl(), dense.impl());
    else backend::transfer(D2{}, D{}, *y.impl(), *dense.impl());
    if constexpr (is_floating_v<T>)
      record({"to", here}, y,
             wrt(x, [from](const Tensor<D2, T>& g) { return to_device(g, detail::device_at<D>(from)); }));
    return y;
  } else {
    return x;
  }
}

/// Starts copying x to a CUDA device, beside what the device is doing. x may be overwritten or freed at once: it is staged if it is
/// not pinned, held and guarded if it is. Off the tape.
template <HostDevice D, Element T>
Pending<Tensor<Cuda, T>> cuda_async(const Tensor<D, T>& x, int ordinal = 0, Here here = {}) {
  x.checked("cuda_async");
  const Site user(here);
  const Tensor<D, T> dense = detail::dense(x.detach());
  return Pending<Tensor<Cuda, T>>(detail::start_copy_to_device(ordinal, dense.impl()));
}

/// Starts copying x to pinned host memory, in order with what the device is doing: later work may overwrite x. Off the tape.
template <std::same_as<Cuda> D, Element T>
Pending<Tensor<Cpu, T>> cpu_async(const Tensor<D, T>& x, Here here = {}) {
  x.checked("cpu_async");
  const Site user(here);
  return Pending<Tensor<Cpu, T>>(detail::start_copy_to_host(detail::dense(x.detach()).impl()));
}

/// x in page-locked memory, from and to which copies are faster; x itself if it is there. Off the tape. Error without a CUDA device.
template <std::same_as<Cpu> D, Element T>
Tensor<D, T> pin_memory(const Tensor<D, T>& x, Here = {}) {
  if (x.checked("pin_memory")->pinned) return x;
  const Tensor<D, T> y(detail::new_pinned(cuda::current_device(), dtype_of<T>, x.impl()->shape_ref()));
  backend::run<D>(backend::Copy{*y.impl(), *x.impl()});
  return y;
}

}  // namespace tern
