// The devices a tensor can live on, as types, and what the library must know of one besides its kernels.
#pragma once
#include <utility>

#include "../core/array.hpp"
#include "memory.hpp"

namespace tern::inline TERN_BUILD {

/// What a device D is to the layers above. Each has
///
///   name                 as users call it: "cpu"
///   host_accessible      true: its tensors are host memory, and nothing else is asked of it
///
/// One whose memory the host cannot read is numbered, D{1} is the second of its kind, and has
///
///   open(ordinal)                                            Error if there is no device of that number
///   current_ordinal()                                        int&: the device that this thread makes new tensors on
///   allocate(ordinal, bytes)                                 DeviceMemory, for work that is started from here on
///   copy_from_host(ordinal, to, from, bytes)                 when it returns, the host may write to `from`
///   copy_to_host(ordinal, to, from, bytes)                   when it returns, the host may read `to`
///   copy_to_peer(to_ordinal, to, from_ordinal, from, bytes)  in order with the work of both
///
/// One that copies while the host goes on has a type Async with
///
///   acquire_pinned(ordinal, bytes)                           PinnedMemory*
///   copy_from_pinned(ordinal, to, pinned, from, bytes)       as copy_from_host, but `from` lies in the block and is read later
///   start_from_host(ordinal, to, pinned, from, bytes)        unique_ptr<AsyncCopy>, beside the device's other work
///   start_to_host(ordinal, pinned, to, from, bytes)          unique_ptr<AsyncCopy>, in order with the device's other work
///
/// One whose work can be captured in a graph tells of it in capture.hpp.
template <class D>
struct DeviceTraits;

/// The host's processor and memory.
struct Cpu {};

template <>
struct DeviceTraits<Cpu> {
  static constexpr const char* name = "cpu";
  static constexpr bool host_accessible = true;
};

template <class D>
concept Device = requires { DeviceTraits<D>::name; };

/// Elements can be read and written by host code.
template <class D>
concept HostDevice = Device<D> && DeviceTraits<D>::host_accessible;

/// Copies between the host and the device can go on while the host does.
template <class D>
concept AsyncDevice = Device<D> && requires { typename DeviceTraits<D>::Async; };

namespace detail {
/// The device of a kind with that number.
template <Device D>
D device_at(int ordinal) {
  if constexpr (HostDevice<D>) return D{};
  else return D{ordinal};
}
template <Device D>
int ordinal_of(const D& device) {
  if constexpr (HostDevice<D>) return 0;
  else return device.ordinal;
}
/// The device that this thread makes new tensors on.
template <Device D>
D current_device() {
  if constexpr (HostDevice<D>) return D{};
  else return D{DeviceTraits<D>::current_ordinal()};
}
}  // namespace detail

/// While alive, this thread makes new tensors on another device of its kind. Error if there is no such device.
template <Device D>
class DeviceGuard {
 public:
  explicit DeviceGuard([[maybe_unused]] D device) {
    if constexpr (!HostDevice<D>) {
      DeviceTraits<D>::open(device.ordinal);
      outer_ = std::exchange(DeviceTraits<D>::current_ordinal(), device.ordinal);
    }
  }
  ~DeviceGuard() {
    if constexpr (!HostDevice<D>) DeviceTraits<D>::current_ordinal() = outer_;
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int outer_ = 0;
};

namespace cpu {
/// Bytes of host memory held by tensors.
inline MemoryStats memory_stats() { return memory::stats(); }
/// Gives cached blocks that no tensor uses back to the system.
inline void empty_cache() { memory::release_cached(); }
}  // namespace cpu

}  // namespace tern
