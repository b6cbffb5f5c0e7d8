// 3 x 3 convolution by Winograd's F(4x4, 3x3). A tile of 4 x 4 outputs takes 36 products for each pair of channels
// instead of 144 (Lavin, Gray: "Fast algorithms for convolutional neural networks", 2016). Tiles and weights are
// transformed by small matrices on both sides. Between the transforms there are 36 matrix products:
//
//   y = Aᵀ [(G w Gᵀ) ⊙ (Bᵀ x B)] A and dw = Gᵀ [(A dy Aᵀ) ⊙ (Bᵀ x B)] G
//
// dx is the convolution of dy with w rotated by 180 degrees and its channels exchanged. Activations stay channels-last.
// They may be bfloat16; the calculation is in float and rounds once, at the end.
#pragma once
#include <bit>

#include "../../../core/parallel.hpp"
#include "../../../expr/memory.hpp"
#include "../loops/copy.hpp"
#include "../matmul/matmul_sums.hpp"
#include "../loops/workspace.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend { namespace cpu_kernels { namespace winograd {

using V = detail::expr::packet_t<float>;
inline constexpr int points = 36;
/// The register tile of a product: `strip` channels by `rows` Winograd tiles.
inline constexpr Index strip = 2 * V::size;
inline constexpr int rows = matmul_detail::registers == 32 ? 8 : 4;

/// True if this was compiled for instructions with which the algorithm is fast.
#if defined(__FMA__)
inline constexpr bool fast = true;
#else
inline constexpr bool fast = false;
#endif

/// In each dimension, the polynomials of tile and weights are multiplied at 0, ±alpha, ±beta and infinity. Compared
/// with 1 and 2, whose powers lie further apart, these points halve the errors.
inline constexpr float alpha = 0.625, beta = 1.5, alpha2 = alpha * alpha, beta2 = beta * beta;

/// Bᵀ, for a tile of the input. Like the other four, it multiplies one matrix by packets.
struct InputTransform {
  static constexpr int from = 6, to = 6;
  [[gnu::always_inline]] static void apply(const V* x, V* p) {
    const V even_a = x[4] - beta2 * x[2], odd_a = alpha * (x[3] - beta2 * x[1]);
    const V even_b = x[4] - alpha2 * x[2], odd_b = beta * (x[3] - alpha2 * x[1]);
    p[0] = alpha2 * beta2 * x[0] - (alpha2 + beta2) * x[2] + x[4];
    p[1] = even_a + odd_a;
    p[2] = even_a - odd_a;
    p[3] = even_b + odd_b;
    p[4] = even_b - odd_b;
    p[5] = alpha2 * beta2 * x[1] - (alpha2 + beta2) * x[3] + x[5];
  }
};

/// The divisor of the product at each point: the product of the differences from the other points.
inline constexpr double divisor_at_0 = 1 / (double(alpha2) * beta2),
                        divisor_at_alpha = 1 / (2 * double(alpha2) * (alpha2 - beta2)),
                        divisor_at_beta = 1 / (2 * double(beta2) * (beta2 - alpha2));
inline constexpr float at_0 = float(divisor_at_0), at_alpha = float(divisor_at_alpha), at_beta = float(divisor_at_beta);

/// G, for weights. In double, so that a point's weight is rounded once: all images and pixels would share its error.
struct WeightTransform {
  using Double = detail::expr::packet_t<double>;
  static constexpr int from = 3, to = 6;
  [[gnu::always_inline]] static void apply(const Double* w, Double* p) {
    constexpr double a = divisor_at_alpha, b = divisor_at_beta;
    const Double even_a = a * w[0] + a * alpha2 * w[2], odd_a = a * alpha * w[1];
    const Double even_b = b * w[0] + b * beta2 * w[2], odd_b = b * beta * w[1];
    p[0] = divisor_at_0 * w[0];
    p[1] = even_a + odd_a;
    p[2] = even_a - odd_a;
    p[3] = even_b + odd_b;
    p[4] = even_b - odd_b;
    p[5] = w[2];
  }
};

/// Gᵀ, for the weights' gradient.
struct WeightGradientTransform {
  static constexpr int from = 6, to = 3;
  [[gnu::always_inline]] static void apply(const V* p, V* w) {
    const V near = at_alpha * (p[1] + p[2]), far = at_beta * (p[3] + p[4]);
    w[0] = at_0 * p[0] + near + far;
    w[1] = at_alpha * alpha * (p[1] - p[2]) + at_beta * beta * (p[3] - p[4]);
    w[2] = alpha2 * near + beta2 * far + p[5];
  }
};

/// Aᵀ, for a tile of the output.
struct OutputTransform {
  static constexpr int from = 6, to = 4;
  [[gnu::always_inline]] static void apply(const V* p, V* y) {
    const V even_a = p[1] + p[2], odd_a = alpha * (p[1] - p[2]), even_b = p[3] + p[4], odd_b = beta * (p[3] - p[4]);
    y[0] = p[0] + even_a + even_b;
    y[1] = odd_a + odd_b;
    y[2] = alpha2 * even_a + beta2 * even_b;
    y[3] = alpha2 * odd_a + beta2 * odd_b + p[5];
  }
};

/// A, for a tile of the output's gradient.
struct OutputGradientTransform {
  static constexpr int from = 4, to = 6;
  [[gnu::always_inline]] static void apply(const V* y, V* p) {
    const V even_a = y[0] + alpha2 * y[2], odd_a = alpha * (y[1] + alpha2 * y[3]);
    const V even_b = y[0] + beta2 * y[2], odd_b = beta * (y[1] + beta2 * y[3]);
    p[0] = y[0];
    p[1] = even_a + odd_a;
    p[2] = even_a - odd_a;
    p[3] = even_b + odd_b;
    p[4] = even_b - odd_b;
    p[5] = y[3];
  }
};

/// M x Mᵀ for one of these matrices M and packets P. load(i, j) gives x; store(i, j, packet) takes the result.
template <class M, class P = V, class Load, class Store>
[[gnu::always_inline]] inline void on_both_sides(const Load& load, const Store& store) {
  P half[M::from][M::to];
#pragma GCC unroll 6
  for (int i = 0; i < M::from; ++i) {
    P row[M::from];
#pragma GCC unroll 6
    for (int j = 0; j < M::from; ++j) row[j] = load(i, j);
    M::apply(row, half[i]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < M::to; ++j) {
    P column[M::from], done[M::to];
#pragma GCC unroll 6
    for (int i = 0; i < M::from; ++i) column[i] = half[i][j];
    M::apply(column, done);
#pragma GCC unroll 6
    for (int i = 0; i < M::to; ++i) store(i, j, done[i]);
  }
}

/// The sizes of a convolution and of its tiles. Channels are whole packets.
struct TiledConvolution {
  Index images, in, out, size[2], out_size[2], padding[2], tiles[2];

  TiledConvolution(const Array& x, const Array& y, Index top, Index left)
      : images(x.dims[0]), in(x.dims[1]), out(y.dims[1]), padding{top, left} {
    for (int i = 0; i < 2; ++i) size[i] = x.dims[2 + i], out_size[i] = y.dims[2 + i], tiles[i] = (out_size[i] + 3) / 4;
  }
  Index count() const { return images * tiles[0] * tiles[1]; }
};

/// The distance between the matrices of two points. It is a packet longer than a matrix; otherwise all 36 could have
/// addresses a power of two apart, which share few cache lines.
inline Index plane(Index rows_of_it, Index columns) { return rows_of_it * columns + V::size; }

/// Pointers to the Size x Size pixels of a tile. Pixels outside the image point to a row of zeros.
template <int Size, class T>
struct TilePixels {
  const T* pixel[Size][Size];

  TilePixels(const T* images, Index channels, const Index (&size)[2], const Index (&tiles)[2], Index tile, Index top,
             Index left, const T* zeros) {
    const Index image = tile / (tiles[0] * tiles[1]);
    top = tile / tiles[1] % tiles[0] * 4 - top, left = tile % tiles[1] * 4 - left;
    for (Index i = 0; i < Size; ++i)
      for (Index j = 0; j < Size; ++j) {
        const Index row = top + i, column = left + j;
        const bool inside = row >= 0 && row < size[0] && column >= 0 && column < size[1];
        pixel[i][j] = inside ? images + ((image * size[0] + row) * size[1] + column) * channels : zeros;
      }
  }
};

/// Writes a tile's points to row `tile` of 36 matrices [count, channels]. With strips, the columns of these matrices
/// are stored in strips, one after the other. Meanwhile it prefetches the pixels of later tiles, whose order the
/// processor cannot predict.
template <class M, class T>
[[gnu::noinline]] void to_points(const TilePixels<M::from, T>& square, Index channels, Index tile, Index count,
                                 bool strips, float* to) {
  const Index next = plane(count, channels), ahead = std::max<Index>(4 * channels, 16 * V::size);
  for (Index c = 0; c < channels; c += V::size) {
    const Index first = c - c % strip, width = std::min(strip, channels - first);
    for (int i = 0; i < M::from; ++i)
      for (int j = M::from - 4; j < M::from; ++j) __builtin_prefetch(square.pixel[i][j] + c + ahead);
    float* const at = to + (strips ? first * count + tile * width + c - first : tile * channels + c);
    on_both_sides<M>([&](int i, int j)
                         __attribute__((always_inline)) { return detail::expr::load_as<V>(square.pixel[i][j] + c); },
                     [&](int i, int j, V v) __attribute__((always_inline)) { v.store(at + (6 * i + j) * next); });
  }
}

/// How many products are added one after the other; these sums are then added. The output transform cancels most of its
/// terms, so the rounding error of a longer sum would show.
inline constexpr Index sums_at_once = 32;

/// c = a b, or with add c += a b. a is [count, depth], where count is a multiple of `rows`; b is [depth, columns] in
/// strips. Meanwhile it prefetches the next strip.
template <bool add>
[[gnu::noinline]] inline void multiply(Index count, Index columns, Index depth, const float* a, Index a_row,
                                       Index a_col, const float* b, float* c, Index c_row) {
  const Index step = Index(sizeof(float)) * strip * rows / count;
  for (Index j = 0; j < columns; j += strip, b += strip * depth, c += strip) {
    const Index width = std::min(strip, columns - j);
    for (Index first = 0; first < depth; first += sums_at_once) {
      const Index some = std::min(sums_at_once, depth - first);
      const float *at = a + first * a_col, *const block = b + first * width;
      const char* ahead = reinterpret_cast<const char*>(block + strip * depth);
      const auto tile = [&]<int registers, bool more>(float* to) __attribute__((always_inline)) {
        matmul_detail::multiply_tile<float, rows, registers, more>(some, at, a_row, a_col, block, width, to, c_row,
                                                                   ahead, step);
      };
      for (Index i = 0; i < count; i += rows, at += rows * a_row, ahead += step * some) {
        float* const to = c + i * c_row;
        if (width == strip)
          add || first > 0 ? tile.template operator()<2, true>(to) : tile.template operator()<2, false>(to);
        else add || first > 0 ? tile.template operator()<1, true>(to) : tile.template operator()<1, false>(to);
      }
    }
  }
}

/// w [out, 3, 3, in] as 36 matrices [in, out] in strips.
TERN_API void weights_to_points(Index in, Index out, const float* w, float* to);

/// w [out, 3, 3, in] rotated by 180 degrees, as 36 matrices [out, in] in strips.
TERN_API void turned_weights_to_points(Index in, Index out, const float* w, float* to);

/// How many tiles are computed at once: few enough that their points stay in a core's cache and each thread gets some.
TERN_API Index tiles_at_once(const TiledConvolution& s);

/// What a convolution adds to its output; null: nothing. With relu, negative results then become 0.
template <class T>
struct Added {
  const T *bias, *residual;
  bool relu;
};

/// A tile of the output, from its row of 36 matrices [count, out].
template <class T>
[[gnu::noinline]] void to_results(const TiledConvolution& s, Index tile, const float* row, Index next,
                                  const Added<T>& added, T* y) {
  const Index image = tile / (s.tiles[0] * s.tiles[1]);
  const Index top = tile / s.tiles[1] % s.tiles[0] * 4, left = tile % s.tiles[1] * 4;
  const Index first = ((image * s.out_size[0] + top) * s.out_size[1] + left) * s.out;
  const Index down = s.out_size[0] - top, across = s.out_size[1] - left;
  const V least(added.relu ? 0 : -__builtin_inff());
  for (Index k = 0; k < s.out; k += V::size) {
    const V shift = added.bias ? detail::expr::load_as<V>(added.bias + k) : V(0);
    on_both_sides<OutputTransform>([&](int i, int j)
                                       __attribute__((always_inline)) { return V::load(row + (6 * i + j) * next + k); },
                                   [&](int i, int j, V v) __attribute__((always_inline)) {
                                     if (i >= down || j >= across) return;
                                     const Index at = first + (i * s.out_size[1] + j) * s.out + k;
                                     v += shift;
                                     if (added.residual) v += detail::expr::load_as<V>(added.residual + at);
                                     detail::expr::store_as<T>(y + at, where(v < least, least, v));
                                   });
  }
}

/// y from x and the transformed weights.
template <class T>
[[gnu::noinline]] void convolve(const TiledConvolution& s, T* y, const T* x, const float* weights,
                                const Added<T>& added) {
  const Index all = s.count(), at_once = tiles_at_once(s);
  const Index next_in = plane(at_once, s.in), next_out = plane(at_once, s.out), next_weights = plane(s.in, s.out);
  detail::parallel_for(all, at_once, [&](Index begin, Index end) {
    const Workspace<float> scratch(points * (next_in + next_out));
    float *const from = scratch.get(), *const to = from + points * next_in;
    const Workspace<T> zeros(s.in);
    std::fill_n(zeros.get(), s.in, T(0));
    for (; begin < end; begin += at_once) {
      const Index count = std::min(at_once, end - begin), whole = (count + rows - 1) / rows * rows;
      for (Index t = 0; t < whole; ++t)  // rows after the last tile repeat it
        to_points<InputTransform, T>(
            {x, s.in, s.size, s.tiles, begin + std::min(t, count - 1), s.padding[0], s.padding[1], zeros.get()}, s.in,
            t, at_once, false, from);
      for (int p = 0; p < points; ++p)
        multiply<false>(whole, s.out, s.in, from + p * next_in, s.in, 1, weights + p * next_weights, to + p * next_out,
                        s.out);
      for (Index t = 0; t < count; ++t) to_results(s, begin + t, to + t * s.out, next_out, added, y);
    }
  });
}

/// How many tiles one product of the weight gradient sums over.
inline constexpr Index tiles_summed_at_once = 128;

/// The sums [out, in] at each point over the tiles from `first` to `last` of x and y's gradient.
template <class T>
[[gnu::noinline]] void sum_tiles(const TiledConvolution& s, Index first, Index last, const T* x, const T* dy,
                                 float* sums) {
  const Index blocks = (last - first + tiles_summed_at_once - 1) / tiles_summed_at_once;
  const Index at_once = (last - first + blocks - 1) / blocks;
  const Index next_in = plane(at_once, s.in), next_out = plane(at_once, s.out);
  const Workspace<float> scratch(points * (next_in + next_out));
  float *const windows = scratch.get(), *const gradients = windows + points * next_in;
  const Workspace<T> zeros(std::max(s.in, s.out));
  std::fill_n(zeros.get(), std::max(s.in, s.out), T(0));
  for (Index at = first; at < last; at += at_once) {
    const Index count = std::min(at_once, last - at);
    detail::parallel_for(count, 4, [&](Index begin, Index end) {
      for (Index t = begin; t < end; ++t) {
        to_points<InputTransform, T>({x, s.in, s.size, s.tiles, at + t, s.padding[0], s.padding[1], zeros.get()}, s.in,
                                     t, count, true, windows);
        to_points<OutputGradientTransform, T>({dy, s.out, s.out_size, s.tiles, at + t, 0, 0, zeros.get()}, s.out, t,
                                              count, false, gradients);
      }
    });
    detail::parallel_for(points, 1, [&](Index begin, Index end) {
      for (Index p = begin; p < end; ++p) {
        const float *const a = gradients + p * plane(count, s.out), *const b = windows + p * plane(count, s.in);
        (at == first ? multiply<false> : multiply<true>)(s.out, s.in, count, a, 1, s.out, b,
                                                         sums + p * plane(s.out, s.in), s.in);
      }
    });
  }
}

/// Into how many parts the tiles are split. Each part is summed by one thread, because data that another core has
/// written is slow to read. It is a power of two, so that threads get equal shares. With few tiles or large sums it is
/// one part, which all threads share.
inline Index parts_of_sums(const TiledConvolution& s) {
  const Index fit = (Index(1) << 24) / (Index(sizeof(float)) * points * s.in * s.out);
  const Index most = std::min({Index(32), fit, s.count() / (2 * tiles_summed_at_once)});
  return fit < 4 || most < 2 ? 1 : Index(std::bit_floor(std::uint64_t(most)));
}

/// dw [out, 3, 3, in] from x and y's gradient.
template <class T>
[[gnu::noinline]] void convolve_weight_gradient(const TiledConvolution& s, float* dw, const T* x, const T* dy) {
  const Index all = s.count(), parts = parts_of_sums(s), next = plane(s.out, s.in), next_part = points * next;
  const Workspace<float> sums(parts * next_part);
  detail::parallel_for(parts, 1, [&](Index begin, Index end) {
    for (Index part = begin; part < end; ++part)
      sum_tiles(s, all * part / parts, all * (part + 1) / parts, x, dy, sums.get() + part * next_part);
  });
  detail::parallel_for(s.out, std::max<Index>(1, 4096 / s.in), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k)
      for (Index c = 0; c < s.in; c += V::size)
        on_both_sides<WeightGradientTransform>(
            [&](int i, int j) __attribute__((always_inline)) {
              const float* const at = sums.get() + (6 * i + j) * next + k * s.in + c;
              V sum = V::load(at);
              for (Index part = 1; part < parts; ++part) sum += V::load(at + part * next_part);
              return sum;
            },
            [&](int i, int j, V v) __attribute__((always_inline)) { v.store(dw + (k * 9 + 3 * i + j) * s.in + c); });
  });
}

}  // namespace winograd
}  // namespace cpu_kernels
}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "winograd.ipp"
#endif
