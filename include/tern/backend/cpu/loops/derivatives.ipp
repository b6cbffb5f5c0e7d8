// The functions of derivatives.hpp that are not templates.
#pragma once
#include "derivatives.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_NOINLINE void run_with_derivatives(const DerivativesKernel& kernel, const void* f, const Array& out,
                                        const Array* const* derivatives, const Array* const* in) {
  const Index n = out.numel, packets = (n + kernel.packet - 1) / kernel.packet, bytes = kernel.bytes;
  detail::parallel_for(packets, parallel_grain / kernel.packet, [&](Index first, Index last) {
    const Index begin = first * kernel.packet, end = last * kernel.packet < n ? last * kernel.packet : n;
    const Index rest = (end - begin) % kernel.packet, whole = end - begin - rest;
    char* to[max_inputs + 1] = {out.data + begin * bytes};
    const char* from[max_inputs];
    for (int k = 0; k < kernel.inputs; ++k) {
      to[k + 1] = derivatives[k] ? derivatives[k]->data + begin * bytes : nullptr;
      from[k] = in[k]->data + begin * bytes;
    }
    if (whole) kernel.loop(f, to, from, whole);
    if (!rest) return;
    alignas(64) char operands[max_inputs][max_packet * 8], results[max_inputs + 1][max_packet * 8];
    char* last_to[max_inputs + 1];
    for (int k = 0; k <= kernel.inputs; ++k) last_to[k] = to[k] ? results[k] : nullptr;
    for (int k = 0; k < kernel.inputs; ++k) {
      const char* const tail = from[k] + whole * bytes;
      splat(operands[k], tail,
            kernel.bytes);  // lanes after the end repeat an element, because they must hold a valid value
      std::memcpy(operands[k], tail, std::size_t(rest * bytes));
      from[k] = operands[k];
    }
    kernel.loop(f, last_to, from, kernel.packet);
    for (int k = 0; k <= kernel.inputs; ++k)
      if (to[k]) std::memcpy(to[k] + whole * bytes, results[k], std::size_t(rest * bytes));
  });
}

}}}  // namespace tern::detail::backend::cpu_kernels
