// Copies between devices.
#pragma once
#include "../backend/copy.hpp"
#include "../backend/run.hpp"
#include "../device/device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// out = in, for dense arrays of one shape, memory order and element type. If `To` is the host, the elements are there
/// on return.
template <Device To, Device From>
void transfer(const Array& out, const Array& in) {
  [[maybe_unused]] const std::size_t bytes = std::size_t(in.numel) * std::size_t(size_of(in.dtype));
  if constexpr (HostDevice<To> && HostDevice<From>) {
    backend::run<Cpu>(backend::Copy{out, in});
  } else if constexpr (HostDevice<From>) {
    DeviceTraits<To>::copy_to_device(out.ordinal, out.data, in.data, bytes);
  } else if constexpr (HostDevice<To>) {
    DeviceTraits<From>::copy_to_host(in.ordinal, out.data, in.data, bytes);
  } else {
    static_assert(std::is_same_v<To, From>, "two kinds of devices exchange tensors through host memory");
    DeviceTraits<To>::copy_to_peer(out.ordinal, out.data, in.ordinal, in.data, bytes);
  }
}

}}}  // namespace tern::detail
