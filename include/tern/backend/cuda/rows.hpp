// Rows chosen by index. A row that is written more than once gets the last source, or the sum of all sources, whatever
// the scheduling. For sums the row numbers are sorted, and one thread adds up an element's sources one after the other.
// Many sources are added in parts, whose sums a second launch adds up; which parts depends on the row numbers alone.
#pragma once
#include "../../device/cuda/copy.hpp"
#include "../gather.hpp"
#include "../rows.hpp"
#include "codegen/loops.hpp"
#include "codegen/packs.hpp"
#include "codegen/sorted_keys.hpp"
#include "codegen/team.hpp"
#include "codegen/tile_scan.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

// Two arrays of rows, and one row of each.
TERN_KERNEL_STRUCT(RowLoops, ArrayLoops to; ArrayLoops from; CopyLoops row;);

TERN_KERNEL_STRUCT(CopyRowsParameters,
                   Index moves;
                   Index width;  // elements of a row
                   uint64 width_reciprocal; Pointer<T0> out; Pointer<const T0> in;
                   Pointer<const Index> to;  // null: 0, 1, 2 …
                   Pointer<const Index> from;
                   Pointer<const Index> last;  // the last move to each row; null if to is null
                   RowLoops loops;);
inline constexpr KernelOf<CopyRowsParameters> copy_rows_kernel{
    "copy_rows",
    R"CUDA(
template <class P> inline __device__ void copy_elements(const CopyRowsParameters& p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.moves * p.width; i += all_threads()) {
    P position = P(i);
    const Index column = Index(take_index(position, p.width, p.width_reciprocal)), move = Index(position), to = p.to ? p.to[move] : move;
    if (to < 0 || (p.last && p.last[to] != move)) continue;
    const Index from = p.from ? p.from[move] : move;
    const CopyOffsets element(p.loops.row, column);
    T0* const out = p.out + offset_at(p.loops.to, to) + element.to;
    *out = from < 0 ? T0() : p.in[offset_at(p.loops.from, from) + element.from];
  }
}
extern "C" __global__ void copy_rows(const CopyRowsParameters p) {
  if (p.moves * p.width >> 31) copy_elements<uint64>(p);
  else copy_elements<uint32>(p);
}
)CUDA",
    {ArrayLoops::source, CopyLoops::source, loops_text, RowLoops::source}};

TERN_KERNEL_STRUCT(LastMovesParameters,
                   Index moves;
                   Pointer<const Index> to; Pointer<Index> last;  // for each row
);
inline constexpr KernelOf<LastMovesParameters> last_moves_kernel{"last_moves", R"CUDA(
extern "C" __global__ void last_moves(const LastMovesParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.moves; i += all_threads())
    if (p.to[i] >= 0) atomicMax(p.last + p.to[i], i);
}
)CUDA"};

// The keys are in parts. The thread of a row's first key adds up all keys of the row if they end in this part or the
// next. Of a longer row it adds up those in this part, and the thread of each later part's first key those in that
// part. So each part has two sums at most: of the row that began before it, and of the one that begins in it.
TERN_KERNEL_STRUCT(AddRowsParameters,
                   Index count;      // of keys
                   Index part_bits;  // a part has 2 to the power of this keys
                   Index width;      // elements of a row
                   Pointer<T0> out; Pointer<const T1> in; Pointer<const uint64> keys; Index shift;
                   Pointer<const Index> from;  // the row that each source reads, or null
                   Pointer<const C0> factors;  // or null
                   Index how;                  // a ScatterMode
                   Pointer<C0> sums;           // two rows for each part; null if no row is long
                   RowLoops loops;);
inline constexpr const char* combined_text = R"CUDA(
inline __device__ C0 combined(Index how, C0 a, C0 b) {
  return how == 0 ? add(a, b) : how == 1 ? multiply(a, b) : how == 2 ? larger(a, b) : smaller(a, b);
}
)CUDA";
inline constexpr KernelOf<AddRowsParameters> add_rows_kernel{
    "add_rows",
    R"CUDA(
extern "C" __global__ void add_rows(const AddRowsParameters p) {
  const uint64* const keys = p.keys;
  const uint64 shift = p.shift;
  const Index part_keys = Index(1) << p.part_bits;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count * p.width; i += all_threads()) {
    const Index first = i / p.width;
    const uint64 row = keys[first] >> shift;
    const bool goes_on = first && keys[first - 1] >> shift == row;
    if (keys[first] == ~uint64(0) || (goes_on && (first & (part_keys - 1)) != 0)) continue;
    const Index part = first >> p.part_bits, next = (part + 1) << p.part_bits, after_next = next + part_keys;
    const auto has = [&](Index k) { return k >= 0 && k < p.count && keys[k] >> shift == row; };
    const bool is_long = goes_on ? has(next) || has(next - 2 * part_keys - 1) : has(after_next);
    if (goes_on && !is_long) continue;  // the thread of the row's first key has it
    const Index column = i - first * p.width;
    const CopyOffsets element(p.loops.row, column);
    T0* const out = p.out + offset_at(p.loops.to, Index(row)) + element.to;
    const auto term = [&](Index k) {
      const Index source = Index(keys[k] & ((uint64(1) << shift) - 1));
      const Index from = p.from ? p.from[source] : source;
      const C0 x = C0(promote(p.in[offset_at(p.loops.from, from) + element.from]));
      return p.factors ? multiply(p.factors[source], x) : x;
    };
    Index k = first;
    C0 sum = goes_on ? term(k++) : C0(promote(*out));
    const Index last = is_long ? next : after_next;
    #pragma unroll 1
    for (; k < last && has(k); ++k) sum = combined(p.how, sum, term(k));
    if (is_long) p.sums[(2 * part + !goes_on) * p.width + column] = sum;
    else *out = Element<T0>::of(sum);
  }
}
)CUDA",
    {ArrayLoops::source, CopyLoops::source, loops_text, RowLoops::source, combined_text}};

// A thread adds up what the parts have of a long row: the part in which it begins, and all after it.
inline constexpr KernelOf<AddRowsParameters> add_parts_kernel{
    "add_parts",
    R"CUDA(
extern "C" __global__ void add_parts(const AddRowsParameters p) {
  const uint64* const keys = p.keys;
  const uint64 shift = p.shift;
  const Index part_keys = Index(1) << p.part_bits, parts = (p.count + part_keys - 1) >> p.part_bits;
  #pragma unroll 1
  for (Index i = first_thread(); i < (parts - 2) * p.width; i += all_threads()) {
    const Index part = i / p.width, column = i - part * p.width, next = (part + 1) << p.part_bits;
    const uint64 row = keys[next - 1] >> shift;
    const bool began_before = part && keys[(part << p.part_bits) - 1] >> shift == row;
    if (keys[next - 1] == ~uint64(0) || keys[next + part_keys] >> shift != row || began_before) continue;
    C0 sum = p.sums[(2 * part + 1) * p.width + column];
    #pragma unroll 1
    for (Index later = part + 1; later < parts && keys[later << p.part_bits] >> shift == row; ++later)
      sum = combined(p.how, sum, p.sums[2 * later * p.width + column]);
    p.out[offset_at(p.loops.to, Index(row)) + CopyOffsets(p.loops.row, column).to] = Element<T0>::of(sum);
  }
}
)CUDA",
    {ArrayLoops::source, CopyLoops::source, loops_text, RowLoops::source, combined_text}};

TERN_KERNEL_STRUCT(RowNumbersTerm, Pointer<const Index> index; Index size; Index step; Index from_end;
                   Index stride[max_dims];);
TERN_KERNEL_STRUCT(RowNumbersParameters, Pointer<Index> out; Index count; Index dims; Index size[max_dims];
                   ElementReport report; Index terms; RowNumbersTerm term[max_dims];);
inline constexpr KernelOf<RowNumbersParameters> row_numbers_kernel{"row_numbers",
                                                                   R"CUDA(
extern "C" __global__ void row_numbers(const RowNumbersParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    Index sum = 0;
    #pragma unroll 1
    for (int k = 0; k < int(p.terms); ++k) {
      const RowNumbersTerm& term = p.term[k];
      Index rest = i, offset = 0;
      #pragma unroll 1
      for (int d = int(p.dims); d-- > 0; rest /= p.size[d]) offset += rest % p.size[d] * term.stride[d];
      const Index at = term.index[offset], wrapped = at < 0 && term.from_end ? at + term.size : at;
      const bool inside = wrapped >= 0 && wrapped < term.size;
      if (!inside) p.report.note(at, term.size);
      sum += inside ? wrapped * term.step : 0;
    }
    p.out[i] = sum;
  }
}
)CUDA",
                                                                   {RowNumbersTerm::source}};

// A mask in tiles of 4096 elements, 16 of each thread.
TERN_KERNEL_STRUCT(MaskParameters,
                   Index count;
                   Index tiles; Index aligned;                       // packs of 16 elements
                   Pointer<const bool> mask; Pointer<uint64> total;  // of count_true
                   LookBack before;                                  // of true_positions
                   Pointer<Index> out;);
inline constexpr const char* mask_text = R"CUDA(
// The 16 elements from the i-th of `count` on, as the bits of a number.
inline __device__ uint32 mask_bits(const bool* mask, Index count, bool aligned, Index i) {
  uint32 bits = 0;
  if (aligned && i + 16 <= count) {
    const Pack<uint32, 4> words = *(const Pack<uint32, 4>*)(mask + i);
    // The product has the lowest bits of the four bytes in its highest byte, side by side.
    for (int w = 0; w < 4; ++w) bits |= ((words.at[w] & 0x01010101u) * 0x10204080u >> 28) << 4 * w;
  } else {
    for (int e = 0; e < 16; ++e)
      if (i + e < count && mask[i + e]) bits |= 1u << e;
  }
  return bits;
}
)CUDA";
inline constexpr KernelOf<MaskParameters> count_true_kernel{"count_true",
                                                            R"CUDA(
extern "C" __global__ void count_true(const MaskParameters p) {
  __shared__ Index partial[256];
  Index count = 0;
  #pragma unroll 2
  for (Index tile = blockIdx.x; tile < p.tiles; tile += gridDim.x)
    count += __popc(mask_bits(p.mask, p.count, p.aligned, (tile * 256 + threadIdx.x) * 16));
  count = Team{int(threadIdx.x), 256, 1}.total(partial, count);
  if (threadIdx.x == 0) atomicAdd(p.total, uint64(count));
}
)CUDA",
                                                            {team_text, LookBack::source, mask_text}};

// A tile's positions are put side by side in shared memory first, so that neighbours write to neighbouring places.
inline constexpr KernelOf<MaskParameters> true_positions_kernel{
    "true_positions",
    R"CUDA(
extern "C" __global__ void true_positions(const MaskParameters p) {
  __shared__ Step partial[256];
  __shared__ Index shared_number;
  __shared__ unsigned short staged[4096];
  const ScanTeam team(256);
  const int t = threadIdx.x;
  const Index tile = p.tiles > 1 ? take_number(p.before.counter, &shared_number) : 0;
  const uint32 bits = mask_bits(p.mask, p.count, p.aligned, (tile * 256 + t) * 16);
  Step of_warp, total;
  const Step before = team.before_lane(Step{Index(__popc(bits))}, of_warp);
  int place = int(then(team.before_warp(of_warp, partial, total), before).value);
  for (int e = 0; e < 16; ++e)
    if (bits >> e & 1) staged[place++] = (unsigned short)(16 * t + e);
  const Index start = p.tiles > 1 ? before_tile(team, p.before, tile, 0, total, partial).value : 0;
  __syncthreads();
  for (int i = t; i < total.value; i += 256) p.out[start + i] = tile * 4096 + staged[i];
}
)CUDA",
    {look_back_text, LookBack::source, accumulated_text, sum_steps_text, adjacent_elements_text, tile_scan_text,
     mask_text}};

/// The dimensions of an array that number its rows, and those that make a row.
inline Array lead_of(const Rows& rows) {
  Array lead = rows.array;
  lead.ndim = std::uint8_t(rows.lead);
  return lead;
}
TERN_API Array row_of(const Rows& rows);

TERN_API RowLoops row_loops(const Rows& out, const Rows& in);

/// out row = itself combined with factor · in row, for the sorted keys. The row that is read is the source's number, or
/// from[number] if `from` is given.
TERN_API void add_sorted_rows(int ordinal, const Rows& out, const Rows& in, const SortedKeys& keys, const char* from,
                              const char* factors, ScatterMode how = ScatterMode::sum);

TERN_API MaskParameters mask_parameters(const Array& mask);

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const RowNumbers& op);
TERN_API void kernel(On<Cuda>, Types<>, const CopyRows& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const AddRows& op);
TERN_API void kernel(On<Cuda>, Types<>, const CountTrue& op);
TERN_API void kernel(On<Cuda>, Types<>, const TruePositions& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "rows.ipp"
#endif
