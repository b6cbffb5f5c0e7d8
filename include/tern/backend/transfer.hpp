// The contract: copies between devices. For each pair of devices that differ there is
//
//   transfer(to, from, out, in)     out = in: dense arrays of one shape and element type; what the host reads is there when it returns
#pragma once
#include "../device/cuda/copy.hpp"
#include "copy.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {

template <HostDevice To, HostDevice From>
void transfer(To, From, const Array& out, const Array& in) {
  copy(Cpu{}, out, in);
}
template <HostDevice From>
void transfer(Cuda, From, const Array& out, const Array& in) {
  tern::cuda::copy_to_device(out.ordinal, out.data, in.data, std::size_t(in.numel) * std::size_t(size_of(in.dtype)));
}
template <HostDevice To>
void transfer(To, Cuda, const Array& out, const Array& in) {
  tern::cuda::copy_to_host(in.ordinal, out.data, in.data, std::size_t(in.numel) * std::size_t(size_of(in.dtype)));
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
