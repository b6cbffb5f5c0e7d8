// Scans over the tiles of rows. Tiles of a row are in windows of as many tiles as threads share one, at most 128: a
// tile waits for those before it in its window, and a larger window would keep more than a quarter of a large device's
// blocks waiting. A tile posts its total. Its start is what comes before its window, which the last tile of the window
// before posts, then the totals of the tiles before it in the window. So which elements are combined in which order
// depends on their positions alone, and a chain of waits has one link for each window.
#pragma once
#include <algorithm>

#include "look_back.hpp"
#include "parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// Where the tiles of rows post. Without memory if a row has one tile.
TERN_KERNEL_STRUCT(LookBack,
                   Index tiles;                                      // of a row
                   Pointer<uint64> counter; Pointer<uint64> totals;  // of each tile
                   Pointer<uint64> starts;                           // of each window but a row's first
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
inline __device__ Step step_of(T0, T0 x, Index) { return Step{A0(promote(x))}; }
inline __device__ void note(Index*, Index, Step) {}
)CUDA";

// How a thread's 16 elements lie: packs of neighbours, where the elements of a row are adjacent, so that a warp reads
// neighbouring packs; else one after the other along the row, so that it reads neighbouring rows.
inline constexpr const char* aligned_elements_text =
    "enum { adjacent_rows = false, aligned = true, vector = 16 / sizeof(T0), packs = 16 / vector };\n";
inline constexpr const char* adjacent_elements_text =
    "enum { adjacent_rows = false, aligned = false, vector = 16 / sizeof(T0), packs = 16 / vector };\n";
inline constexpr const char* adjacent_rows_text =
    "enum { adjacent_rows = true, aligned = false, vector = 16, packs = 1 };\n";

// Threads that share a tile, in the order of its elements: `along` threads, `apart` from each other.
inline constexpr const char* tile_scan_text = R"CUDA(
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

// What all tiles before this one combine to. `total` is this tile's, and `number` that of the block among those that have tiles. Each
// block has `across` rows side by side; this thread's is `column`.
inline __device__ Step before_tile(const ScanTeam& team, const LookBack& p, Index number, int column, Step total, Step* partial) {
  const int across = 256 / team.along, span = team.along < 128 ? team.along : 128;
  const Index group = number / p.tiles, tile = number - group * p.tiles, window = tile / span;
  const Index windows = (p.tiles + span - 1) / span;
  const int in_window = int(tile - window * span);
  if (team.at == 0) post(p.totals, number * across + column, total);
  // One value for each thread: what comes before the window, then the tiles' totals.
  Step earlier = nothing(), of_warp, before;
  if (team.at == 0 && window) earlier = wait_for<Step>(p.starts, (group * windows + window) * across + column);
  if (team.at && team.at <= in_window) earlier = wait_for<Step>(p.totals, (number - in_window + team.at - 1) * across + column);
  team.before_lane(earlier, of_warp);
  team.before_warp(of_warp, partial, before);
  if (team.at == 0 && in_window == span - 1 && window + 1 < windows)
    post(p.starts, (group * windows + window + 1) * across + column, then(before, total));
  return before;
}
)CUDA";

/// The posted words of tiles that `along` threads share, for `groups` blocks that have rows of `tiles` tiles; a step
/// has `words` words.
class TERN_API TilePosts {
 public:
  TilePosts(int ordinal, Index groups, Index tiles, Index along, Index words)
      : tiles_(tiles), totals_(tiles > 1 ? groups * tiles * (256 / along) * words : 0),
        posted_(
            ordinal, tiles > 1,
            tiles > 1 ? totals_ + groups * windows(tiles, std::min<Index>(along, 128)) * (256 / along) * words : 0) {}
  LookBack parameters() const {
    return {.tiles = tiles_, .counter = posted_.counter(0), .totals = posted_.word(0), .starts = posted_.word(totals_)};
  }

 private:
  static Index windows(Index tiles, Index span) { return (tiles + span - 1) / span; }

  Index tiles_, totals_;
  PostedWords posted_;
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
