// Recurrences along a dimension, in one pass over memory. A row is cut into tiles of up to 4096 elements, of which each of the
// `along` threads that share one has 16. The tiles of a row are in windows of as many tiles as there are threads. A tile posts its
// total. Its start is the total before its window, which the last tile of the window before posts, then the totals of the tiles
// before it in the window. So which elements are combined in which order depends on their positions alone, and a chain of waits has
// one link for a window. Sums of floats are calculated in double, as on the CPU.
#pragma once
#include "../scan.hpp"
#include "../../core/rows_along.hpp"
#include "codegen/look_back.hpp"
#include "codegen/packs.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(ScanParameters,
  Index n;                   // elements of a row
  Index inner;               // the distance between elements of a row
  Index rows;
  Index along;               // threads of a tile
  Index tiles;               // of a row
  Pointer<T0> out;
  Pointer<const T0> in;
  Pointer<const T0> gates;   // of a recurrence
  Index reverse;
  Pointer<uint64> counter;
  Pointer<uint64> totals;    // of each tile
  Pointer<uint64> starts;    // of each window but a row's first
);

// A step stands for a function of the result before it.
inline constexpr const char* accumulated_text = R"CUDA(
template <class T> struct Accumulated { typedef int64 type; };
template <> struct Accumulated<float> { typedef double type; };
template <> struct Accumulated<double> { typedef double type; };
typedef Accumulated<C0>::type A0;
)CUDA";
inline constexpr const char* sum_steps_text = R"CUDA(
enum { has_gates = false, neutral = 0 };
struct Step { A0 value; };
inline __device__ Step nothing() { return Step{A0(0)}; }
inline __device__ Step then(Step a, Step b) { return Step{add(a.value, b.value)}; }
inline __device__ Step step_of(T0, T0 x) { return Step{A0(wide(x))}; }
)CUDA";
inline constexpr const char* product_steps_text = R"CUDA(
enum { has_gates = false, neutral = 1 };
struct Step { A0 value; };
inline __device__ Step nothing() { return Step{A0(1)}; }
inline __device__ Step then(Step a, Step b) { return Step{multiply(a.value, b.value)}; }
inline __device__ Step step_of(T0, T0 x) { return Step{A0(wide(x))}; }
)CUDA";
inline constexpr const char* recurrence_steps_text = R"CUDA(
enum { has_gates = true, neutral = 0 };
struct Step { A0 gate, value; };
inline __device__ Step nothing() { return Step{A0(1), A0(0)}; }
inline __device__ Step then(Step a, Step b) {
  return Step{multiply(b.gate, a.gate), add(multiply(b.gate, a.value), b.value)};
}
inline __device__ Step step_of(T0 gate, T0 x) { return Step{A0(wide(gate)), A0(wide(x))}; }
)CUDA";

// How a thread's 16 elements lie: packs of neighbours, where the elements of a row are adjacent, so that a warp reads neighbouring
// packs; else one after the other along the row, so that it reads neighbouring rows.
inline constexpr const char* aligned_elements_text =
    "enum { adjacent_rows = false, aligned = true, vector = 16 / sizeof(T0), packs = 16 / vector };\n";
inline constexpr const char* adjacent_elements_text =
    "enum { adjacent_rows = false, aligned = false, vector = 16 / sizeof(T0), packs = 16 / vector };\n";
inline constexpr const char* adjacent_rows_text = "enum { adjacent_rows = true, aligned = false, vector = 16, packs = 1 };\n";

// Threads that share a tile, in the order of its elements: `along` threads, `apart` from each other.
inline constexpr const char* scan_team_text = R"CUDA(
struct ScanTeam {
  int at, along, apart, lanes, lane;   // lanes: threads of the tile in a warp
  __device__ ScanTeam(int threads) : along(threads) {
    const int t = threadIdx.x, across = 256 / along;
    apart = adjacent_rows ? across : 1;
    at = adjacent_rows ? t / across : t % along;
    lanes = apart >= 32 ? 1 : along < 32 / apart ? along : 32 / apart;
    lane = at % lanes;
  }
  static __device__ Step of_lane(Step step, int lane) {
    uint32 words[sizeof(Step) / 4];
    memcpy(words, &step, sizeof step);
    for (uint32& word : words) word = __shfl_sync(~0u, word, lane);
    memcpy(&step, words, sizeof step);
    return step;
  }
  // What the lanes before this one combine to, and all of them.
  __device__ Step before_lane(Step mine, Step& all) const {
    const int t = threadIdx.x & 31;
    Step through = mine;
    #pragma unroll
    for (int step = 1; step < 32; step *= 2)
      if (step < lanes) {
        const Step earlier = of_lane(through, (t - step * apart) & 31);
        if (lane >= step) through = then(earlier, through);
      }
    all = of_lane(through, t + (lanes - 1 - lane) * apart);
    const Step before = of_lane(through, (t - apart) & 31);
    return lane ? before : nothing();
  }
  // The same over the tile's warps, for what all lanes combine to. All threads of the block call it.
  __device__ Step before_warp(Step of_lanes, Step* partial, Step& all) const {
    const int t = threadIdx.x, end = along * apart, step = lanes * apart;
    all = of_lanes;
    if (along == lanes) return nothing();
    partial[t] = of_lanes;
    __syncthreads();
    Step before = nothing();
    all = nothing();
    #pragma unroll 1
    for (int warp = 0, first = t / end * end + t % apart; warp < along / lanes; ++warp, first += step) {
      if (warp == at / lanes) before = all;
      all = then(all, partial[first]);
    }
    __syncthreads();
    return before;
  }
};
)CUDA";

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
  const Index number = p.tiles > 1 ? take_number(p.counter, &shared_number) : blockIdx.x;
  const Index group = p.tiles > 1 ? number / p.tiles : number, tile = number - group * p.tiles;
  const ScanRow row(p, group * across + column);
  const Index first = tile * (team.along * 16) + team.at / team.lanes * (team.lanes * 16) + team.lane * vector;
  const int step = team.lanes * vector;
  Pack<T0, vector> in[packs], gates[has_gates ? packs : 1];
  for (int k = 0; k < packs; ++k) in[k] = row.read(p.in, first + k * step, Element<T0>::of(C0(neutral)));
  if (has_gates)
    for (int k = 0; k < packs; ++k) gates[k] = row.read(p.gates, first + k * step, Element<T0>::of(C0(1)));
  const auto element = [&](int k, int e) { return step_of(gates[has_gates ? k : 0].at[e], in[k].at[e]); };

  Step before[packs], of_lanes = nothing(), total;
  for (int k = 0; k < packs; ++k) {
    Step of_pack = element(k, 0), of_packs;
    for (int e = 1; e < vector; ++e) of_pack = then(of_pack, element(k, e));
    before[k] = then(of_lanes, team.before_lane(of_pack, of_packs));
    of_lanes = then(of_lanes, of_packs);
  }
  Step start = team.before_warp(of_lanes, partial, total);
  if (p.tiles > 1) {
    const Index window = tile / team.along, windows = (p.tiles + team.along - 1) / team.along;
    const int in_window = int(tile - window * team.along);
    if (team.at == 0) post(p.totals, number * across + column, total);
    // One value for each thread: what comes before the window, then the tiles' totals.
    Step earlier = nothing(), before_tile;
    if (team.at == 0 && window) earlier = wait_for<Step>(p.starts, (group * windows + window) * across + column);
    if (team.at && team.at <= in_window)
      earlier = wait_for<Step>(p.totals, (number - in_window + team.at - 1) * across + column);
    Step of_warp;
    team.before_lane(earlier, of_warp);
    team.before_warp(of_warp, partial, before_tile);
    if (team.at == 0 && in_window == team.along - 1 && window + 1 < windows)
      post(p.starts, (group * windows + window + 1) * across + column, then(before_tile, total));
    start = then(before_tile, start);
  }
  for (int k = 0; k < packs; ++k) {
    forget(in[k]);
    Step s = then(start, before[k]);
    Pack<T0, vector> out;
    for (int e = 0; e < vector; ++e) {
      s = then(s, element(k, e));
      out.at[e] = Element<T0>::of(s.value);
    }
    row.write(p.out, first + k * step, out);
  }
}
)CUDA";

/// The kernels of each Scan::Kind.
struct ScanKernels {
  KernelOf<ScanParameters> of_kind[3];
  constexpr explicit ScanKernels(const char* layout)
      : of_kind{{"scan", scan_text, {scan_team_text}, {look_back_text, accumulated_text, sum_steps_text, layout}},
                {"scan", scan_text, {scan_team_text}, {look_back_text, accumulated_text, product_steps_text, layout}},
                {"scan", scan_text, {scan_team_text}, {look_back_text, accumulated_text, recurrence_steps_text, layout}}} {}
};
inline constexpr ScanKernels scan_packs_kernels(aligned_elements_text), scan_rows_kernels(adjacent_elements_text),
    scan_columns_kernels(adjacent_rows_text);

TERN_API void run_scan(const Scan& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Scan& op) {
  cuda_kernels::run_scan(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "scan.ipp"
#endif
