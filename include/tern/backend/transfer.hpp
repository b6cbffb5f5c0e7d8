// The contract: copies between devices. For each pair of devices that differ there is
//
//   transfer(to, from, out, in)     out = in: dense arrays of one shape and element type; what the host reads is there when it returns
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../device/device.hpp"
#include "../device/cuda/copy.hpp"
#include "../device/cuda/pinned.hpp"
#include "copy.hpp"
#include "cuda/copy.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {

template <HostDevice To, HostDevice From>
void transfer(To, From, const Array& out, const Array& in) {
  run<Cpu>(Copy{out, in});
}
template <HostDevice From>
void transfer(Cuda, From, const Array& out, const Array& in) {
  cuda::detail::copy_to_device(out.ordinal, out.data, in.data, cuda_kernels::bytes_of(in));
}
template <HostDevice To>
void transfer(To, Cuda, const Array& out, const Array& in) {
  cuda::detail::copy_to_host(in.ordinal, out.data, in.data, cuda_kernels::bytes_of(in));
}

/// Between two CUDA devices: each waits for what the other has to have done.
[[gnu::noinline]] inline void transfer(Cuda, Cuda, const Array& out, const Array& in) {
  cuda::detail::copy_to_peer(out.ordinal, out.data, in.ordinal, in.data, cuda_kernels::bytes_of(in));
}

}  // namespace backend
}  // namespace tern
