// Pending<Tensor<D>>: a tensor whose copy is still in flight. A program must not free or overwrite the source of such a
// copy, or read its result too early. So this type holds the source, and only wait() gives the result.
#pragma once
#include <cstring>
#include <memory>
#include <utility>

#include "../backend/copy.hpp"
#include "../device/capture.hpp"
#include "allocate.hpp"
#include "pinned.hpp"
#include "tensor.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// A copy in flight between host and device.
struct TERN_API CopyInFlight {
  TensorImpl* host = nullptr;    // pinned, held
  TensorImpl* device = nullptr;  // held
  std::unique_ptr<AsyncCopy> copy;

  CopyInFlight() {}
  CopyInFlight(const CopyInFlight&) = delete;
  CopyInFlight& operator=(const CopyInFlight&) = delete;
  ~CopyInFlight();
};

}  // namespace detail

/// Move-only. If it is destroyed without wait(), the copy still finishes, and nothing is freed before.
template <class X>
class Pending {
  static constexpr bool to_host = HostDevice<typename X::device_type>;

 public:
  explicit Pending(std::unique_ptr<detail::CopyInFlight> pending) : pending_(std::move(pending)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) noexcept = default;

  /// True if wait() would not block.
  bool ready(CallSite here = {}) const { return checked({"ready", here}).copy->is_done(); }

  /// The tensor. On a device, later work on it runs after the copy. In host memory, the host waits for the copy.
  X wait(CallSite here = {}) {
    const CallScope scope(here);
    detail::CopyInFlight& pending = checked({"wait", here});
    detail::refuse_capture("wait", "the copy was started outside of it");
    if constexpr (to_host) pending.copy->wait_on_host();
    else pending.copy->wait_on_device();
    detail::TensorImpl* const result = to_host ? pending.host : pending.device;
    detail::retain(result);
    pending_.reset();
    return X(result);
  }

 private:
  detail::CopyInFlight& checked(const CallSite& op) const {
    if (!pending_) Error::fail(op, {"nothing is pending: wait() was called before"});
    return *pending_;
  }
  std::unique_ptr<detail::CopyInFlight> pending_;
};

namespace detail {

/// Starts copying a tensor in host memory to a device, concurrently with the device's other work. If it is not pinned
/// or not contiguous, it is first copied to pinned memory.
template <AsyncDevice D>
[[gnu::noinline]] std::unique_ptr<CopyInFlight> start_copy_to_device(const char* op, int ordinal, TensorImpl* host) {
  refuse_capture(op, host_is_read);
  DeviceTraits<D>::open(ordinal);
  const std::size_t bytes = std::size_t(host->numel) * std::size_t(size_of(host->dtype));
  auto pending = std::make_unique<CopyInFlight>();
  if (host->pinned && host->contiguous) {
    retain(host);
    pending->host = host;
  } else {
    pending->host = new_pinned<D>(ordinal, host->dtype, host->shape_ref());
    if (host->contiguous) std::memcpy(pending->host->data, host->data, bytes);
    else backend::run<Cpu>(backend::Copy{*pending->host, *host});
  }
  pending->device = allocate<D>(host->dtype, host->shape_ref(), ordinal);
  pending->copy = DeviceTraits<D>::Async::start_copy_to_device(
      ordinal, pending->device->data, pinned_memory(pending->host), pending->host->data, bytes);
  return pending;
}

/// The same for a typed tensor. Not recorded.
template <AsyncDevice D2, HostDevice D, Element T>
Pending<Tensor<D2, T>> start_copy_to_device(const char* op, const Tensor<D, T>& x, D2 device, CallSite here = {}) {
  const CallScope scope(here);
  return Pending<Tensor<D2, T>>(start_copy_to_device<D2>(op, device.ordinal, x.checked(op)));
}

/// Starts copying a dense tensor of a device to pinned host memory, in order with the device's other work.
template <AsyncDevice D>
[[gnu::noinline]] std::unique_ptr<CopyInFlight> start_copy_to_host(const char* op, TensorImpl* device) {
  refuse_capture(op, "its memory is used only once; copy to the host after replay()");
  const std::size_t bytes = std::size_t(device->numel) * std::size_t(size_of(device->dtype));
  auto pending = std::make_unique<CopyInFlight>();
  retain(device);
  pending->device = device;
  pending->host = new_pinned<D>(device->ordinal, device->dtype, device->shape_ref());
  pending->copy = DeviceTraits<D>::Async::start_copy_to_host(device->ordinal, pinned_memory(pending->host),
                                                             pending->host->data, device->data, bytes);
  return pending;
}

}  // namespace detail
}}  // namespace tern

#ifndef TERN_COMPILED
#include "pending.ipp"
#endif
