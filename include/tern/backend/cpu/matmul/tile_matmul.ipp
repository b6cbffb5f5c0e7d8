// The functions of tile_matmul.hpp that are not templates.
#pragma once
#include "../onednn/onednn.hpp"
#include "tile_matmul.hpp"
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::matmul_detail {

#if defined(__x86_64__) && defined(__linux__)
#define TERN_TILES __attribute__((target("amx-tile,amx-bf16")))

/// Linux gives a process the registers of tiles, 8 KB for each thread, only if it asks.
TERN_COLD bool ask_for_tiles() {
  constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  constexpr unsigned bfloat16_bit = 1u << 22, tiles_bit = 1u << 24, both = bfloat16_bit | tiles_bit;
  unsigned a, b, c, features = 0;  // clang 16 has no name for them
  const bool there = __get_cpuid_count(7, 0, &a, &b, &c, &features) && (features & both) == both;
  return there && detail::onednn::has_bfloat16() && syscall(SYS_arch_prctl, request, tile_data) == 0;
}

/// While alive, this thread's tiles are 16 rows of 64 bytes. Then they are as before: oneDNN 3 takes for granted what
/// it left.
class TileRegisters {
 public:
  TERN_TILES TileRegisters() {
    static constexpr Shapes shapes;
    asm volatile("sttilecfg %0\n ldtilecfg %1" : "=m"(before_) : "m"(shapes));
  }
  TERN_TILES ~TileRegisters() { asm volatile("ldtilecfg %0" : : "m"(before_)); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;

 private:
  struct alignas(64) Shapes {
    std::uint8_t palette = 1, start = 0, none[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  Shapes before_;
};

/// Tiles that lie one behind the other along the products, and how far behind them those of the next 16 lines begin.
struct TileLines {
  const std::uint32_t* first;
  Index next;
};

/// sums, or with add sums +, = the products of R tiles of rows with C of columns, `steps` tiles deep. Rows of sums are
/// `row` bytes apart.
template <int R, int C>
[[gnu::noinline]] TERN_TILES void multiply_tiles(Index steps, TileLines a, TileLines b, bool add, float* sums,
                                                 Index row) {
  const std::uint32_t *const a2 = a.first + a.next, *const b2 = b.first + b.next;
  float* const lower = sums + tile_lines * row / Index(sizeof(float));
  const Index tile_row = 64;
  if (add) {
    asm volatile("tileloadd (%0,%1,1), %%tmm0\n tileloadd 64(%0,%1,1), %%tmm1" : : "r"(sums), "r"(row) : "memory");
    asm volatile("tileloadd (%0,%1,1), %%tmm2\n tileloadd 64(%0,%1,1), %%tmm3" : : "r"(lower), "r"(row) : "memory");
  } else {
    asm volatile("tilezero %tmm0\n tilezero %tmm1\n tilezero %tmm2\n tilezero %tmm3");
  }
  for (Index l = 0; l < steps * tile_pairs; l += tile_pairs) {
    asm volatile("tileloadd (%0,%2,1), %%tmm4\n tileloadd (%1,%2,1), %%tmm6\n tdpbf16ps %%tmm6, %%tmm4, %%tmm0"
                 :
                 : "r"(a.first + l), "r"(b.first + l), "r"(tile_row)
                 : "memory");
    if constexpr (C == 2)
      asm volatile("tileloadd (%0,%1,1), %%tmm7\n tdpbf16ps %%tmm7, %%tmm4, %%tmm1"
                   :
                   : "r"(b2 + l), "r"(tile_row)
                   : "memory");
    if constexpr (R == 2)
      asm volatile("tileloadd (%0,%1,1), %%tmm5\n tdpbf16ps %%tmm6, %%tmm5, %%tmm2"
                   :
                   : "r"(a2 + l), "r"(tile_row)
                   : "memory");
    if constexpr (R == 2 && C == 2) asm volatile("tdpbf16ps %tmm7, %tmm5, %tmm3");
  }
  asm volatile("tilestored %%tmm0, (%0,%1,1)\n tilestored %%tmm1, 64(%0,%1,1)" : : "r"(sums), "r"(row) : "memory");
  asm volatile("tilestored %%tmm2, (%0,%1,1)\n tilestored %%tmm3, 64(%0,%1,1)" : : "r"(lower), "r"(row) : "memory");
}

/// multiply_tiles for one or two tiles of rows, and of columns.
TERN_INLINE auto tiles_of(bool tall, bool wide) {
  return tall ? wide ? multiply_tiles<2, 2> : multiply_tiles<2, 1> : wide ? multiply_tiles<1, 2> : multiply_tiles<1, 1>;
}

/// A square of 16 x 16 pairs, rows and columns exchanged.
TERN_INLINE void transpose_pairs(std::uint32_t* to, const void* from, Index from_row) {
  constexpr Index n = detail::expr::packet_bytes / 4;
  for (Index i = 0; i < tile_lines; i += n)
    for (Index j = 0; j < tile_lines; j += n)
      cpu_kernels::transpose_square<detail::expr::vector_t<std::int32_t, n>, false>(
          reinterpret_cast<char*>(to + i * tile_lines + j), 64, static_cast<const char*>(from) + j * from_row + i * 4,
          from_row, std::make_index_sequence<n>());
}

/// Packs lines of an operand, `across` apart, whose elements are `along` apart, as a tile: its rows are lines, or with
/// `columns` its columns. Zeros take the place of what is not there.
TERN_INLINE void pack_tile(const bfloat16* from, Index lines, Index depth, Index across, Index along, bool columns,
                           std::uint32_t* to) {
  const bool whole = lines >= tile_lines && depth >= tile_depth;
  if (whole && along == 1) {  // lines of pairs
    if (columns) transpose_pairs(to, from, across * 2);
    else
      for (Index i = 0; i < tile_lines; ++i) std::memcpy(to + i * tile_lines, from + i * across, 64);
    return;
  }
  alignas(64) std::uint32_t square[tile_pairs];
  std::uint32_t* const pairs = columns ? to : square;  // [pair, line]
  for (Index l = 0; l < tile_depth; l += 2) {
    const bfloat16* const low = from + l * along;
    std::uint32_t* const row = pairs + l / 2 * tile_lines;
    if (lines >= tile_lines && across == 1) {
      constexpr int n = detail::expr::packet_bytes / 4;
      for (Index i = 0; i < tile_lines; i += n) {
        detail::expr::vector_t<std::uint16_t, n> first{}, second{};
        if (l < depth) std::memcpy(&first, low + i, sizeof first);
        if (l + 1 < depth) std::memcpy(&second, low + along + i, sizeof second);
        const auto both = detail::expr::detail::widen_bits<n>(first) | detail::expr::detail::widen_bits<n>(second)
                                                                           << 16;
        std::memcpy(row + i, &both, sizeof both);
      }
      continue;
    }
    for (Index i = 0; i < tile_lines; ++i) {
      const auto bits = [&](Index at) {
        std::uint16_t value = 0;
        if (i < lines && l + at < depth) std::memcpy(&value, low + at * along + i * across, 2);
        return std::uint32_t(value);
      };
      row[i] = bits(0) | bits(1) << 16;
    }
  }
  if (!columns) transpose_pairs(to, square, 64);
}

/// Packs tiles of lines from `first` to `last`, one behind the other.
TERN_INLINE void pack_tiles(const StridedMatrix<bfloat16>& m, Index first, Index last, bool columns,
                            std::uint32_t* to) {
  const Index across = columns ? m.column : m.row, along = columns ? m.row : m.column,
              depth = columns ? m.rows : m.columns;
  for (Index i = first; i < last; i += tile_lines)
    for (Index l = 0; l < depth; l += tile_depth, to += tile_pairs)
      pack_tile(m.data + i * across + l * along, last - i, depth - l, across, along, columns, to);
}

/// Rows from `top` to `bottom` of c, and columns from `left` to `right`. A panel of b stays in the second-level cache,
/// and 16 tiles of two blocks of rows, which all of its columns use, in the first-level cache.
TERN_INLINE void multiply_part(const TileProduct& p, Index top, Index bottom, Index left, Index right) {
  constexpr Index block = 2 * tile_lines, panel = 1 << 18, most_steps = 16, deepest_steps = deepest / tile_depth;
  const Index steps = strips_of(p.k(), tile_depth), size = steps * tile_pairs;
  const Index blocks = std::max<Index>(8, panel / (2 * size)),
              width = std::min(blocks, strips_of(right - left, block)) * block;
  const Workspace<std::uint32_t> packed((width / tile_lines + 2) * size);
  const bool deep = steps > deepest_steps;
  const Workspace<float> all_sums(block * width);
  const Workspace<double> totals(deep ? block * width : 1);
  std::uint32_t *const a = packed.get(), *const b = a + 2 * size;
  const TileRegisters tiles;
  for (Index first = left; first < right; first += width) {
    const Index last = std::min(right, first + width);
    pack_tiles(p.b, first, last, true, b);
    for (Index i = top; i < bottom; i += block) {
      const Index rows = std::min(block, bottom - i);
      pack_tiles(p.a, i, i + rows, false, a);
      if (deep) std::fill_n(totals.get(), block * width, 0.);
      for (Index l = 0; l < steps; l += most_steps) {
        for (Index j = first; j < last; j += block) {
          const TileLines from_a{a + l * tile_pairs, size},
              from_b{b + (j - first) / tile_lines * size + l * tile_pairs, size};
          const bool add = l % deepest_steps > 0;
          tiles_of(rows > tile_lines, last - j > tile_lines)(std::min(most_steps, steps - l), from_a, from_b, add,
                                                             all_sums.get() + j - first, width * Index(sizeof(float)));
        }
        const Index done = l + most_steps;
        if (deep && (done >= steps || done % deepest_steps == 0))
          for (Index k = 0; k < block * width; ++k) totals.get()[k] += double(all_sums.get()[k]);
      }
      for (Index k = 0; deep && k < block * width; ++k) all_sums.get()[k] = float(totals.get()[k]);
      for (Index r = 0; r < rows; ++r)
        store(p, i + r, first, last - first, static_cast<const float*>(all_sums.get() + r * width));
    }
  }
}

TERN_INLINE bool has_tiles() {
  static const bool allowed = ask_for_tiles();
  return allowed;
}

TERN_INLINE void tile_matmul(const TileProduct& p) {
  constexpr Index block = 2 * tile_lines;
  const detail::ThreadLease lease(useful_threads(p));
  const Index high = strips_of(p.m(), block), wide = strips_of(p.n(), block);
  const MatmulGrid g = best_grid(high, wide, block, block, lease.count());
  detail::parallel_for(g.down * g.across, 1, [&](Index first, Index last) {
    for (Index t = first; t < last; ++t) {
      const Index row = t / g.across, column = t % g.across;
      multiply_part(p, row * high / g.down * block, std::min(p.m(), (row + 1) * high / g.down * block),
                    column * wide / g.across * block, std::min(p.n(), (column + 1) * wide / g.across * block));
    }
  });
}
#undef TERN_TILES

#else

TERN_INLINE bool has_tiles() { return false; }
TERN_INLINE void tile_matmul(const TileProduct&) {}

#endif

}}}  // namespace tern::detail::backend::matmul_detail
