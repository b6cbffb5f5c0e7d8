// A matrix that many products share, as those of a recurrent layer's steps do: it is packed once.
#pragma once
#include "loops/workspace.hpp"
#include "matmul/blocked_matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// Weights packed as the right operand of products: `depth` rows, and for each group `units` columns. A strip has one
/// group's columns of a block of units. The last strips are one register wide if that is enough.
template <class T>
class PackedWeights {
  using C = compute_t<T>;
  static constexpr int width = matmul_detail::BlockSizes<T>::columns, tall = matmul_detail::BlockSizes<T>::rows,
                       half = width / 2;

 public:
  static constexpr Index spare_rows = tall;  // a product may read so many rows more than it has

  /// Element (l, group, unit) is w[l * down + (group * units + unit) * across].
  PackedWeights(const T* w, Index depth, Index groups, Index units, Index down, Index across)
      : depth_(depth), groups_(groups), units_(units), blocks_((units + width - 1) / width),
        data_(blocks_ * groups * depth * width) {
    detail::parallel_for(blocks_, 16384 / (groups * depth * width + 1) + 1, [&](Index first, Index last) {
      for (Index block = first; block < last; ++block)
        for (Index g = 0; g < groups; ++g) {
          const T* const from = w + (g * units + block * width) * across;
          const Index left = units - block * width;
          if (left <= half) matmul_detail::pack_strip<T, half>(depth, left, from, down, across, strip(block, g));
          else matmul_detail::pack_strip<T, width>(depth, left, from, down, across, strip(block, g));
        }
    });
  }

  /// Calls use(row, unit, count, sums, step) for each row of a [rows, depth] times the weights, by blocks of units:
  /// group g's products of units [unit, unit + count) are at sums + g * step.
  template <class Use>
  void multiply(const C* a, Index rows, const Use& use) const {
    alignas(64) C sums[4 * tall * width];
    for (Index block = 0; block < blocks_; ++block) {
      const Index unit = block * width, count = std::min<Index>(width, units_ - unit);
      const int wide = wide_of(block);
      for (Index row = 0; row < rows;) {
        const int tile = tile_rows(rows - row);
        for (Index g = 0; g < groups_; ++g) {
          const C *const from = a + row * depth_, *const b = strip(block, g);
          C* const to = sums + g * tile * wide;
          if (wide == half) multiply_strip<1>(tile, from, b, to);
          else multiply_strip<2>(tile, from, b, to);
        }
        for (int r = 0; r < tile && row < rows; ++r, ++row) use(row, unit, count, sums + r * wide, Index(tile * wide));
      }
    }
  }

 private:
  int wide_of(Index block) const { return units_ - block * width <= half ? half : width; }
  C* strip(Index block, Index group) const {
    return data_.get() + (block * groups_ * width + group * wide_of(block)) * depth_;
  }

  static int tile_rows(Index left) {
    return left == 1 ? 1 : left <= tall / 3 ? tall / 3 : left <= tall / 3 * 2 ? tall / 3 * 2 : tall;
  }
  template <int registers>
  void multiply_strip(int tile, const C* a, const C* b, C* sums) const {
    if (tile == 1) multiply_rows<1, registers>(a, b, sums);
    else if (tile == tall / 3) multiply_rows<tall / 3, registers>(a, b, sums);
    else if (tile == tall) multiply_rows<tall, registers>(a, b, sums);
    else multiply_rows<tall / 3 * 2, registers>(a, b, sums);
  }
  template <int rows, int registers>
  [[gnu::noinline]] void multiply_rows(const C* a, const C* b, C* sums) const {
    constexpr int columns = registers * half;
    matmul_detail::multiply_tile<C, rows, registers, false>(depth_, a, depth_, 1, b, columns, sums, columns);
  }

  Index depth_, groups_, units_, blocks_;
  Workspace<C> data_;
};

}  // namespace detail::backend
}}  // namespace tern
