// The functions of update.hpp that are not templates.
#pragma once
#include "update.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_NOINLINE void run_update_range(const UpdateKernel& kernel, char* const* arrays, Index first, Index last) {
  char* p[max_inputs];
  for (int k = 0; k < kernel.arrays; ++k) p[k] = arrays[k] + first * kernel.bytes[k];
  const Index whole = (last - first) - (last - first) % kernel.packet, rest = last - first - whole;
  if (whole) kernel.run(kernel.f, p, whole);
  if (!rest) return;
  alignas(64) char buffer[max_inputs][max_packet * 8] = {};
  char* q[max_inputs];
  for (int k = 0; k < kernel.arrays; ++k) {
    q[k] = buffer[k];
    std::memcpy(buffer[k], p[k] + whole * kernel.bytes[k], std::size_t(rest * kernel.bytes[k]));
  }
  kernel.run(kernel.f, q, kernel.packet);
  for (int k = 0; k < kernel.arrays; ++k)
    std::memcpy(p[k] + whole * kernel.bytes[k], buffer[k], std::size_t(rest * kernel.bytes[k]));
}

TERN_NOINLINE void run_update(const UpdateKernel& kernel, char* const* arrays, Index n) {
  detail::parallel_for(n, 2 * parallel_grain,
                       [&](Index first, Index last) { run_update_range(kernel, arrays, first, last); });
}

}}}  // namespace tern::detail::backend::cpu_kernels
