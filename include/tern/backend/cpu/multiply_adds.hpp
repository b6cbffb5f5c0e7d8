// Multiply-adds that only the processor's arithmetic limits.
#pragma once
#include <utility>

#include "../../device/device.hpp"
#include "../../expr/packet.hpp"
#include "../multiply_adds.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// Runs independent chains of multiply-adds, one for each k. Constant indices keep them in registers at every
/// optimisation level.
#if !defined(__clang__)
// g++ contracts a product and a sum into one instruction only from -O2 on.
#define TERN_AT_PEAK [[gnu::noinline, gnu::optimize("O2")]]
#else
// clang cuts packets of 64 bytes in two for some processors that have AVX-512.
#define TERN_AT_PEAK [[clang::min_vector_width(512)]]
#endif
template <int... k>
TERN_AT_PEAK void multiply_add_chains(Index rounds, std::integer_sequence<int, k...>) {
  using V = detail::expr::Packet<float>::Native;
  V a = V{} + 0.5f, b = V{} + 1.f, sum[] = {V{} + float(k)...};
  // Hides the values from the compiler. Otherwise it would merge equal chains and make constants of sums.
  asm volatile("" : "+m"(a), "+m"(b));
  (..., [](V& s) { asm volatile("" : "+m"(s)); }(sum[k]));
  const V factor = a, term = b;
  for (Index i = 0; i < rounds; ++i) (..., (sum[k] = sum[k] * factor + term));
  (..., [](V& s) { asm volatile("" : : "m"(s)); }(sum[k]));
}
#undef TERN_AT_PEAK

}  // namespace cpu_kernels

inline void kernel(On<Cpu>, Types<>, const MultiplyAdds& op) {
  // Enough chains to hide a latency of four cycles at two instructions a cycle, and few enough for 16 registers.
  constexpr int chains = 12;
  cpu_kernels::multiply_add_chains(op.rounds, std::make_integer_sequence<int, chains>{});
  op.flops = 2 * detail::expr::Packet<float>::size * chains * op.rounds;
}

}}}  // namespace tern::detail::backend
