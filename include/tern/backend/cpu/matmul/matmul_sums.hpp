// Code that the CPU's matrix products share: adjacent sums in a vector register, and storing them.
#pragma once
#include <concepts>
#include <cstring>

#include "../../../core/dtype.hpp"
#include "../../../core/parallel.hpp"
#include "../../../expr/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend { namespace matmul_detail {

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64, registers = 32;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32, registers = 16;
#else
inline constexpr int register_bytes = 16, registers = 16;
#endif

template <class T>
struct SumOf {
  using type = compute_t<T>;
};
template <std::integral T>
struct SumOf<T> {
  using type = std::make_unsigned_t<T>;  // integers wrap around
};
/// The type that products of T are summed in.
template <class T>
using sum_t = typename SumOf<T>::type;

template <class S, int W>
struct LanesOf {
  typedef S type __attribute__((vector_size(W * sizeof(S))));
};
template <class S>
struct LanesOf<S, 1> {
  using type = S;
};
/// W adjacent sums. The compiler's vector type is used because it also exists for parts of a register, which the
/// remaining columns need.
template <class T, int W>
using Lanes = typename LanesOf<sum_t<T>, W>::type;
/// How many sums of products of T fill a register.
template <class T>
inline constexpr int lanes = register_bytes / int(sizeof(sum_t<T>));

/// W elements, `stride` apart.
template <int W, class T>
Lanes<T, W> load(const T* from, Index stride = 1) {
  if constexpr (W == 1) return sum_t<T>(*from);
  else {
    if constexpr (detail::is_half_v<T>)
      if (stride == 1) {
        detail::expr::vector_t<std::uint16_t, W> bits;
        std::memcpy(&bits, from, sizeof bits);
        return detail::expr::detail::widen<W>(bits, T());
      }
    Lanes<T, W> x{};
    if (stride == 1 && sizeof(T) == sizeof(sum_t<T>)) std::memcpy(&x, from, sizeof x);
    else
      for (int i = 0; i < W; ++i) x[i] = sum_t<T>(from[i * stride]);
    return x;
  }
}

/// A tile of c = a b, or with add c += a b: R rows of U registers of sums, which stay in registers until the end. *_row
/// is the distance between rows, a_col that between a's columns. Meanwhile it prefetches from `ahead`, ahead_step bytes
/// for each row of b.
template <class T, int R, int U, bool add>
[[gnu::always_inline]] inline void multiply_tile(Index depth, const T* a, Index a_row, Index a_col, const T* b,
                                                 Index b_row, T* c, Index c_row, const char* ahead = nullptr,
                                                 Index ahead_step = 0) {
  constexpr int W = lanes<T>;
  Lanes<T, W> s[R][U] = {};
  for (; depth > 0; --depth, a += a_col, b += b_row) {
    Lanes<T, W> row[U];
    for (int u = 0; u < U; ++u) row[u] = load<W>(b + u * W);
    if (ahead) __builtin_prefetch(ahead += ahead_step, 0, 2);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < U; ++u) s[r][u] += a[r * a_row] * row[u];
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
    for (int u = 0; u < U; ++u) {
      T* const to = c + r * c_row + u * W;
      if constexpr (add) s[r][u] += load<W>(to);
      std::memcpy(to, &s[r][u], sizeof s[r][u]);
    }
}

/// Up to so many multiplications, one thread is the fastest.
inline constexpr Index serial_work = 65536;

/// Sums of more products are made of sums of so many. One accumulator would lose digits with each product that is small
/// beside it: of 2^22 equal products, up to 4% of their sum.
inline constexpr Index deepest = 4096;

/// What such sums are added in.
template <class T>
using total_t = std::conditional_t<std::integral<T>, sum_t<T>, double>;

/// An operand of a product: a matrix with any strides, and the stride to the batch's next matrix.
template <class T>
struct StridedMatrix {
  const T* data = nullptr;
  Index rows = 0, columns = 0, row = 0, column = 1, batch = 0;

  bool transposed() const { return column != 1; }
  /// True if one stride is 1 and the other at least the size that it steps over, as oneDNN requires.
  bool dense() const { return column == 1 ? row >= columns : row == 1 && column >= rows; }
  Index leading() const { return transposed() ? column : row; }
};

/// The contract's product in the CPU's form. c's columns are adjacent.
template <class T>
struct MatrixProduct {
  Index matrices = 1;
  StridedMatrix<T> a = {}, b = {};
  T* c = nullptr;
  Index c_row = 0, c_batch = 0;
  const T* bias = nullptr;  // or null
  bool accumulate = false;

  Index m() const { return a.rows; }
  Index n() const { return b.columns; }
  Index k() const { return a.columns; }
};

template <class T>
Index work(const MatrixProduct<T>& p) {
  return p.m() * p.n() * p.k();
}

template <class T>
int useful_threads(const MatrixProduct<T>& p) {
  return work(p) <= serial_work ? 1 : get_num_threads();
}

/// c[i, j … j + W) of a batch's matrix = sums, + c if accumulating, + bias.
template <int W, class T>
[[gnu::always_inline]] inline void store(const MatrixProduct<T>& p, Index i, Index j, Lanes<T, W> sums) {
  using S = sum_t<T>;
  T* to = p.c + i * p.c_row + j;
  if (p.accumulate) sums += load<W>(to);
  if (p.bias) sums += load<W>(p.bias + j);
  if constexpr (sizeof(T) == sizeof(S)) std::memcpy(to, &sums, sizeof sums);
  else if constexpr (W == 1) *to = T(sums);
  else if constexpr (detail::is_half_v<T>) {
    const auto bits = detail::expr::detail::narrow<W>(sums, T());
    std::memcpy(static_cast<void*>(to), &bits, sizeof bits);
  } else
    for (int l = 0; l < W; ++l) to[l] = T(sums[l]);
}

/// The same for a run of sums in memory, which may be c itself.
template <class T, class S>
void store(const MatrixProduct<T>& p, Index i, Index j, Index columns, const S* sums) {
  constexpr int W = lanes<T>;
  Index l = 0;
  for (; l + W <= columns; l += W) store<W>(p, i, j + l, load<W>(sums + l));
  for (; l < columns; ++l) store<1>(p, i, j + l, load<1>(sums + l));
}

}  // namespace matmul_detail
}  // namespace detail::backend
}}  // namespace tern
