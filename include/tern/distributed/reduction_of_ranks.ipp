// The functions of reduction_of_ranks.hpp that are not templates.
#pragma once
#include <algorithm>

#include "reduction_of_ranks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// Integers are summed as unsigned ones, which wrap.
template <class T>
struct SumIn {
  using type = compute_t<T>;
};
template <>
struct SumIn<std::int64_t> {
  using type = std::uint64_t;
};
template <>
struct SumIn<std::int32_t> {
  using type = std::uint32_t;
};

template <class Out, class In, class C, class F>
[[gnu::always_inline]] inline void reduce_tiles(Out* out, const void* const* in, int inputs, Index n, int divisor,
                                                F f) {
  constexpr Index tile = 1024;  // few enough for a cache, and a number that loops are unrolled for
  alignas(64) C sums[tile];
  const auto reduce = [&](Index begin, Index m) __attribute__((always_inline)) {
    const auto input = [&](int k) { return static_cast<const In*>(in[k]) + begin; };
    const In *const first = input(0), *const second = inputs > 1 ? input(1) : nullptr;
    if (second)
      for (Index i = 0; i < m; ++i) sums[i] = f(static_cast<C>(first[i]), static_cast<C>(second[i]));
    else
      for (Index i = 0; i < m; ++i) sums[i] = static_cast<C>(first[i]);
    for (int k = 2; k < inputs; ++k) {
      const In* const x = input(k);
      for (Index i = 0; i < m; ++i) sums[i] = f(sums[i], static_cast<C>(x[i]));
    }
    if constexpr (std::is_floating_point_v<C>) {
      const C share = 1 / static_cast<C>(divisor);
      if (divisor == 1) {
      } else if ((divisor & (divisor - 1)) == 0) {  // the product is the quotient
        for (Index i = 0; i < m; ++i) sums[i] *= share;
      } else {
        for (Index i = 0; i < m; ++i) sums[i] /= static_cast<C>(divisor);
      }
    }
    for (Index i = 0; i < m; ++i) out[begin + i] = static_cast<Out>(sums[i]);
  };
  Index begin = 0;
  for (; begin + tile <= n; begin += tile) reduce(begin, tile);
  reduce(begin, n - begin);
}

template <class Out, class In>
[[gnu::noinline]] void reduce_typed(ReduceOp op, void* out, const void* const* in, int inputs, Index n, int divisor) {
  using C = compute_t<In>;
  using Sum = typename SumIn<In>::type;
  Out* const y = static_cast<Out*>(out);
  switch (op) {
    case sum:
    case avg:
      return reduce_tiles<Out, In, Sum>(y, in, inputs, n, divisor,
                                        [](Sum a, Sum b) { return static_cast<Sum>(a + b); });
    case product:
      return reduce_tiles<Out, In, Sum>(y, in, inputs, n, 1, [](Sum a, Sum b) { return static_cast<Sum>(a * b); });
    // As in the ops, a NaN of any rank is the result.
    case min: return reduce_tiles<Out, In, C>(y, in, inputs, n, 1, [](C a, C b) { return b < a || b != b ? b : a; });
    case max: return reduce_tiles<Out, In, C>(y, in, inputs, n, 1, [](C a, C b) { return b > a || b != b ? b : a; });
  }
}

/// From 16 bits to 16 bits, from them to float, and back.
template <class T>
void reduce_16_bits(ReduceOp op, DType out_type, void* out, DType in_type, const void* const* in, int inputs, Index n,
                    int divisor) {
  if (in_type == DType::float32) reduce_typed<T, float>(op, out, in, inputs, n, divisor);
  else if (out_type == DType::float32) reduce_typed<float, T>(op, out, in, inputs, n, divisor);
  else reduce_typed<T, T>(op, out, in, inputs, n, divisor);
}

TERN_NOINLINE void reduce_elements(ReduceOp op, DType out_type, void* out, DType in_type, const void* const* in,
                                   int inputs, Index n, int divisor) {
  switch (tern::detail::size_of(out_type) == 2 ? out_type : in_type) {
    case DType::float32: return reduce_typed<float, float>(op, out, in, inputs, n, divisor);
    case DType::float64: return reduce_typed<double, double>(op, out, in, inputs, n, divisor);
    case DType::bfloat16: return reduce_16_bits<bfloat16>(op, out_type, out, in_type, in, inputs, n, divisor);
    case DType::float16: return reduce_16_bits<half>(op, out_type, out, in_type, in, inputs, n, divisor);
    case DType::int64: return reduce_typed<std::int64_t, std::int64_t>(op, out, in, inputs, n, 1);
    case DType::int32: return reduce_typed<std::int32_t, std::int32_t>(op, out, in, inputs, n, 1);
    case DType::uint8: return reduce_typed<std::uint8_t, std::uint8_t>(op, out, in, inputs, n, 1);
    case DType::bool_:
      return reduce_typed<std::uint8_t, std::uint8_t>(op == sum       ? max
                                                      : op == product ? min
                                                                      : op,
                                                      out, in, inputs, n, 1);
  }
}

}}}  // namespace tern::distributed::detail
