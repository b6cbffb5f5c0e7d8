// The devices that a tensor can live on, as types, and what the library needs of each besides kernels.
#pragma once
#include <utility>

#include "../core/array.hpp"
#include "memory.hpp"

namespace tern { inline namespace TERN_BUILD {

/// What the layers above need of a device D. Each device has
///
///   name                 as users call it: "cpu"
///   host_accessible      true if its tensors are host memory; then it needs nothing else
///
/// If the host cannot read its memory, devices of the kind are numbered (D{1} is the second one), and it has
///
///   open(ordinal)                                            Error if there is no device of that number
///   current_ordinal()                                        int&: the device on which this thread makes new tensors
///   allocate(ordinal, bytes)                                 DeviceMemory, for work that is started after this call
///   copy_to_device(ordinal, to, from, bytes)                 on return, the host may write to `from`
///   copy_to_host(ordinal, to, from, bytes)                   on return, the host may read `to`
///   copy_to_peer(to_ordinal, to, from_ordinal, from, bytes)  in order with the work of both
///
/// If it can copy while the host goes on, it has a type Async with
///
///   acquire_pinned(ordinal, bytes)                           PinnedMemory*
///   copy_to_device(ordinal, to, pinned, from, bytes)         as above, but `from` lies in the block and is read later
///   start_copy_to_device(ordinal, to, pinned, from, bytes)   unique_ptr<AsyncCopy>, concurrently with the device's
///   other work start_copy_to_host(ordinal, pinned, to, from, bytes)     unique_ptr<AsyncCopy>, in order with the
///   device's other
///                                                            work
///
/// If its products of 16 bits are faster where each row begins at a multiple of some elements, it has
///
///   product_row              that number; long rows of products' results are padded to it
///
/// If its work can be captured in a graph, it implements the interface of capture.hpp and has
///
///   Graph                    with capture(step) and replay(), as cuda::Graph
template <class D>
struct DeviceTraits;

/// A device of NVIDIA's. tern/cuda.hpp defines it; here it has a name, by which x.cuda() asks for it.
struct Cuda;

/// The host's processor and memory.
struct Cpu {
  bool operator==(const Cpu&) const = default;
};

template <>
struct DeviceTraits<Cpu> {
  static constexpr const char* name = "cpu";
  static constexpr bool host_accessible = true;
};

template <class D>
concept Device = requires { DeviceTraits<D>::name; };

/// Host code can read and write its elements.
template <class D>
concept HostDevice = Device<D> && DeviceTraits<D>::host_accessible;

namespace detail {
/// It can copy to and from the host while the host goes on.
template <class D>
concept AsyncDevice = Device<D> && requires { typename DeviceTraits<D>::Async; };

/// D, whose header must be included.
template <class D>
struct Included {
  static_assert(Device<D>, "this needs a GPU's header: #include <tern/cuda.hpp> or <tern/tern.hpp>");
  using type = D;
};
template <class D>
using included = typename Included<D>::type;

/// The device of kind D with that number.
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
/// The device on which this thread makes new tensors.
template <Device D>
D current_device() {
  if constexpr (HostDevice<D>) return D{};
  else return D{DeviceTraits<D>::current_ordinal()};
}
}  // namespace detail

/// While alive, this thread makes new tensors on another device of its kind. Error if that device does not exist.
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

namespace detail::cpu {
/// Bytes of host memory held by tensors.
inline tern::detail::MemoryStats memory_stats() { return memory::stats(); }
/// Returns cached blocks that no tensor uses to the system.
inline void empty_cache() { memory::release_cached(); }
}  // namespace detail::cpu

}}  // namespace tern
