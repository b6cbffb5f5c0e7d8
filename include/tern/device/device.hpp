// The devices a tensor can live on, as types.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cstring>

#include "../core/array.hpp"
#include "cuda/context.hpp"
#include "memory.hpp"

namespace tern::inline TERN_BUILD {

/// The host's processor and memory.
struct Cpu {};

/// What the tensor layer must know of a device: its name, and where its tensors' bytes come from.
template <class D>
struct DeviceTraits;

template <>
struct DeviceTraits<Cpu> {
  static constexpr const char* name = "cpu";
  static constexpr bool host_accessible = true;
};

template <>
struct DeviceTraits<Cuda> {
  static constexpr const char* name = "cuda";
  static constexpr bool host_accessible = false;
};

template <class D>
concept Device = requires { DeviceTraits<D>::name; };

namespace detail {
/// The device of a kind with that number.
template <class D>
D device_at(int ordinal) {
  if constexpr (requires(D d) { d.ordinal; }) return D{ordinal};
  else return D{};
}
template <class D>
int ordinal_of(const D& device) {
  if constexpr (requires { device.ordinal; }) return device.ordinal;
  else return 0;
}
/// The device that this thread makes new tensors on.
template <class D>
D current_device() {
  return device_at<D>(std::is_same_v<D, Cuda> ? cuda::current_device() : 0);
}
}  // namespace detail

/// Elements can be read and written by host code.
template <class D>
concept HostDevice = Device<D> && DeviceTraits<D>::host_accessible;

namespace cpu {
/// Bytes of host memory held by tensors.
inline MemoryStats memory_stats() { return memory::stats(); }
/// Gives cached blocks that no tensor uses back to the system.
inline void empty_cache() { memory::release_cached(); }
}  // namespace cpu

}  // namespace tern
