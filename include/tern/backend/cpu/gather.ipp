// The functions of gather.hpp that are not templates.
#pragma once
#include "gather.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_NOINLINE Index count_outside(const Index* p, Index n, Index size) {
  Index count = 0;
#ifdef _OPENMP
#pragma omp simd reduction(+ : count)
#endif
  for (Index i = 0; i < n; ++i) count += std::uint64_t(p[i]) >= std::uint64_t(size);
  return count;
}

}}}  // namespace tern::detail::backend::cpu_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const CheckRange& op) {
  const Index* const p = op.index.as<Index>();
  if (cpu_kernels::count_outside(p, op.index.numel, op.size) == 0) return;
  for (Index i = 0;; ++i)
    if (p[i] < 0 || p[i] >= op.size) detail::refuse_element(op.op, detail::BadElement::index, p[i], op.size);
}

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const IndexSelect& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
  const Index bytes = x.numel / (x.dims[0] ? x.dims[0] : 1) * detail::size_of(x.dtype);
  const Index* const numbers = index.as<Index>();
  // The processor predicts rows that follow each other, but not these. So the first cache lines of a row are prefetched
  // while others are copied.
  constexpr Index ahead = 8, most = 1024;
  const bool streamed = cpu_kernels::can_stream_to(out) && bytes % detail::expr::packet_bytes == 0;
  detail::parallel_for(index.numel, 2 * cpu_kernels::parallel_grain / (bytes + 1) + 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      if (i + ahead < last)
        for (Index at = 0; at < std::min(bytes, most); at += 64)
          __builtin_prefetch(x.data + numbers[i + ahead] * bytes + at);
      char* const to = out.data + i * bytes;
      const char* const from = x.data + numbers[i] * bytes;
      if (streamed) cpu_kernels::stream_run(to, from, bytes);
      else std::memcpy(to, from, std::size_t(bytes));
    }
    if (streamed) cpu_kernels::end_stream();
  });
}

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const Gather& op) {
  const Array& x = op.x;
  const int bytes = detail::size_of(x.dtype);
  const auto copy_of = [&](auto size) {
    return cpu_kernels::for_indexed(x, op.dim, op.index, op.index.ndim,
                                    [to = op.out.data, from = x.data, size](Index number, Index place) {
                                      std::memcpy(to + place * size, from + number * size, std::size_t(size));
                                    });
  };
  if (!(bytes == 4   ? copy_of(std::integral_constant<int, 4>())
        : bytes == 8 ? copy_of(std::integral_constant<int, 8>())
                     : copy_of(bytes)))
    run<Cpu>(CheckRange{"gather", op.index, x.ndim ? x.dims[op.dim] : 1});
}

}}}  // namespace tern::detail::backend
