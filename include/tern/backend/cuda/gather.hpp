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

[[gnu::noinline]] inline void run_scatter_add(const ScatterAdd& op) {
  const Array &out = op.out, &index = op.index, &x = op.x;
  const Array* const arrays[] = {&index, &x};
  const int ordinal = common_ordinal(out, arrays, 2);
  if (index.numel == 0 || out.numel == 0) return;
  const cuda::detail::Scratch positions(ordinal, std::size_t(8 * index.numel));
  Words words = indexed_words(out, op.dim, index);
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

[[gnu::noinline]] inline void run_embedding_bag(const EmbeddingBag& op) {
  const Array &out = op.out, &table = op.table;
  const Array* const arrays[] = {&table, &op.index, &op.starts};
  const int ordinal = common_ordinal(out, arrays, 3);
  if (out.numel == 0) return;
  Words words;
  for (const Index word : {out.dims[0], table.dims[1], table.dims[0]}) words.add(word);
  for (const Array* array : {&out, &table, &op.index, &op.starts}) words.add(array->data);
  words.add(data_of(op.weights));
  words.add(data_of(op.chosen));
  words.add(op.bags.padding_idx);
  words.add(Index(op.bags.mode));
  launch_typed(ordinal, bag_kernel, {table.dtype}, grid_for(out.numel), words);
}

[[gnu::noinline]] inline void run_embedding_bag_gradient(const EmbeddingBagGradient& op) {
  const Array &out = op.out, &g = op.g, &index = op.index;
  const Array* const arrays[] = {&g, &index, &op.starts};
  const int ordinal = common_ordinal(out, arrays, 3);
  const Index n = index.numel;
  if (n == 0 || out.numel == 0) return;
  const cuda::detail::Scratch bags(ordinal, std::size_t(16 * n));
  char* const factors = bags.data() + 8 * n;
  cuda::detail::start_filling(ordinal, bags.data(), 0xff, std::size_t(8 * n));  // a number that no bag has: -1
  Words words;
  words.add(g.dims[0]);
  words.add(index.data);
  words.add(op.starts.data);
  words.add(data_of(op.weights));
  words.add(op.bags.padding_idx);
  words.add(Index(op.bags.mode == BagMode::mean));
  words.add(bags.data());
  words.add(factors);
  if (g.dims[0]) launch_typed(ordinal, bag_factors_kernel, {g.dtype}, grid_for(g.dims[0]), words);
  add_sorted_rows(ordinal, {out, 1}, {g, 1},
                  SortedKeys(ordinal, n, index.data, bags.data(), out.dims[0], op.bags.padding_idx), bags.data(), factors);
}

}  // namespace cuda_kernels

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const CheckRange& op) {
  const Array& index = op.index;
  if (index.numel == 0) return;
  if (op.size == 0) refuse_element(op.op, BadElement::index, 0, 0);
  cuda_kernels::Words words;
  words.add(index.numel);
  words.add(index.data);
  words.add(op.size);
  words.add_report(index.ordinal, op.op, BadElement::index);
  cuda_kernels::launch_typed(index.ordinal, cuda_kernels::check_range_kernel, {}, cuda_kernels::grid_for(index.numel), words);
}

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const IndexSelect& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
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

template <class T> void kernel(On<Cuda>, Types<T>, const IndexAdd& op) {
  cuda_kernels::run_add_rows({{op.out, 1}, {op.x, 1}, {.count = op.index.numel, .to = &op.index}});
}

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const Gather& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
  run<Cuda>(CheckRange{"gather", index, x.ndim ? x.dims[op.dim] : 1});
  const Array* const arrays[] = {&x, &index};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays, 2);
  if (index.numel == 0) return;
  cuda_kernels::Words words = cuda_kernels::indexed_words(x, op.dim, index);
  words.add(out.data);
  words.add(x.data);
  cuda_kernels::launch_typed(ordinal, cuda_kernels::gather_kernel, {cuda_kernels::carrier(size_of(x.dtype))}, cuda_kernels::grid_for(index.numel),
                     words);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const ScatterAdd& op) {
  run<Cuda>(CheckRange{"scatter_add", op.index, op.out.ndim ? op.out.dims[op.dim] : 1});
  cuda_kernels::run_scatter_add(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const EmbeddingBag& op) {
  cuda_kernels::run_embedding_bag(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const EmbeddingBagGradient& op) {
  cuda_kernels::run_embedding_bag_gradient(op);
}

}  // namespace backend
}  // namespace tern
