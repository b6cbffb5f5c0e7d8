// What a reduction does around its loops: merged dimensions, the choice between rows reduced along and rows reduced
// across, pieces for threads and for precision, strides and tails. Compiled once for all kernels.
#pragma once
#include <algorithm>
#include <cstring>

#include "map.hpp"
#include "workspace.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cpu_kernels {

/// A reduction as the driver sees it: a constant for each function and types. Partial results are arrays of whole
/// packets; input k advances by step[k] bytes a packet.
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
  int packet;  // elements a packet
  int inputs;
  int acc_bytes, out_bytes;  // bytes an element
  int in_bytes[max_inputs];
};

/// The dimensions of a reduction in memory order, neighbours of one kind that are evenly spaced merged into one.
/// Strides are in bytes, of each input and, last, the output.
struct TERN_API ReduceLoops : LoopNest {
  bool reduced[max_dims];

  ReduceLoops(const ReduceKernel& kernel, const Array* const* in, const Shape& shape, unsigned mask);

 private:
  /// True if a dimension with strides b belongs inside one with strides a: the first input that has both decides.
  static bool inside(const Index* a, const Index* b, int inputs) {
    for (int k = 0; k < inputs; ++k)
      if (a[k] && b[k]) return b[k] < a[k];
    return false;
  }
};

/// One reduction. Its elements are rows: the innermost dimension, which is reduced itself ("along") or kept ("across").
/// An item of work is a block of results, from a segment of what is reduced to them; both depend on the shape alone.
class TERN_API Reducer {
 public:
  /// f and g: what the kernel's functions capture.
  Reducer(const ReduceKernel& kernel, const void* f, const void* g, const Array& out, const Array* const* in, const Shape& shape,
          unsigned mask);

  void run() const;

 private:
  // Elements added up one after the other; more are added as a tree of such sums. The same for rows.
  static constexpr Index segment = 16384, segment_rows = 128;
  static constexpr Index short_row = 32;     // shorter rows are not worth a packet: reduced across, gathered
  static constexpr Index group = 64;         // results along rows that are finished together
  static constexpr Index acc_bytes = 16384;  // of the sums across rows
  static constexpr Index gather_columns = 128, gather_rows = 4;

  struct Pointers {
    const char* in[max_inputs + 1];
    void advance(const Index* by, Index times, int inputs) {
      for (int k = 0; k < inputs; ++k) in[k] += by[k] * times;
    }
  };
  /// A block's results, and where they are.
  struct Block {
    Index kept, count;     // positions of the kept loops: along as many as are results, across one
    Index begin, columns;  // across: of the row
  };

  /// Most reductions are small: a division takes as long as the rest of it.
  static Index pieces(Index n, Index size) { return n <= size ? 1 : (n + size - 1) / size; }
  Index packets(Index n) const { return (n + kernel_.packet - 1) / kernel_.packet * kernel_.packet; }
  int packet_bytes() const { return kernel_.packet * kernel_.acc_bytes; }

  Block block(Index b) const {
    if (along_) return {b * group_, std::min(group_, kept_.count() - b * group_), 0, length_};
    const Index begin = b % chunks_ * chunk_;
    return {b / chunks_, 1, begin, std::min(chunk_, length_ - begin)};
  }

  /// What a segment has for a block, into acc.
  void reduce(char* acc, Index b, Index s) const;

  /// Runs a loop over rows, and moves p behind them.
  void call(char* acc, Pointers& p, const Index* row, Index rows, Index n) const;

  void reduce_direct(char* acc, Pointers& p, const Index* row, Index rows, Index n) const;

  void reduce_gathered(char* acc, Pointers& p, const Index* row, Index rows, Index n) const;

  /// rows x n elements of every input, dense and padded with zeros to whole packets, or one packet of equal values.
  struct Tile {
    alignas(64) char buffer[max_inputs][gather_rows * gather_columns * 8];
    Pointers p;
    Index row[max_inputs];
  };
  void gather(Tile& tile, const Pointers& p, const Index* row, Index rows, Index n) const;

  void finish(char* acc, Index b) const;

  /// Results to the places of the kept positions from `first` on.
  void scatter(Index first, Index count, const char* result) const;

  const ReduceKernel& kernel_;
  const void *f_, *g_;
  char* out_;
  const char* in_[max_inputs];
  const char* end_[max_inputs];  // of an input's last element: up to there lanes beyond a row's end may be read
  bool along_;                   // the innermost dimension is reduced
  bool direct_;                  // every input is dense along it
  Index length_, column_[max_inputs + 1];
  int step_[max_inputs];
  LoopNest kept_, reduced_;      // around it
  Index chunk_, chunks_;         // columns of a row in one item
  Index rows_, segments_;        // reduced rows in one item
  Index group_, blocks_;         // results in one item, along rows
};

TERN_API void run_reduce(const ReduceKernel& kernel, const void* f, const void* g, const Array& out, const Array* const* in,
                         const Shape& shape, unsigned mask);

}  // namespace backend::cpu_kernels
}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "reduce_driver.ipp"
#endif
