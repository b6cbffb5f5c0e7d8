// Rows by index. Sums are calculated in the order of the indices, for any number of threads: each thread owns some rows
// of the output.
#pragma once
#include <atomic>

#include "../gather.hpp"
#include "add_scaled.hpp"
#include "loops/copy.hpp"
#include "loops/map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// Splits the rows of a table among threads. Each thread walks through all n indices.
template <class F>
void for_owned_rows(Index rows, Index n, Index columns, const F& f) {
  const Index parts = n * columns < 4 * parallel_grain ? 1 : get_num_threads();
  detail::parallel_for(rows, rows / parts + 1, f);
}

/// The array as outer x size x inner, where dimension dim is in the middle.
struct Middle {
  Index outer = 1, size, inner = 1;
  Middle(const Array& a, int dim) : size(a.ndim ? a.dims[dim] : 1) {
    for (int i = 0; i < dim; ++i) outer *= a.dims[i];
    for (int i = dim + 1; i < a.ndim; ++i) inner *= a.dims[i];
  }
};

/// How many of n indices are outside [0, size). Counting without a branch lets the compiler use vector instructions.
TERN_API Index count_outside(const Index* p, Index n, Index size);

/// A line of indices along the last dimension of the index array.
struct IndexLine {
  Index start, along, by_number;  // index j stands for position start + j along + numbers[j] by_number
  const Index* numbers;
  Index place, count;  // the line's beginning in the index array
};

/// Calls f(position, place) for each index of a line. The line is copied to locals, which stay in registers; for all
/// the compiler knows, f could write to it.
template <class F>
[[gnu::always_inline]] inline void for_line(const IndexLine& line, F f) {
  const auto [start, along, by_number, numbers, place, count] = line;
  if (along == 0 && by_number == 1)
    for (Index j = 0; j < count; ++j) f(start + numbers[j], place + j);
  else
    for (Index j = 0; j < count; ++j) f(start + j * along + numbers[j] * by_number, place + j);
}

/// Calls f(position in a, position in index) for each element of index. Sizes of index other than dim's are at most
/// a's. The position in a is the one with the index read along dim. Elements that differ in the first `apart`
/// dimensions are shared among the threads; the others are called in order. A line is checked while it is brought into
/// the cache. If it takes most of a row of a, that row is brought into the cache too, because reading it out of order
/// would be slow. False if an index was out of range; then not all elements were called.
template <class F>
bool for_indexed(const Array& a, int dim, const Array& index, int apart, const F& f) {
  if (index.numel == 0) return true;
  const int last = index.ndim ? index.ndim - 1 : 0, bytes = detail::size_of(a.dtype);
  Index strides[detail::max_dims] = {1}, stride = 1, parts = 1;
  for (int i = a.ndim; i-- > 0; stride *= a.dims[i]) strides[i] = stride;
  for (int i = 0; i < apart && i < last; ++i) parts *= index.dims[i];
  const Index each = index.numel / parts, length = index.ndim ? index.dims[last] : 1, size = a.ndim ? a.dims[dim] : 1;
  const Index ahead = dim == last && size <= 2 * length && size * bytes <= 16384 ? size * bytes : 0;
  const Index* const numbers = index.as<Index>();
  std::atomic<bool> inside = true;
  detail::parallel_for(parts, parallel_grain / each + 1, [&](Index first, Index end) {
    Index checked = first * each;  // takes several short lines at a time
    for (Index k = checked; k < end * each; k += length) {
      Index start = 0, rest = k / length;
      for (int i = last; i-- > 0; rest /= index.dims[i])
        if (i != dim) start += rest % index.dims[i] * strides[i];
      for (Index i = 0; i < ahead; i += 64) __builtin_prefetch(a.data + start * bytes + i);
      if (k == checked) {
        checked = std::min(end * each, k + length * (1024 / length + 1));
        if (count_outside(numbers + k, checked - k, size)) return void(inside = false);
      }
      for_line({start, dim == last ? 0 : 1, strides[dim], numbers + k, k, length}, f);
    }
  });
  return inside;
}

template <ScatterMode how, class C>
C combined(C a, C b) {
  if constexpr (how == ScatterMode::sum) return C(a + b);
  if constexpr (how == ScatterMode::product) return C(a * b);
  if constexpr (how == ScatterMode::maximum) return a > b || a != a ? a : b;
  if constexpr (how == ScatterMode::minimum) return a < b || a != a ? a : b;
}

}  // namespace cpu_kernels

TERN_API void kernel(On<Cpu>, Types<>, const CheckRange& op);
inline void kernel(On<Cpu>, Types<>, const RefuseIf& op) {
  if (*op.found.as<bool>()) detail::refuse_element(op.op, op.what, 0, 0);
}

TERN_API void kernel(On<Cpu>, Types<>, const IndexSelect& op);

template <class T>
void kernel(On<Cpu>, Types<T>, const IndexAdd& op) {
  const Array &out = op.out, &index = op.index, &x = op.x;
  const Index rows = out.dims[0], columns = rows ? out.numel / rows : 0;
  const Index* const numbers = index.as<Index>();
  cpu_kernels::for_owned_rows(rows, index.numel, columns, [&](Index first, Index last) {
    for (Index i = 0; i < index.numel; ++i) {
      const Index row = numbers[i];
      if (row >= first && row < last)
        cpu_kernels::add_scaled(out.as<T>() + row * columns, x.as<T>() + i * columns, columns, 1);
    }
  });
}

TERN_API void kernel(On<Cpu>, Types<>, const Gather& op);

template <class T, ScatterMode how>
void kernel(On<Cpu>, Types<T>, const Scatter<how>& op) {
  using C = compute_t<T>;
  // Elements that differ before dim are combined with different elements. x may be larger than index; its position is
  // counted separately.
  const auto combine = [to_all = op.out.template as<T>(), from_all = op.x.template as<T>()](Index to, Index from) {
    to_all[to] = T(cpu_kernels::combined<how>(C(to_all[to]), C(from_all[from])));
  };
  if (!cpu_kernels::for_indexed(op.out, op.dim, op.index, op.dim, combine))
    run<Cpu>(CheckRange{op.op, op.index, op.out.ndim ? op.out.dims[op.dim] : 1});
}

template <class T>
void kernel(On<Cpu>, Types<T>, const EmbeddingBag& op) {
  using C = compute_t<T>;
  const Bags bags = op.bags;
  const Array &out = op.out, &table = op.table, &index = op.index;
  const Index columns = table.dims[1], count_of_bags = out.dims[0];
  const Index* const numbers = index.as<Index>();
  const Index* const start = op.starts.as<Index>();
  const T* const weights = op.weights ? op.weights->as<T>() : nullptr;
  Index* const chosen = op.chosen ? op.chosen->as<Index>() : nullptr;
  const Index grain = 4 * cpu_kernels::parallel_grain * count_of_bags / (index.numel * columns + 1) + 1;
  detail::parallel_for(count_of_bags, grain, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      T* const y = out.as<T>() + i * columns;
      C sum[256];
      for (Index c0 = 0; c0 < columns; c0 += 256) {
        const Index width = columns - c0 < 256 ? columns - c0 : 256;
        Index count = 0;
        for (Index c = 0; c < width; ++c) sum[c] = 0;
        for (Index k = start[i]; k < start[i + 1]; ++k) {
          const Index row = numbers[k];
          if (row == bags.padding_idx) continue;
          const T* const x = table.as<T>() + row * columns + c0;
          if (bags.mode == BagMode::max) {
            for (Index c = 0; c < width; ++c) {
              if (count && !(C(x[c]) > sum[c])) continue;
              sum[c] = C(x[c]);
              chosen[i * columns + c0 + c] = row;
            }
          } else {
            const C factor = weights ? C(weights[k]) : C(1);
            cpu_kernels::add_scaled(sum, x, width, factor);
          }
          ++count;
        }
        const C divisor = bags.mode == BagMode::mean && count ? C(count) : C(1);
        for (Index c = 0; c < width; ++c) y[c0 + c] = T(sum[c] / divisor);
      }
    }
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const EmbeddingBagGradient& op) {
  using C = compute_t<T>;
  const Bags bags = op.bags;
  const Array &out = op.out, &g = op.g;
  const Index rows = out.dims[0], columns = out.dims[1], count_of_bags = g.dims[0];
  const Index* const numbers = op.index.as<Index>();
  const Index* const start = op.starts.as<Index>();
  const T* const weights = op.weights ? op.weights->as<T>() : nullptr;
  cpu_kernels::for_owned_rows(rows, op.index.numel, columns, [&](Index first, Index last) {
    for (Index i = 0; i < count_of_bags; ++i) {
      Index count = 0;
      for (Index k = start[i]; k < start[i + 1]; ++k) count += numbers[k] != bags.padding_idx;
      const C share = bags.mode == BagMode::mean && count ? C(1) / C(count) : C(1);
      for (Index k = start[i]; k < start[i + 1]; ++k) {
        const Index row = numbers[k];
        if (row < first || row >= last || row == bags.padding_idx) continue;
        cpu_kernels::add_scaled(out.as<T>() + row * columns, g.as<T>() + i * columns, columns,
                                weights ? share * C(weights[k]) : share);
      }
    }
  });
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "gather.ipp"
#endif
