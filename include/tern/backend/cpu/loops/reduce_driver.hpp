// The part of a reduction outside its loops: merging dimensions, choosing between reduction along rows and across rows,
// splitting for threads and precision, strides and remainders. Compiled once for all kernels.
#pragma once
#include <algorithm>
#include <cstring>

#include "map.hpp"
#include "workspace.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

/// A reduction as the driver sees it: a constant for each function and its types. Partial results are arrays of whole
/// packets. Input k advances by step[k] bytes for each packet.
struct ReduceKernel {
  /// Combines n elements of one row into the packet acc. Lanes after the end are read but not used.
  void (*inner)(const void* f, char* acc, const char* const* in, const int* step, Index n);
  /// Combines n elements (whole packets) of each of `rows` rows into acc. The rows of input k are row[k] bytes apart.
  void (*outer)(const void* f, char* acc, const char* const* in, const int* step, const Index* row, Index rows,
                Index n);
  void (*reset)(char* acc, Index n);
  void (*merge)(char* acc, const char* other, Index n);
  /// Combines each of `count` packets into one number. The numbers are adjacent.
  void (*fold)(char* acc, Index count);
  void (*finish)(const void* g, char* out, const char* acc, Index n);
  int packet;  // elements of a packet
  int inputs;
  int acc_bytes, out_bytes;  // bytes of an element
  int in_bytes[max_inputs];
};

/// The dimensions of a reduction in memory order. Neighbouring dimensions of one kind are merged if they are evenly
/// spaced. Strides are in bytes, for each input, then the output.
struct TERN_API ReduceLoops : detail::LoopNest {
  bool reduced[detail::max_dims];

  ReduceLoops(const ReduceKernel& kernel, const Array* const* in, const detail::Shape& shape, unsigned mask);

 private:
  /// True if a dimension with strides b belongs inside one with strides a. The first input that has both decides.
  static bool inside(const Index* a, const Index* b, int inputs) {
    for (int k = 0; k < inputs; ++k)
      if (a[k] && b[k]) return b[k] < a[k];
    return false;
  }
};

/// One reduction. It sees its elements as rows of the innermost dimension, which is reduced ("along") or kept
/// ("across"). An item of work is a block of results over a segment of the elements that are reduced to them. Both
/// depend only on the shape.
class TERN_API Reducer {
 public:
  /// f and g are the captures of the kernel's functions.
  Reducer(const ReduceKernel& kernel, const void* f, const void* g, const Array& out, const Array* const* in,
          const detail::Shape& shape, unsigned mask);

  void run() const;

 private:
  // Up to so many elements are added one after the other. Longer sums are trees of such sums. The same for rows.
  static constexpr Index segment = 16384, segment_rows = 128;
  static constexpr Index short_row = 32;     // a shorter row does not fill a packet well: gathered, and reduced across
  static constexpr Index group = 64;         // results along rows that are finished together
  static constexpr Index acc_bytes = 16384;  // bytes of the sums across rows
  static constexpr Index gather_columns = 128, gather_rows = 4;

  struct Pointers {
    const char* in[max_inputs + 1];
    void advance(const Index* by, Index times, int inputs) {
      for (int k = 0; k < inputs; ++k) in[k] += by[k] * times;
    }
  };
  /// A block's results, and their positions.
  struct Block {
    Index kept, count;     // positions of the kept loops: along rows one for each result, across rows 1
    Index begin, columns;  // across rows: the part of the row
  };

  /// Most reductions are small, and a division takes as long as the rest of them.
  static Index pieces(Index n, Index size) { return n <= size ? 1 : (n + size - 1) / size; }
  Index packets(Index n) const { return (n + kernel_.packet - 1) / kernel_.packet * kernel_.packet; }
  int packet_bytes() const { return kernel_.packet * kernel_.acc_bytes; }

  Block block(Index b) const {
    if (along_) return {b * group_, std::min(group_, kept_.count() - b * group_), 0, length_};
    const Index begin = b % chunks_ * chunk_;
    return {b / chunks_, 1, begin, std::min(chunk_, length_ - begin)};
  }

  /// Reduces segment s of block b into acc.
  void reduce(char* acc, Index b, Index s) const;

  /// Runs a loop over rows and advances p past them.
  void call(char* acc, Pointers& p, const Index* row, Index rows, Index n) const;

  void reduce_direct(char* acc, Pointers& p, const Index* row, Index rows, Index n) const;

  void reduce_gathered(char* acc, Pointers& p, const Index* row, Index rows, Index n) const;

  /// rows x n elements of each input, dense and padded with zeros to whole packets; or one packet of equal values.
  struct Tile {
    alignas(64) char buffer[max_inputs][gather_rows * gather_columns * 8];
    Pointers p;
    Index row[max_inputs];
  };
  void gather(Tile& tile, const Pointers& p, const Index* row, Index rows, Index n) const;

  void finish(char* acc, Index b) const;

  /// Writes results to the kept positions from `first` on.
  void scatter(Index first, Index count, const char* result) const;

  const ReduceKernel& kernel_;
  const void *f_, *g_;
  char* out_;
  const char* in_[max_inputs];
  const char* end_[max_inputs];  // an input's end; lanes after a row's end may be read up to here
  bool along_;                   // true if the innermost dimension is reduced
  bool direct_;                  // true if every input is dense along the innermost dimension
  Index length_, column_[max_inputs + 1];
  int step_[max_inputs];
  detail::LoopNest kept_, reduced_;  // the loops outside the innermost dimension
  Index chunk_, chunks_;             // columns of a row in one item, and how many items a row has
  Index rows_, segments_;            // reduced rows in one item, and how many segments there are
  Index group_, blocks_;             // results in one item along rows, and how many blocks there are
};

TERN_API void run_reduce(const ReduceKernel& kernel, const void* f, const void* g, const Array& out,
                         const Array* const* in, const detail::Shape& shape, unsigned mask);

}  // namespace detail::backend::cpu_kernels
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "reduce_driver.ipp"
#endif
