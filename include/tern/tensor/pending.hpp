// Pending<Tensor<D>>: a tensor that is still being copied to where it is going. A copy under way races with whoever frees or overwrites
// its source, or reads its result too early; here the type holds the source and hands the result out only by wait().
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cstring>
#include <memory>
#include <utility>

#include "../device/cuda/copy.hpp"
#include "allocate.hpp"
#include "tensor.hpp"

namespace tern::inline TERN_BUILD {
namespace detail {

/// A copy between host and device under way.
struct CopyInFlight {
  int ordinal = 0;
  TensorImpl* pinned = nullptr;  // the host's side, held
  TensorImpl* device = nullptr;  // the device's side, held
  cuda::detail::ScopedEvent done;
  bool waited_for = false;       // by the device's later work, or by the host

  [[gnu::noinline, gnu::cold]] ~CopyInFlight() {
    if (!waited_for) let_end();
    release(pinned);
    release(device);
  }

 private:
  /// What the device does later, the releases too, comes after the copy.
  void let_end() const {
    const cuda::detail::DeviceState& state = cuda::detail::bind_for_release(ordinal);
    const cuda::Status status = cuda::driver().functions.cuStreamWaitEvent(state.compute, done.event, 0);
    if (!status) return;
    cuda::detail::note_failure("cuStreamWaitEvent", status);
    cuda::driver().functions.cuEventSynchronize(done.event);
  }
};

}  // namespace detail

/// Move-only. Dropped without a wait(), it lets the copy finish, and frees nothing before.
template <class X>
class Pending {
  static constexpr bool to_host = HostDevice<typename X::device_type>;

 public:
  explicit Pending(std::unique_ptr<detail::CopyInFlight> copy) : copy_(std::move(copy)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) noexcept = default;

  /// True if wait() would not have to wait.
  bool ready() const {
    const detail::CopyInFlight& copy = checked("ready");
    cuda::detail::bind(copy.ordinal);
    const cuda::Status status = cuda::driver().functions.cuEventQuery(copy.done.event);
    if (status && status != cuda::status_not_ready) cuda::refuse("cuEventQuery", status);
    return status == 0;
  }

  /// The tensor. On a device, whatever is done with it comes after the copy; in host memory, the host waits for the copy.
  X wait(Here here = {}) {
    const Site user(here);
    detail::CopyInFlight& copy = checked("wait");
    cuda::detail::refuse_capture("wait", "the copy was started outside of it");
    if constexpr (to_host) {
      cuda::detail::wait_idle(detail::pinned_block(copy.pinned));
      cuda::detail::check_failure(*cuda::detail::bind(copy.ordinal).failure);
    } else {
      const cuda::detail::DeviceState& state = cuda::detail::bind(copy.ordinal);
      TERN_CUDA(cuStreamWaitEvent, state.compute, copy.done.event, 0);
    }
    copy.waited_for = true;
    TensorImpl* const result = to_host ? copy.pinned : copy.device;
    detail::retain(result);
    copy_.reset();
    return X(result);
  }

 private:
  detail::CopyInFlight& checked(const char* op) const {
    if (!copy_) fail(op, {"nothing is pending: wait() was called before"});
    return *copy_;
  }
  std::unique_ptr<detail::CopyInFlight> copy_;
};

namespace detail {

/// What was started on the stream up to here is the copy.
inline void record_copy(CopyInFlight& copy, cuda::detail::PinnedUse& use, cuda::Stream stream) {
  cuda::detail::record_or_wait(copy.done.event, stream);
  cuda::detail::mark_in_flight(use, stream);
}

/// Starts copying dense host memory to a device, on a stream of its own. What is not pinned is staged first.
[[gnu::noinline]] inline std::unique_ptr<CopyInFlight> start_copy_to_device(int ordinal, TensorImpl* host) {
  cuda::detail::refuse_copy_to_device("cuda_async");
  const cuda::detail::DeviceState& state = cuda::detail::bind(ordinal);
  const std::size_t bytes = std::size_t(host->numel) * std::size_t(size_of(host->dtype));
  auto copy = std::make_unique<CopyInFlight>();
  copy->ordinal = ordinal;
  if (host->pinned) {
    retain(host);
    copy->pinned = host;
  } else {
    copy->pinned = new_pinned(ordinal, host->dtype, host->shape_ref());
    std::memcpy(copy->pinned->data, host->data, bytes);
  }
  copy->device = allocate<Cuda>(host->dtype, host->shape_ref(), ordinal);
  const cuda::detail::ScopedEvent allocated;
  TERN_CUDA(cuEventRecord, allocated.event, state.compute);
  TERN_CUDA(cuStreamWaitEvent, state.copy, allocated.event, 0);
  cuda::detail::PinnedUse& use = cuda::detail::use_of(pinned_block(copy->pinned), ordinal);
  cuda::detail::start_to_device(ordinal, state.copy, copy->device->data, copy->pinned->data, bytes);
  record_copy(*copy, use, state.copy);
  return copy;
}

/// Starts copying a dense tensor of a device to pinned host memory, in order with what the device is doing.
[[gnu::noinline]] inline std::unique_ptr<CopyInFlight> start_copy_to_host(TensorImpl* device) {
  cuda::detail::refuse_capture("cpu_async", "its memory is of one use; copies to the host belong behind replay()");
  const cuda::detail::DeviceState& state = cuda::detail::bind(device->ordinal);
  const std::size_t bytes = std::size_t(device->numel) * std::size_t(size_of(device->dtype));
  auto copy = std::make_unique<CopyInFlight>();
  copy->ordinal = device->ordinal;
  retain(device);
  copy->device = device;
  copy->pinned = new_pinned(device->ordinal, device->dtype, device->shape_ref());
  cuda::detail::PinnedUse& use = cuda::detail::use_of(pinned_block(copy->pinned), device->ordinal);
  cuda::detail::start_to_host(device->ordinal, state.compute, copy->pinned->data, device->data, bytes, true);
  record_copy(*copy, use, state.compute);
  return copy;
}

}  // namespace detail
}  // namespace tern
