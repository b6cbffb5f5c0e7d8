// Moving tensors between devices.
#pragma once
#include "../tensor/pending.hpp"
#include "../tensor/transfer.hpp"
#include "copy.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// to = from, a tensor in host memory. A copy from pinned memory needs no staging.
template <Device D>
void copy_to_device(const TensorImpl& to, const TensorImpl& from) {
  if constexpr (AsyncDevice<D>) {
    if (from.pinned) {
      const std::size_t bytes = std::size_t(from.numel) * std::size_t(size_of(from.dtype));
      return DeviceTraits<D>::Async::copy_to_device(to.ordinal, to.data, pinned_memory(&from), from.data, bytes);
    }
  }
  transfer<D, Cpu>(to, from);
}
}  // namespace detail

/// x on a device, in x's memory order; x itself if it is there already.
template <Device D, Element T, Device D2>
Tensor<D2, T> to_device(const Tensor<D, T>& x, D2 device, CallSite here = {}) {
  [[maybe_unused]] const int from = x.checked({"to", here})->ordinal;
  if constexpr (std::is_same_v<D, D2>)
    if (from == detail::ordinal_of(device)) return x;
  if constexpr (std::is_same_v<D, D2> && HostDevice<D>) {
    return x;
  } else if constexpr (!std::is_same_v<D, D2> && !HostDevice<D> && !HostDevice<D2>) {
    return to_device(to_device(x, Cpu{}, here), device, here);
  } else {
    const CallScope scope(here);
    const Tensor<D, T> dense = detail::is_dense(*x.impl()) ? x : detail::dense(x);
    const Tensor<D2, T> y = empty<D2, T>(x.shape(), device);
    detail::take_order(y.impl(), *dense.impl());
    if constexpr (HostDevice<D>) detail::copy_to_device<D2>(*y.impl(), *dense.impl());
    else detail::transfer<D2, D>(*y.impl(), *dense.impl());
    if constexpr (detail::is_floating_v<T>)
      record({"to", here}, y,
             wrt(x, [from](const Tensor<D2, T>& g) { return to_device(g, detail::device_at<D>(from)); }));
    return y;
  }
}

/// target = source, converted to target's element type and copied to its device.
template <Device D, Element T, Device D2, Element U>
  requires(!std::is_same_v<Tensor<D, T>, Tensor<D2, U>>)
const Tensor<D, T>& copy_(const Tensor<D, T>& target, const Tensor<D2, U>& source, CallSite here = {}) {
  const CallScope scope({"copy_", here});
  const D place = detail::device_at<D>(target.checked("copy_")->ordinal);
  return copy_(target, to_device(to_type(source, detail::Type<T>{}), place));
}

template <Device D, Element T>
std::vector<T> Tensor<D, T>::to_vector(CallSite here) const {
  const CallScope scope({"to_vector", here});
  const Tensor<Cpu, T> dense = tern::contiguous(tern::to_device(detach(), Cpu{}, here));
  return std::vector<T>(dense.data(), dense.data() + dense.numel());
}

/// Starts copying x to a CUDA device, concurrently with the device's other work. x may be overwritten or freed at once:
/// if it is not pinned, it is copied to pinned memory first; if it is, writing it waits for the copy. Not recorded.
template <HostDevice D, Element T, class C = Cuda>
Pending<Tensor<detail::included<C>, T>> cuda_async(const Tensor<D, T>& x,
                                                   int ordinal = detail::current_device<C>().ordinal,
                                                   CallSite here = {}) {
  return detail::start_copy_to_device("cuda_async", x, C{ordinal}, here);
}

/// Starts copying x to pinned host memory, in order with the device's other work, so later work may overwrite x. Not
/// recorded.
template <detail::AsyncDevice D, Element T>
Pending<Tensor<Cpu, T>> cpu_async(const Tensor<D, T>& x, CallSite here = {}) {
  x.checked({"cpu_async", here});
  const CallScope scope(here);
  return Pending<Tensor<Cpu, T>>(detail::start_copy_to_host<D>("cpu_async", detail::dense(x.detach()).impl()));
}

/// x in page-locked memory, from and to which copies are faster; x itself if it is there already. Not recorded. Error
/// without a CUDA device.
template <std::same_as<Cpu> D, Element T, class C = Cuda>
Tensor<D, T> pin_memory(const Tensor<D, T>& x, CallSite here = {}) {
  using Gpu = detail::included<C>;
  if (x.checked({"pin_memory", here})->pinned) return x;
  const CallScope scope({"pin_memory", here});
  const Tensor<D, T> y(
      detail::new_pinned<Gpu>(detail::current_device<Gpu>().ordinal, dtype_of<T>, x.impl()->shape_ref()));
  detail::backend::run<D>(detail::backend::Copy{*y.impl(), *x.impl()});
  return y;
}

}}  // namespace tern
