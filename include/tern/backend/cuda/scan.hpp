// Recurrences and running extremes along a dimension, in one pass over memory. A row is cut into tiles of up to 4096
// elements, of which each of the `along` threads that share one has 16. Sums of floats are calculated in double, as on
// the CPU.
#pragma once
#include "../scan.hpp"
#include "codegen/packs.hpp"
#include "codegen/tile_scan.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(ScanParameters,
                   Index n;                  // elements of a row
                   Index inner;              // the distance between elements of a row
                   Index rows; Index along;  // threads of a tile
                   Pointer<T0> out; Pointer<const T0> in; Pointer<const T0> gates;  // of a recurrence
                   Pointer<Index> positions;                                        // of an extreme
                   Index reverse; LookBack before;);

inline constexpr const char* product_steps_text = R"CUDA(
enum { has_gates = false, neutral = 1 };
struct Step { A0 value; };
inline __device__ Step nothing() { return Step{A0(1)}; }
inline __device__ Step then(Step a, Step b) { return Step{multiply(a.value, b.value)}; }
inline __device__ Step step_of(T0, T0 x, Index) { return Step{A0(promote(x))}; }
inline __device__ void note(Index*, Index, Step) {}
)CUDA";
inline constexpr const char* recurrence_steps_text = R"CUDA(
enum { has_gates = true, neutral = 0 };
struct Step { A0 gate, value; };
inline __device__ Step nothing() { return Step{A0(1), A0(0)}; }
inline __device__ Step then(Step a, Step b) {
  return Step{multiply(b.gate, a.gate), add(multiply(b.gate, a.value), b.value)};
}
inline __device__ Step step_of(T0 gate, T0 x, Index) { return Step{A0(promote(gate)), A0(promote(x))}; }
inline __device__ void note(Index*, Index, Step) {}
)CUDA";
// Nothing is at least NaN.
inline constexpr const char* extreme_steps_text = R"CUDA(
enum { has_gates = false, neutral = 0 };
struct Step { A0 value; Index at; };
inline __device__ Step nothing() { return Step{A0(0), Index(-1)}; }
inline __device__ Step then(Step a, Step b) {
  if (b.at < 0) return a;
  return a.at < 0 || b.value != b.value || (largest ? b.value >= a.value : b.value <= a.value) ? b : a;
}
inline __device__ Step step_of(T0, T0 x, Index i) { return Step{A0(promote(x)), i}; }
inline __device__ void note(Index* positions, Index place, Step step) { positions[place] = step.at; }
)CUDA";
inline constexpr const char* largest_text = "enum { largest = true };\n";
inline constexpr const char* smallest_text = "enum { largest = false };\n";

inline constexpr const char* scan_text = R"CUDA(
struct ScanRow {
  const ScanParameters& p;
  Index start, n;                      // n is 0 for threads behind the last row, which must reach the barriers too
  __device__ ScanRow(const ScanParameters& parameters, Index row) : p(parameters), start(0), n(0) {
    if (row >= p.rows) return;
    n = p.n;
    start = adjacent_rows ? row / p.inner * n * p.inner + row % p.inner : row * n;
  }
  __device__ Index place(Index i) const {
    const Index position = p.reverse ? n - 1 - i : i;
    return start + (adjacent_rows ? position * p.inner : position);
  }
  static __device__ void turn(Pack<T0, vector>& pack) {
    for (int e = 0; e < vector / 2; ++e) {
      const T0 other = pack.at[e];
      pack.at[e] = pack.at[vector - 1 - e];
      pack.at[vector - 1 - e] = other;
    }
  }
  // The pack of elements from i on, in the order of the scan. Rows of aligned packs end with a pack.
  __device__ Pack<T0, vector> read(const T0* from, Index i, T0 missing) const {
    Pack<T0, vector> pack;
    if (aligned && i < n) {
      pack = *(const Pack<T0, vector>*)(from + place(p.reverse ? i + vector - 1 : i));
      if (p.reverse) turn(pack);
    } else {
      for (int e = 0; e < vector; ++e) pack.at[e] = !aligned && i + e < n ? from[place(i + e)] : missing;
    }
    return pack;
  }
  __device__ void write(T0* to, Index i, Pack<T0, vector> pack) const {
    if (aligned && i < n) {
      if (p.reverse) turn(pack);
      *(Pack<T0, vector>*)(to + place(p.reverse ? i + vector - 1 : i)) = pack;
    } else {
      for (int e = 0; e < vector; ++e)
        if (!aligned && i + e < n) to[place(i + e)] = pack.at[e];
    }
  }
};
// The compiler must not keep the converted elements while the block waits: they would take twice the registers.
inline __device__ void forget(Pack<T0, vector>& pack) {
#ifdef __CUDACC_VER_MAJOR__
  uint32 words[sizeof pack / 4];
  memcpy(words, &pack, sizeof pack);
  for (uint32& word : words) asm volatile("" : "+r"(word));
  memcpy(&pack, words, sizeof pack);
#endif
}
extern "C" __global__ void scan(const ScanParameters p) {
  __shared__ Step partial[256];
  __shared__ Index shared_number;
  const ScanTeam team(int(p.along));
  const int across = 256 / team.along, column = adjacent_rows ? threadIdx.x % across : threadIdx.x / team.along;
  const Index tiles = p.before.tiles, number = tiles > 1 ? take_number(p.before.counter, &shared_number) : blockIdx.x;
  const Index group = tiles > 1 ? number / tiles : number, tile = number - group * tiles;
  const ScanRow row(p, group * across + column);
  const Index first = tile * (team.along * 16) + team.at / team.lanes * (team.lanes * 16) + team.lane * vector;
  const int step = team.lanes * vector;
  Pack<T0, vector> in[packs], gates[has_gates ? packs : 1];
  for (int k = 0; k < packs; ++k) in[k] = row.read(p.in, first + k * step, Element<T0>::of(C0(neutral)));
  if (has_gates)
    for (int k = 0; k < packs; ++k) gates[k] = row.read(p.gates, first + k * step, Element<T0>::of(C0(1)));
  const auto element = [&](int k, int e) { return step_of(gates[has_gates ? k : 0].at[e], in[k].at[e], first + k * step + e); };

  Step before[packs], of_lanes = nothing(), total;
  for (int k = 0; k < packs; ++k) {
    Step of_pack = element(k, 0), of_packs;
    for (int e = 1; e < vector; ++e) of_pack = then(of_pack, element(k, e));
    before[k] = then(of_lanes, team.before_lane(of_pack, of_packs));
    of_lanes = then(of_lanes, of_packs);
  }
  Step start = team.before_warp(of_lanes, partial, total);
  if (p.before.tiles > 1) start = then(before_tile(team, p.before, number, column, total, partial), start);
  for (int k = 0; k < packs; ++k) {
    forget(in[k]);
    Step s = then(start, before[k]);
    Pack<T0, vector> out;
    for (int e = 0; e < vector; ++e) {
      s = then(s, element(k, e));
      out.at[e] = Element<T0>::of(s.value);
      if (first + k * step + e < row.n) note(p.positions, row.place(first + k * step + e), s);
    }
    row.write(p.out, first + k * step, out);
  }
}
)CUDA";

/// The kernels of each Scan::Kind, then that of the smallest and that of the largest.
struct ScanKernels {
  static constexpr int smallest = 3, largest = 4;
  KernelOf<ScanParameters> of_kind[5];
  constexpr explicit ScanKernels(const char* layout)
      : of_kind{of("", sum_steps_text, layout), of("", product_steps_text, layout),
                of("", recurrence_steps_text, layout), of(smallest_text, extreme_steps_text, layout),
                of(largest_text, extreme_steps_text, layout)} {}

 private:
  static constexpr KernelOf<ScanParameters> of(const char* which, const char* steps, const char* layout) {
    return {
        "scan", scan_text, {look_back_text, LookBack::source, accumulated_text, which, steps, layout, tile_scan_text}};
  }
};
inline constexpr ScanKernels scan_packs_kernels(aligned_elements_text), scan_rows_kernels(adjacent_elements_text),
    scan_columns_kernels(adjacent_rows_text);

/// Launches the `kind`-th of the kernels. `positions` are an extreme's, else null.
TERN_API void run_scan(const Scan& op, int kind, const Array* positions);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Scan& op) {
  cuda_kernels::run_scan(op, op.kind, nullptr);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const RunningExtreme& op) {
  using cuda_kernels::ScanKernels;
  const Scan scan{op.values, op.in, nullptr, op.dim, Scan::sum, false};
  cuda_kernels::run_scan(scan, op.largest ? ScanKernels::largest : ScanKernels::smallest, &op.positions);
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "scan.ipp"
#endif
