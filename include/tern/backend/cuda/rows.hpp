// Rows chosen by number. Rows that are written more than once get the last source, or the sum of all in their order,
// whatever the scheduling: sums sort the numbers (O(n log² n)) and a thread adds up an element's sources one after the
// other, so a row that many sources share takes as long as they are many.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../core/loop_nest.hpp"
#include "../../device/cuda/copy.hpp"
#include "../rows.hpp"
#include "codegen/sorted_keys.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Two arrays of rows and one row of both, as words: from rows_at on the number of dimensions with size and stride of
// each for out, 17 words on for in, and 34 words on the dimensions of a row with size and both strides.
inline constexpr const char* row_walk_text = R"CUDA(
enum { rows_at = 8 };
template <class P> inline __device__ Index row_start(const P& p, int list, Index row) {
  Index offset = 0;
  #pragma unroll 1
  for (int d = int(p.word[list]); d-- > 0;) {
    const Index size = p.index(list + 1 + 2 * d), j = d ? row % size : row;
    if (d) row /= size;
    offset += j * p.index(list + 2 + 2 * d);
  }
  return offset;
}
struct RowElement {
  Index to = 0, from = 0;   // from the starts of the rows
  template <class P> __device__ RowElement(const P& p, Index e) {
    const int list = rows_at + 34;
    #pragma unroll 1
    for (int d = int(p.word[list]); d-- > 0;) {
      const Index size = p.index(list + 1 + 3 * d), j = d ? e % size : e;
      if (d) e /= size;
      to += j * p.index(list + 2 + 3 * d);
      from += j * p.index(list + 3 + 3 * d);
    }
  }
};
)CUDA";

// Words: moves, elements of a row, out, in, rows written or null, rows read or null, the last move to each row or null.
inline constexpr Kernel copy_rows_kernel{"copy_rows", R"CUDA(
extern "C" __global__ void copy_rows(const Words<67> p) {
  const Index width = p.index(1);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0) * width; i += all_threads()) {
    const Index move = i / width, to = p.word[4] ? p.pointer<Index>(4)[move] : move;
    if (to < 0 || (p.word[6] && p.pointer<Index>(6)[to] != move)) continue;
    const Index from = p.word[5] ? p.pointer<Index>(5)[move] : move;
    const RowElement e(p, i % width);
    T0* const out = p.pointer<T0>(2) + row_start(p, rows_at, to) + e.to;
    *out = from < 0 ? T0() : p.pointer<T0>(3)[row_start(p, rows_at + 17, from) + e.from];
  }
}
)CUDA", {row_walk_text}};

// Words: moves, rows written, the last move to each row.
inline constexpr Kernel last_moves_kernel{"last_moves", R"CUDA(
extern "C" __global__ void last_moves(const Words<3> p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Index to = p.pointer<Index>(1)[i];
    if (to >= 0) atomicMax(p.pointer<Index>(2) + to, i);
  }
}
)CUDA"};

// The first key of a row adds up its run. Words: keys, elements of a row, out, in, the keys, shift, rows read or null,
// factors or null.
inline constexpr Kernel add_rows_kernel{"add_rows", R"CUDA(
extern "C" __global__ void add_rows(const Words<67> p) {
  const Index width = p.index(1);
  const uint64* const keys = p.pointer<uint64>(4);
  const uint64 shift = p.word[5];
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0) * width; i += all_threads()) {
    const Index first = i / width;
    const uint64 row = keys[first] >> shift;
    if (keys[first] == ~uint64(0) || (first && keys[first - 1] >> shift == row)) continue;
    const RowElement e(p, i % width);
    T0* const out = p.pointer<T0>(2) + row_start(p, rows_at, Index(row)) + e.to;
    C0 sum = C0(wide(*out));
    #pragma unroll 1
    for (Index k = first; k < p.index(0) && keys[k] >> shift == row; ++k) {
      const Index source = Index(keys[k] & ((uint64(1) << shift) - 1));
      const Index from = p.word[6] ? p.pointer<Index>(6)[source] : source;
      const C0 x = C0(wide(p.pointer<T1>(3)[row_start(p, rows_at + 17, from) + e.from]));
      sum = add(sum, p.word[7] ? multiply(p.pointer<C0>(7)[source], x) : x);
    }
    *out = Element<T0>::of(sum);
  }
}
)CUDA", {row_walk_text}};

// Words: out, how many terms, elements of out, the report, how many dimensions, the sizes of out; then for each term:
// numbers, size, step, whether negative ones count from the end, strides.
inline constexpr Kernel positions_kernel{"positions", R"CUDA(
extern "C" __global__ void positions(const Words<111> p) {
  const int dims = int(p.word[6]);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(2); i += all_threads()) {
    Index sum = 0;
    int word = 7 + dims;
    #pragma unroll 1
    for (Index k = 0; k < p.index(1); ++k, word += 4 + dims) {
      Index rest = i, offset = 0;
      #pragma unroll 1
      for (int d = dims; d-- > 0; rest /= p.index(7 + d)) offset += rest % p.index(7 + d) * p.index(word + 4 + d);
      const Index at = p.pointer<Index>(word)[offset], size = p.index(word + 1);
      const Index wrapped = at < 0 && p.word[word + 3] ? at + size : at;
      const bool inside = wrapped >= 0 && wrapped < size;
      if (!inside) report(p, 3, at, size);
      sum += inside ? wrapped * p.index(word + 2) : 0;
    }
    p.pointer<Index>(0)[i] = sum;
  }
}
)CUDA"};

// The elements of a mask in parts, a block for each. Words: elements, elements of a part, mask, counts.
inline constexpr Kernel count_parts_kernel{"count_parts", R"CUDA(
extern "C" __global__ void count_parts(const Words<4> p) {
  __shared__ Index partial[256];
  const Index first = blockIdx.x * p.index(1), last = first + p.index(1) < p.index(0) ? first + p.index(1) : p.index(0);
  Index count = 0;
  #pragma unroll 1
  for (Index i = first + threadIdx.x; i < last; i += 256) count += p.pointer<bool>(2)[i];
  partial[threadIdx.x] = count;
  __syncthreads();
  #pragma unroll 1
  for (int half = 128; half; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) p.pointer<Index>(3)[blockIdx.x] = partial[0];
}
)CUDA"};

// Words: the same, and out. A part starts where the counts before it end, and takes 256 elements at a time.
inline constexpr Kernel true_positions_kernel{"true_positions", R"CUDA(
extern "C" __global__ void true_positions(const Words<5> p) {
  __shared__ Index before[256];
  const int t = threadIdx.x;
  const Index first = blockIdx.x * p.index(1), last = first + p.index(1) < p.index(0) ? first + p.index(1) : p.index(0);
  Index start = 0;
  #pragma unroll 1
  for (unsigned part = 0; part < blockIdx.x; ++part) start += p.pointer<Index>(3)[part];
  #pragma unroll 1
  for (Index base = first; base < last; base += 256) {
    const bool is_true = base + t < last && p.pointer<bool>(2)[base + t];
    before[t] = is_true;
    __syncthreads();
    #pragma unroll 1
    for (int step = 1; step < 256; step *= 2) {
      const Index sum = before[t] + (t >= step ? before[t - step] : 0);
      __syncthreads();
      before[t] = sum;
      __syncthreads();
    }
    if (is_true) p.pointer<Index>(4)[start + before[t] - 1] = base + t;
    start += before[255];
    __syncthreads();
  }
}
)CUDA"};

/// The dimensions of an array that number its rows, and those of a row.
inline Array lead_of(const Rows& rows) {
  Array lead = rows.array;
  lead.ndim = std::uint8_t(rows.lead);
  return lead;
}
inline Array row_of(const Rows& rows) {
  Array row = rows.array;
  row.ndim = std::uint8_t(row.ndim - rows.lead);
  for (int i = 0; i < row.ndim; ++i) {
    row.dims[i] = row.dims[i + rows.lead];
    row.strides[i] = row.strides[i + rows.lead];
  }
  return row;
}

/// The words from rows_at on.
[[gnu::noinline]] inline void add_row_walk(Words& words, const Rows& out, const Rows& in) {
  const auto add = [&words](const LoopNest& loops, int arrays) {
    words.add(Index(loops.depth()));
    for (int d = 0; d < max_dims; ++d) {
      const bool used = d < loops.depth();
      words.add(used ? loops.size(d) : 1);
      for (int k = 0; k < arrays; ++k) words.add(used ? loops.stride(d, k) : 0);
    }
  };
  for (const Rows* rows : {&out, &in}) {
    const Array lead = lead_of(*rows);
    const Array* const arrays[] = {&lead};
    add(LoopNest(lead.shape(), arrays, 1), 1);
  }
  const Array to = row_of(out), from = row_of(in);
  const Array* const arrays[] = {&to, &from};
  add(LoopNest(to.shape(), arrays, 2), 2);
}

/// out row += factor in row for the sorted keys; the source's number, or where `from` is given from[number], is the row
/// read.
[[gnu::noinline]] inline void add_sorted_rows(int ordinal, const Rows& out, const Rows& in, const SortedKeys& keys,
                                              const char* from, const char* factors) {
  const Index width = row_of(out).shape().numel();
  Words words;
  words.add(keys.count());
  words.add(width);
  for (const char* pointer :
       {static_cast<const char*>(out.array.data), static_cast<const char*>(in.array.data), keys.data()})
    words.add(pointer);
  words.add(keys.shift());
  words.add(from);
  words.add(factors);
  add_row_walk(words, out, in);
  launch_typed(ordinal, add_rows_kernel, {out.array.dtype, in.array.dtype}, grid_for(keys.count() * width), words);
}

[[gnu::noinline]] inline void run_add_rows(const AddRows& op) {
  const Rows &out = op.out, &in = op.in;
  const Array* const arrays[] = {&in.array};
  const int ordinal = common_ordinal(out.array, arrays, 1);
  if (op.moves.count == 0 || out.array.numel == 0) return;
  const SortedKeys keys(ordinal, op.moves.count, data_of(op.moves.to), data_of(op.moves.from), lead_of(out).shape().numel());
  add_sorted_rows(ordinal, out, in, keys, data_of(op.moves.from), nullptr);
}

/// A mask's elements as parts, one for a block.
struct MaskParts {
  static constexpr Index most = 1024;
  Index part, count;
  explicit MaskParts(Index n) : part(std::max<Index>(1024, (n + most - 1) / most)), count((n + part - 1) / part) {}

  void launch(const Kernel& kernel, const Array& mask, const char* counts, const char* out) const {
    Words words;
    words.add(mask.numel);
    words.add(part);
    for (const char* pointer : {static_cast<const char*>(mask.data), counts, out}) words.add(pointer);
    launch_typed(mask.ordinal, kernel, {}, {count}, words);
  }
};

}  // namespace cuda_kernels

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const RowNumbers& op) {
  const Array& out = op.out;
  const int ordinal = out.ordinal;
  if (out.numel == 0) return;
  cuda_kernels::Words words;
  words.add(out.data);
  words.add(Index(op.count));
  words.add(out.numel);
  words.add_report(ordinal, op.op, BadElement::index);
  words.add(Index(out.ndim));
  for (int i = 0; i < out.ndim; ++i) words.add(out.dims[i]);
  for (int k = 0; k < op.count; ++k) {
    const RowIndex& term = op.indices[k];
    const Array& index = *term.index;
    const Array* const arrays[] = {&index};
    cuda_kernels::common_ordinal(out, arrays, 1);
    if (term.size == 0) refuse_element(op.op, BadElement::index, 0, 0);
    words.add(index.data);
    for (const Index word : {term.size, term.step, Index(term.from_end)}) words.add(word);
    for (int i = 0; i < out.ndim; ++i) {
      words.add(broadcast_stride(index, i, out.ndim));
    }
  }
  cuda_kernels::launch_typed(ordinal, cuda_kernels::positions_kernel, {}, cuda_kernels::grid_for(out.numel), words);
}

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const CopyRows& op) {
  const Rows &out = op.out, &in = op.in;
  const RowMoves& moves = op.moves;
  const Array* const arrays[] = {&in.array};
  const int ordinal = cuda_kernels::common_ordinal(out.array, arrays, 1);
  if (moves.count == 0 || out.array.numel == 0) return;
  const Index rows = cuda_kernels::lead_of(out).shape().numel(), width = cuda_kernels::row_of(out).shape().numel();
  const cuda::detail::Scratch last(ordinal, moves.to ? std::size_t(8 * rows) : 0);
  if (moves.to) {
    cuda::detail::start_filling(ordinal, last.data(), 0xff, std::size_t(8 * rows));
    cuda_kernels::Words words;
    words.add(moves.count);
    words.add(moves.to->data);
    words.add(last.data());
    cuda_kernels::launch_typed(ordinal, cuda_kernels::last_moves_kernel, {}, cuda_kernels::grid_for(moves.count), words);
  }
  cuda_kernels::Words words;
  words.add(moves.count);
  words.add(width);
  words.add(out.array.data);
  words.add(in.array.data);
  words.add(cuda_kernels::data_of(moves.to));
  words.add(cuda_kernels::data_of(moves.from));
  words.add(last.data());
  words.add(Index(0));
  cuda_kernels::add_row_walk(words, out, in);
  cuda_kernels::launch_typed(ordinal, cuda_kernels::copy_rows_kernel, {cuda_kernels::carrier(size_of(out.array.dtype))},
                     cuda_kernels::grid_for(moves.count * width), words);
}

template <class T> void kernel(On<Cuda>, Types<T>, const AddRows& op) {
  cuda_kernels::run_add_rows(op);
}

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const CountTrue& op) {
  const Array& mask = op.mask;
  const cuda_kernels::MaskParts parts(mask.numel);
  op.count = 0;
  if (parts.count == 0) return;
  const cuda::detail::Scratch counts(mask.ordinal, std::size_t(8 * parts.count));
  parts.launch(cuda_kernels::count_parts_kernel, mask, counts.data(), nullptr);
  Index part[cuda_kernels::MaskParts::most];
  cuda::detail::copy_to_host(mask.ordinal, part, counts.data(), std::size_t(8 * parts.count));
  for (Index i = 0; i < parts.count; ++i) op.count += part[i];
}

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const TruePositions& op) {
  const Array& mask = op.mask;
  const cuda_kernels::MaskParts parts(mask.numel);
  if (parts.count == 0) return;
  const cuda::detail::Scratch counts(mask.ordinal, std::size_t(8 * parts.count));
  parts.launch(cuda_kernels::count_parts_kernel, mask, counts.data(), nullptr);
  parts.launch(cuda_kernels::true_positions_kernel, mask, counts.data(), op.out.data);
}

}  // namespace backend
}  // namespace tern
