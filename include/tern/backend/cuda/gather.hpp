// Rows by number. A number out of range reads row 0 and adds to none.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../gather.hpp"
#include "rows.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Words: numbers, where, size, the report.
inline constexpr Kernel check_range_kernel{"check_range", R"CUDA(
extern "C" __global__ void check_range(const Words<6> p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Index k = p.pointer<Index>(1)[i];
    if (k < 0 || k >= p.index(2)) report(p, 3, k, p.index(2));
  }
}
)CUDA"};

// A row is `width` pieces of T0. Words: numbers, width, rows, out, x, numbers' address.
inline constexpr Kernel take_rows_kernel{"take_rows", R"CUDA(
extern "C" __global__ void take_rows(const Words<6> p) {
  const Index width = p.index(1);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0) * width; i += all_threads()) {
    const Index k = p.pointer<Index>(5)[i / width], row = k < 0 || k >= p.index(2) ? 0 : k;
    p.pointer<T0>(3)[i] = p.pointer<T0>(4)[row * width + i % width];
  }
}
)CUDA"};

// Where each number points to. Words: numbers, how many dimensions, their address, dim, dim's size; for each dimension
// the numbers' size and the other array's stride.
inline constexpr const char* indexed_text = R"CUDA(
template <class P> inline __device__ Index indexed(const P& p, Index i, Index number) {
  Index position = 0, rest = i;
  #pragma unroll 1
  for (int d = int(p.word[1]); d-- > 0; rest /= p.index(5 + 2 * d))
    position += (d == p.index(3) ? number : rest % p.index(5 + 2 * d)) * p.index(6 + 2 * d);
  return position;
}
)CUDA";

// Words 21 on: out, x.
inline constexpr Kernel gather_kernel{"gather", R"CUDA(
extern "C" __global__ void gather(const Words<23> p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Index k = p.pointer<Index>(2)[i];
    p.pointer<T0>(21)[i] = p.pointer<T0>(22)[indexed(p, i, k < 0 || k >= p.index(4) ? 0 : k)];
  }
}
)CUDA", {indexed_text}};

// Word 21: the positions.
inline constexpr Kernel scatter_positions_kernel{"scatter_positions", R"CUDA(
extern "C" __global__ void scatter_positions(const Words<22> p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Index k = p.pointer<Index>(2)[i];
    p.pointer<Index>(21)[i] = k < 0 || k >= p.index(4) ? -1 : indexed(p, i, k);
  }
}
)CUDA", {indexed_text}};

// A thread for each column of each bag. Words: bags, columns, rows, out, table, numbers, starts, scale or null, chosen
// rows, padding, mode.
inline constexpr Kernel bag_kernel{"bag", R"CUDA(
extern "C" __global__ void bag(const Words<11> p) {
  enum { mean = 1, max = 2 };
  const Index columns = p.index(1);
  const Index* const start = p.pointer<Index>(6);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0) * columns; i += all_threads()) {
    const Index bag = i / columns;
    Index count = 0, chosen = -1;
    C0 sum = 0;
    #pragma unroll 1
    for (Index k = start[bag]; k < start[bag + 1]; ++k) {
      const Index row = p.pointer<Index>(5)[k];
      if (row == p.index(9) || row < 0 || row >= p.index(2)) continue;
      const C0 x = C0(wide(p.pointer<T0>(4)[row * columns + i % columns]));
      if (p.word[10] != max) {
        sum += p.word[7] ? C0(wide(p.pointer<T0>(7)[k])) * x : x;
      } else if (!count || x > sum) {
        sum = x;
        chosen = row;
      }
      ++count;
    }
    if (chosen >= 0) p.pointer<Index>(8)[i] = chosen;
    p.pointer<T0>(3)[i] = Element<T0>::of(p.word[10] == mean && count ? sum / C0(count) : sum);
  }
}
)CUDA"};

// The bag of each number, and by what its row of the gradient is multiplied. Words: bags, numbers, starts, scale or
// null, padding, whether a mean, bags, factors.
inline constexpr Kernel bag_factors_kernel{"bag_factors", R"CUDA(
extern "C" __global__ void bag_factors(const Words<8> p) {
  const Index* const start = p.pointer<Index>(2);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    Index count = 0;
    #pragma unroll 1
    for (Index k = start[i]; k < start[i + 1]; ++k) count += p.pointer<Index>(1)[k] != p.index(4);
    const C0 share = p.word[5] && count ? C0(1) / C0(count) : C0(1);
    #pragma unroll 1
    for (Index k = start[i]; k < start[i + 1]; ++k) {
      p.pointer<Index>(6)[k] = i;
      p.pointer<C0>(7)[k] = p.word[3] ? share * C0(wide(p.pointer<T0>(3)[k])) : share;
    }
  }
}
)CUDA"};

/// The first 21 words of gather and scatter_positions, for numbers along dim of the array.
[[gnu::noinline]] inline Words indexed_words(const Array& a, int dim, const Array& index) {
  Words words;
  const int dims = a.ndim;
  words.add(index.numel);
  words.add(Index(dims));
  words.add(index.data);
  words.add(Index(dim));
  words.add(dims ? a.dims[dim] : 1);
  Array dense = a;
  set_contiguous_strides(dense);
  for (int d = 0; d < max_dims; ++d) {
    words.add(d < index.ndim ? index.dims[d] : 1);
    words.add(d < dims ? dense.strides[d] : 0);
  }
  return words;
}

[[gnu::noinline]] inline void run_scatter_add(const Array& out, int dim, const Array& index, const Array& x) {
  const Array* const arrays[] = {&index, &x};
  const int ordinal = common_ordinal(out, arrays, 2);
  if (index.numel == 0 || out.numel == 0) return;
  const cuda::detail::Scratch positions(ordinal, std::size_t(8 * index.numel));
  Words words = indexed_words(out, dim, index);
  words.add(positions.data());
  launch_typed(ordinal, scatter_positions_kernel, {}, grid_for(index.numel), words);
  // Rows of one element.
  Array to = out, from = x;
  to.ndim = from.ndim = 1;
  to.dims[0] = out.numel, from.dims[0] = index.numel;
  to.strides[0] = from.strides[0] = 1;
  add_sorted_rows(ordinal, {to, 1}, {from, 1}, SortedKeys(ordinal, index.numel, positions.data(), nullptr, out.numel),
                  nullptr, nullptr);
}

[[gnu::noinline]] inline void run_bag(const Bags& b, const Array& out, const Array& table, const Array& index,
                                      const Array& starts, const void* scale, Index* chosen) {
  const Array* const arrays[] = {&table, &index, &starts};
  const int ordinal = common_ordinal(out, arrays, 3);
  if (out.numel == 0) return;
  Words words;
  for (const Index word : {out.dims[0], table.dims[1], table.dims[0]}) words.add(word);
  for (const Array* array : {&out, &table, &index, &starts}) words.add(array->data);
  words.add(scale);
  words.add(chosen);
  words.add(b.padding_idx);
  words.add(Index(b.mode));
  launch_typed(ordinal, bag_kernel, {table.dtype}, grid_for(out.numel), words);
}

[[gnu::noinline]] inline void run_bag_gradient(const Bags& b, const Array& out, const Array& g, const Array& index,
                                               const Array& starts, const void* scale) {
  const Array* const arrays[] = {&g, &index, &starts};
  const int ordinal = common_ordinal(out, arrays, 3);
  const Index n = index.numel;
  if (n == 0 || out.numel == 0) return;
  const cuda::detail::Scratch bags(ordinal, std::size_t(16 * n));
  char* const factors = bags.data() + 8 * n;
  cuda::detail::start_filling(ordinal, bags.data(), 0xff, std::size_t(8 * n));  // a number that no bag has: -1
  Words words;
  words.add(g.dims[0]);
  words.add(index.data);
  words.add(starts.data);
  words.add(scale);
  words.add(b.padding_idx);
  words.add(Index(b.mode == BagMode::mean));
  words.add(bags.data());
  words.add(factors);
  if (g.dims[0]) launch_typed(ordinal, bag_factors_kernel, {g.dtype}, grid_for(g.dims[0]), words);
  add_sorted_rows(ordinal, {out, 1}, {g, 1},
                  SortedKeys(ordinal, n, index.data, bags.data(), out.dims[0], b.padding_idx), bags.data(), factors);
}

}  // namespace cuda_kernels

/// A number outside [0, size) is an Error where the host next waits for the device.
[[gnu::noinline]] inline void check_range(Cuda, const char* op, const Array& index, Index size) {
  if (index.numel == 0) return;
  if (size == 0) refuse_element(op, BadElement::index, 0, 0);
  cuda_kernels::Words words;
  words.add(index.numel);
  words.add(index.data);
  words.add(size);
  words.add_report(index.ordinal, op, BadElement::index);
  cuda_kernels::launch_typed(index.ordinal, cuda_kernels::check_range_kernel, {}, cuda_kernels::grid_for(index.numel), words);
}

[[gnu::noinline]] inline void take_rows(Cuda, const Array& out, const Array& x, const Array& index) {
  const Array* const arrays[] = {&x, &index};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays, 2);
  if (out.numel == 0) return;
  const Index bytes = x.numel / x.dims[0] * size_of(x.dtype);
  // The widest pieces that rows divide into.
  const std::uintptr_t places =
      reinterpret_cast<std::uintptr_t>(out.data) | reinterpret_cast<std::uintptr_t>(x.data) | std::uintptr_t(bytes);
  const int piece = places % 8 == 0 ? 8 : places % 4 == 0 ? 4 : places % 2 == 0 ? 2 : 1;
  cuda_kernels::Words words;
  for (const Index word : {index.numel, bytes / piece, x.dims[0]}) words.add(word);
  for (const Array* array : {&out, &x, &index}) words.add(array->data);
  cuda_kernels::launch_typed(ordinal, cuda_kernels::take_rows_kernel, {cuda_kernels::carrier(piece)},
                     cuda_kernels::grid_for(index.numel * (bytes / piece)), words);
}

template <class T> void add_rows(Cuda, const Array& out, const Array& index, const Array& x) {
  cuda_kernels::run_add_rows({out, 1}, {x, 1}, {.count = index.numel, .to = &index});
}

[[gnu::noinline]] inline void gather(Cuda, const char* op, const Array& out, const Array& x, int dim,
                                     const Array& index) {
  check_range(Cuda{}, op, index, x.ndim ? x.dims[dim] : 1);
  const Array* const arrays[] = {&x, &index};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays, 2);
  if (index.numel == 0) return;
  cuda_kernels::Words words = cuda_kernels::indexed_words(x, dim, index);
  words.add(out.data);
  words.add(x.data);
  cuda_kernels::launch_typed(ordinal, cuda_kernels::gather_kernel, {cuda_kernels::carrier(size_of(x.dtype))}, cuda_kernels::grid_for(index.numel),
                     words);
}

template <class T>
void scatter_add(Cuda, const char* op, const Array& out, int dim, const Array& index, const Array& x) {
  check_range(Cuda{}, op, index, out.ndim ? out.dims[dim] : 1);
  cuda_kernels::run_scatter_add(out, dim, index, x);
}

template <class T>
void bag(Cuda, const Bags& b, const Array& out, const Array& table, const Array& index, const Array& starts,
         const T* scale, Index* chosen) {
  cuda_kernels::run_bag(b, out, table, index, starts, scale, chosen);
}

template <class T>
void bag_gradient(Cuda, const Bags& b, const Array& out, const Array& g, const Array& index, const Array& starts,
                  const T* scale) {
  cuda_kernels::run_bag_gradient(b, out, g, index, starts, scale);
}

}  // namespace backend
}  // namespace tern
