// What a reduction does around its loops: merged dimensions, the choice between rows reduced along and rows reduced
// across, pieces for threads and for precision, strides and tails. Compiled once for all kernels.
#pragma once
#include <cstring>

#include "loops.hpp"
#include "scratch.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend::cpu {

/// A reduction as the driver sees it. Partial results are arrays of whole packets; input k advances by step[k] bytes a
/// packet.
struct ReduceKernel {
  /// Combines n elements of one row into the packet acc. Lanes beyond the end are read, but not used.
  void (*inner)(const void* f, char* acc, const char* const* in, const int* step, Index n);
  /// Combines n elements (whole packets) of each of `rows` rows, row[k] bytes apart, into acc.
  void (*outer)(const void* f, char* acc, const char* const* in, const int* step, const Index* row, Index rows,
                Index n);
  void (*reset)(char* acc, Index n);
  void (*merge)(char* acc, const char* other, Index n);
  /// `count` packets, each to one number, dense.
  void (*fold)(char* acc, Index count);
  void (*finish)(const void* g, char* out, const char* acc, Index n);
  const void* f;
  const void* g;
  int packet;  // elements a packet
  int inputs;
  int acc_bytes, out_bytes;  // bytes an element
  int in_bytes[max_inputs];
};

/// The dimensions of a reduction in memory order, neighbours of one kind that are evenly spaced merged into one.
struct ReduceLoops : Loops {
  bool reduced[max_dims];

  ReduceLoops(const ReduceKernel& kernel, const Array* const* in, const Shape& shape, unsigned mask) {
    const int operands = kernel.inputs + 1;
    Index by[max_dims][max_inputs + 1], out_stride = kernel.out_bytes;
    int order[max_dims], used = 0;  // from the innermost on
    for (int i = shape.n; i-- > 0;) {
      for (int k = 0; k < kernel.inputs; ++k) {
        const int j = i - (shape.n - in[k]->ndim);
        by[i][k] = j < 0 || in[k]->dims[j] == 1 ? 0 : in[k]->strides[j] * kernel.in_bytes[k];
      }
      by[i][kernel.inputs] = mask >> i & 1 ? 0 : out_stride;
      if (!(mask >> i & 1)) out_stride *= shape[i];
      if (shape[i] == 1) continue;
      int at = used++;
      for (; at > 0 && inside(by[order[at - 1]], by[i], kernel.inputs); --at) order[at] = order[at - 1];
      order[at] = i;
    }
    while (used-- > 0) {
      const int i = order[used];
      const bool kind = mask >> i & 1;
      if (n > 0 && reduced[n - 1] == kind && extend(shape[i], by[i], operands)) continue;
      reduced[n] = kind;
      add(shape[i], by[i], operands);
    }
    if (n > 0) return;
    static constexpr Index still[max_inputs + 1] = {};
    reduced[0] = true;
    add(1, still, operands);
  }

 private:
  /// True if a dimension with strides b belongs inside one with strides a: the first input that has both decides.
  static bool inside(const Index* a, const Index* b, int inputs) {
    for (int k = 0; k < inputs; ++k)
      if (a[k] && b[k]) return b[k] < a[k];
    return false;
  }
};

class Reducer {
 public:
  Reducer(const ReduceKernel& kernel, const Array& out, const Array* const* in, const Shape& shape, unsigned mask)
      : kernel_(kernel), out_(out.data), operands_(kernel.inputs + 1) {
    const ReduceLoops all(kernel, in, shape, mask);
    const int last = all.n - 1;
    for (int i = 0; i < last; ++i) (all.reduced[i] ? reduced_ : kept_).add(all.size[i], all.stride[i], operands_);
    along_ = all.reduced[last];
    length_ = all.size[last];
    for (int k = 0; k < operands_; ++k) column_[k] = all.stride[last][k];
    if (along_ && length_ < short_row && kept_.n > 0) {
      reduced_.add(length_, column_, operands_);
      length_ = kept_.remove(column_, operands_);
      along_ = false;
    }
    direct_ = true;
    for (int k = 0; k < kernel.inputs; ++k) {
      in_[k] = in[k]->data;
      end_[k] = is_dense(*in[k]) ? in[k]->data + in[k]->numel * kernel.in_bytes[k] : nullptr;
      step_[k] = column_[k] ? kernel.packet * kernel.in_bytes[k] : 0;
      direct_ = direct_ && column_[k] == kernel.in_bytes[k];
    }
  }

  void run() const {
    if (along_)
      reduce_along();
    else
      reduce_across();
  }

 private:
  // Elements added up one after the other; more are added as a tree of such sums. The same for rows.
  static constexpr Index segment = 16384, segment_rows = 128;
  static constexpr Index short_row = 32;    // shorter rows are not worth a packet: reduced across, gathered
  static constexpr Index group = 64;        // results finished together
  static constexpr Index acc_tile = 16384;  // bytes of sums across rows
  static constexpr Index gather_columns = 128, gather_rows = 4;

  struct Pointers {
    const char* in[max_inputs + 1];
    void advance(const Index* by, Index times, int inputs) {
      for (int k = 0; k < inputs; ++k) in[k] += by[k] * times;
    }
  };

  Index packets(Index n) const { return (n + kernel_.packet - 1) / kernel_.packet * kernel_.packet; }
  int packet_bytes() const { return kernel_.packet * kernel_.acc_bytes; }

  Pointers row_pointers(const Index* offset) const {
    Pointers p;
    for (int k = 0; k < kernel_.inputs; ++k) p.in[k] = in_[k] + offset[k];
    return p;
  }

  /// All partial results to the first: a tree, so that rounding errors grow with the logarithm of their number.
  void merge_all(char* acc, Index count, Index width) const {
    while (count > 1) {
      const Index half = (count + 1) / 2;
      kernel_.merge(acc, acc + half * width * kernel_.acc_bytes, (count - half) * width);
      count = half;
    }
  }

  // ---- the innermost dimension is reduced ----

  void reduce_along() const {
    const Index total = length_ * reduced_.count;
    // A segment is a piece of a row, or several rows.
    const Index pieces = (length_ + segment - 1) / segment;
    const Index rows = length_ < segment ? segment / length_ : 1;
    const Index segments = pieces > 1 ? reduced_.count * pieces : (reduced_.count + rows - 1) / rows;
    if (segments == 1) {
      parallel_for(kept_.count, 2 * segment / total + 1, [&](Index first, Index last) {
        for (Index i = first; i < last; i += group) along_group(i, last - i < group ? last - i : group);
      });
      return;
    }
    const Scratch<char> scratch(segments * kept_.count * packet_bytes());
    char* const acc = scratch.get();
    parallel_for(segments * kept_.count, 2, [&](Index first, Index last) {
      for (Index item = first; item < last; ++item) {
        const Index s = item / kept_.count;
        Index offset[max_inputs + 1] = {};
        kept_.offset(item % kept_.count, offset, operands_);
        char* const a = acc + item * packet_bytes();
        kernel_.reset(a, kernel_.packet);
        if (pieces > 1)
          along_rows(a, offset, s / pieces, s / pieces + 1, s % pieces * segment);
        else
          along_rows(a, offset, s * rows, s * rows + rows < reduced_.count ? s * rows + rows : reduced_.count, 0);
      }
    });
    merge_all(acc, segments, kept_.count * kernel_.packet);
    for (Index i = 0; i < kept_.count; i += group)
      finish_along(acc + i * packet_bytes(), i, kept_.count - i < group ? kept_.count - i : group);
  }

  void along_group(Index first, Index count) const {
    alignas(64) char acc[group * max_packet * 8];
    kernel_.reset(acc, count * kernel_.packet);
    for (Index i = 0; i < count; ++i) {
      Index offset[max_inputs + 1] = {};
      kept_.offset(first + i, offset, operands_);
      along_rows(acc + i * packet_bytes(), offset, 0, reduced_.count, 0);
    }
    finish_along(acc, first, count);
  }

  void finish_along(char* acc, Index first, Index count) const {
    alignas(64) char result[group * 8];
    kernel_.fold(acc, count);
    kernel_.finish(kernel_.g, result, acc, count);
    for (Index i = 0; i < count; ++i) {
      Index offset[max_inputs + 1] = {};
      kept_.offset(first + i, offset, operands_);
      std::memcpy(out_ + offset[kernel_.inputs], result + i * kernel_.out_bytes, std::size_t(kernel_.out_bytes));
    }
  }

  /// Rows [first, last) of the reduced loops, from column `begin` a segment's length on.
  void along_rows(char* acc, const Index* base, Index first, Index last, Index begin) const {
    const Index n = length_ - begin < segment ? length_ - begin : segment;
    for (Index row = first; row < last; ++row) {
      Index offset[max_inputs + 1];
      for (int k = 0; k < kernel_.inputs; ++k) offset[k] = base[k] + begin * column_[k];
      reduced_.offset(row, offset, kernel_.inputs);
      Pointers p = row_pointers(offset);
      if (direct_) {
        along_row(acc, p, n);
        continue;
      }
      for (Index at = 0; at < n; at += gather_columns) {
        const Index count = n - at < gather_columns ? n - at : gather_columns;
        Tile tile;
        gather(tile, p, column_, 1, count);
        kernel_.inner(kernel_.f, acc, tile.p.in, step_, count);
        p.advance(column_, count, kernel_.inputs);
      }
    }
  }

  /// A row whose elements lie one after the other.
  void along_row(char* acc, Pointers p, Index n) const {
    bool safe = true;  // the last packet reads no further than the tensor goes
    for (int k = 0; k < kernel_.inputs; ++k)
      safe = safe && end_[k] && p.in[k] + packets(n) * kernel_.in_bytes[k] <= end_[k];
    const Index whole = safe ? n : n - n % kernel_.packet;
    if (whole) kernel_.inner(kernel_.f, acc, p.in, step_, whole);
    if (whole == n) return;
    p.advance(column_, whole, kernel_.inputs);
    Tile tile;
    gather(tile, p, column_, 1, n - whole);
    kernel_.inner(kernel_.f, acc, tile.p.in, step_, n - whole);
  }

  // ---- the innermost dimension is kept ----

  void reduce_across() const {
    const Index tile = acc_tile / kernel_.acc_bytes, tiles = (length_ + tile - 1) / tile, width = packets(length_);
    const Index segments = (reduced_.count + segment_rows - 1) / segment_rows, blocks = kept_.count * tiles;
    if (segments == 1) {
      const Index work = reduced_.count * (length_ < tile ? length_ : tile);
      parallel_for(blocks, 2 * segment / work + 1, [&](Index first, Index last) {
        alignas(64) char acc[acc_tile];
        for (Index block = first; block < last; ++block) {
          const Index begin = block % tiles * tile, n = length_ - begin < tile ? length_ - begin : tile;
          across_rows(acc, block / tiles, begin, n, 0, reduced_.count);
          finish_across(acc, block / tiles, begin, n);
        }
      });
      return;
    }
    const Scratch<char> scratch(segments * kept_.count * width * kernel_.acc_bytes);
    char* const acc = scratch.get();
    const Index work = segment_rows * (length_ < tile ? length_ : tile);
    parallel_for(segments * blocks, 2 * segment / work + 1, [&](Index first, Index last) {
      for (Index item = first; item < last; ++item) {
        const Index s = item / blocks, block = item % blocks, kept = block / tiles;
        const Index begin = block % tiles * tile, n = length_ - begin < tile ? length_ - begin : tile;
        const Index last_row = (s + 1) * segment_rows < reduced_.count ? (s + 1) * segment_rows : reduced_.count;
        across_rows(acc + ((s * kept_.count + kept) * width + begin) * kernel_.acc_bytes, kept, begin, n,
                    s * segment_rows, last_row);
      }
    });
    merge_all(acc, segments, kept_.count * width);
    for (Index kept = 0; kept < kept_.count; ++kept)
      for (Index begin = 0; begin < length_; begin += tile)
        finish_across(acc + (kept * width + begin) * kernel_.acc_bytes, kept, begin,
                      length_ - begin < tile ? length_ - begin : tile);
  }

  void finish_across(const char* acc, Index kept, Index begin, Index n) const {
    Index offset[max_inputs + 1] = {};
    kept_.offset(kept, offset, operands_);
    const Index stride = column_[kernel_.inputs];
    char* const out = out_ + offset[kernel_.inputs] + begin * stride;
    if (stride == kernel_.out_bytes || n == 1) return kernel_.finish(kernel_.g, out, acc, n);
    alignas(64) char result[group * 8];
    for (Index i = 0; i < n; i += group) {
      const Index count = n - i < group ? n - i : group;
      kernel_.finish(kernel_.g, result, acc + i * kernel_.acc_bytes, count);
      scatter_run(out + i * stride, result, stride, kernel_.out_bytes, count);
    }
  }

  /// Columns [begin, begin + n) of the rows [first, last) of the reduced loops, into acc.
  void across_rows(char* acc, Index kept, Index begin, Index n, Index first, Index last) const {
    kernel_.reset(acc, packets(n));
    Index base[max_inputs + 1] = {};
    kept_.offset(kept, base, operands_);
    for (int k = 0; k < kernel_.inputs; ++k) base[k] += begin * column_[k];
    const Index inner = reduced_.n ? reduced_.size[reduced_.n - 1] : 1;
    static constexpr Index still[max_inputs + 1] = {};
    const Index* const row = reduced_.n ? reduced_.stride[reduced_.n - 1] : still;
    for (Index at = first; at < last;) {
      // As many rows as are evenly spaced.
      const Index left = inner - at % inner, rows = last - at < left ? last - at : left;
      Index offset[max_inputs + 1];
      for (int k = 0; k < kernel_.inputs; ++k) offset[k] = base[k];
      reduced_.offset(at, offset, kernel_.inputs);
      const Pointers p = row_pointers(offset);
      if (direct_)
        across_direct(acc, p, row, rows, n);
      else
        across_gathered(acc, p, row, rows, n);
      at += rows;
    }
  }

  void across_direct(char* acc, Pointers p, const Index* row, Index rows, Index n) const {
    const Index whole = n - n % kernel_.packet;
    if (whole) kernel_.outer(kernel_.f, acc, p.in, step_, row, rows, whole);
    if (whole == n) return;
    acc += whole * kernel_.acc_bytes;
    p.advance(column_, whole, kernel_.inputs);
    Index safe = rows;  // rows whose last packet reads no further than the tensor goes
    for (int k = 0; k < kernel_.inputs; ++k) {
      const Index room = end_[k] ? end_[k] - p.in[k] - step_[k] : -1;
      const Index fit = room < 0 ? 0 : row[k] > 0 ? room / row[k] + 1 : rows;
      if (fit < safe) safe = fit;
    }
    if (safe) kernel_.outer(kernel_.f, acc, p.in, step_, row, safe, kernel_.packet);
    p.advance(row, safe, kernel_.inputs);
    across_gathered(acc, p, row, rows - safe, n - whole);
  }

  void across_gathered(char* acc, Pointers p, const Index* row, Index rows, Index n) const {
    for (Index r = 0; r < rows; r += gather_rows) {
      const Index height = rows - r < gather_rows ? rows - r : gather_rows;
      Pointers q = p;
      for (Index at = 0; at < n; at += gather_columns) {
        const Index count = n - at < gather_columns ? n - at : gather_columns;
        Tile tile;
        gather(tile, q, row, height, count);
        kernel_.outer(kernel_.f, acc + at * kernel_.acc_bytes, tile.p.in, step_, tile.row, height, packets(count));
        q.advance(column_, count, kernel_.inputs);
      }
      p.advance(row, height, kernel_.inputs);
    }
  }

  /// rows x n elements of every input, dense and padded to whole packets, or one packet of equal values.
  struct Tile {
    alignas(64) char buffer[max_inputs][gather_rows * gather_columns * 8];
    Pointers p;
    Index row[max_inputs];
  };
  [[gnu::noinline]] void gather(Tile& tile, const Pointers& p, const Index* row, Index rows, Index n) const {
    for (int k = 0; k < kernel_.inputs; ++k) {
      const int bytes = kernel_.in_bytes[k];
      tile.p.in[k] = tile.buffer[k];
      tile.row[k] = (column_[k] ? packets(n) : kernel_.packet) * bytes;
      for (Index r = 0; r < rows; ++r) {
        char* const to = tile.buffer[k] + r * tile.row[k];
        const char* const from = p.in[k] + r * row[k];
        if (!column_[k]) {
          splat(to, from, bytes);
          continue;
        }
        gather_run(to, from, column_[k], bytes, n);
        gather_run(to + n * bytes, from, 0, bytes, packets(n) - n);  // some valid value
      }
    }
  }

  const ReduceKernel& kernel_;
  char* out_;
  int operands_;
  const char* in_[max_inputs];
  const char* end_[max_inputs];  // of a dense input's memory: up to there lanes beyond a row's end may be read
  bool along_;                   // the innermost dimension is reduced
  bool direct_;                  // every input is dense along it
  Index length_, column_[max_inputs + 1];
  int step_[max_inputs];
  Loops kept_, reduced_;  // around it
};

[[gnu::noinline]] inline void run_reduce(const ReduceKernel& kernel, const Array& out, const Array* const* in,
                                         const Shape& shape, unsigned mask) {
  if (out.numel == 0) return;
  if (shape.numel() != 0) return Reducer(kernel, out, in, shape, mask).run();
  alignas(64) char acc[max_packet * 8];
  kernel.reset(acc, kernel.packet);
  for (Index i = 0; i < out.numel; i += kernel.packet)
    kernel.finish(kernel.g, out.data + i * kernel.out_bytes, acc,
                  out.numel - i < kernel.packet ? out.numel - i : kernel.packet);
}

}  // namespace backend::cpu
}  // namespace TERN_ISA
}  // namespace tern
