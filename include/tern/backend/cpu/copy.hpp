// Copies between any strides: bits of 1, 2, 4 or 8 bytes, whatever the type.
#pragma once
#include "map.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace cpu {

template <int bytes>
void copy_loop(const void*, char* out, const char* const* in, const int* step, Index n) {
  if (step[0]) std::memcpy(out, in[0], std::size_t(n) * bytes);
  else for (Index i = 0; i < n; i += max_packet) std::memcpy(out + i * bytes, in[0], max_packet * bytes);
}

}  // namespace cpu

/// out[i] = in[i], in broadcast to out's shape. Both have the same element type.
[[gnu::noinline]] inline void copy(Cpu, const Array& out, const Array& in) {
  const int bytes = size_of(out.dtype);
  const cpu::PacketLoop loop = bytes == 1   ? &cpu::copy_loop<1>
                               : bytes == 2 ? &cpu::copy_loop<2>
                               : bytes == 4 ? &cpu::copy_loop<4>
                                            : &cpu::copy_loop<8>;
  const cpu::MapKernel kernel{loop, nullptr, cpu::max_packet, 1, bytes, {bytes}};
  const Array* const inputs[] = {&in};
  cpu::run_map(kernel, out, inputs);
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
