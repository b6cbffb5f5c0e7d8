// Rows chosen by index. The written rows are divided among the threads, so that one thread writes each row, in order.
#pragma once
#include "../../core/element_error.hpp"
#include "../../core/loop_nest.hpp"
#include "../rows.hpp"
#include "add_scaled.hpp"
#include "loops/copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// The offsets of an array's rows, in bytes.
class TERN_API RowOffsets {
 public:
  RowOffsets(const Rows& rows, int bytes);
  Index operator()(Index row) const { return loops_.offset(row, 0); }

 private:
  detail::LoopNest loops_;
};

TERN_API Array row_of(const Rows& rows);

/// How to walk along rows of one array together with rows of another.
struct RowWalk {
  CopyLoops loops;
  RowOffsets to, from;
  Index n, to_step, from_step;  // the innermost run, and its strides in bytes
  bool one_run;                 // true if the run is the whole row

  RowWalk(const Rows& out, const Rows& in, int out_bytes, int in_bytes)
      : loops(row_of(out), row_of(in), out_bytes, in_bytes), to(out, out_bytes), from(in, in_bytes) {
    const int last = loops.depth() - 1;
    n = loops.size(last), to_step = loops.stride(last, CopyLoops::to), from_step = loops.stride(last, CopyLoops::from);
    one_run = last == 1 && loops.size(0) == 1;
  }

  /// Calls f(to, from) for each run of a row.
  template <class F>
  void runs(char* t, const char* f, const F& run) const {
    if (one_run) run(t, f);
    else runs_of(0, t, f, run);
  }

 private:
  template <class F>
  void runs_of(int i, char* t, const char* f, const F& run) const {
    if (i == loops.depth() - 1) return run(t, f);
    const Index to_stride = loops.stride(i, CopyLoops::to), from_stride = loops.stride(i, CopyLoops::from);
    for (Index k = 0; k < loops.size(i); ++k) runs_of(i + 1, t + k * to_stride, f + k * from_stride, run);
  }
};

/// Calls f(row written, row read) for the moves. One thread makes all moves to one row, in order.
template <class F>
void for_moves(const RowMoves& moves, Index row_bytes, const F& f) {
  const Index* const from = moves.from ? moves.from->as<Index>() : nullptr;
  const Index grain = (Index(1) << 15) / (row_bytes + 8) + 1;
  if (!moves.to) {
    detail::parallel_for(moves.count, grain, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) f(i, from ? from[i] : i);
    });
    return;
  }
  const Index* const to = moves.to->as<Index>();
  const Index parts = std::min<Index>(get_num_threads(), (moves.count + grain - 1) / grain);
  const Index together =
      256 / (row_bytes + 1) + 1;  // neighbouring rows go to one thread, so that threads do not share a cache line
  detail::parallel_for(parts, 1, [&](Index first, Index last) {
    for (Index i = 0; i < moves.count; ++i) {
      if (to[i] < 0) continue;
      const Index part = parts == 1 ? 0 : Index(std::uint32_t(to[i] / together) % std::uint32_t(parts));
      if (part >= first && part < last) f(to[i], from ? from[i] : i);
    }
  });
}

/// to[i] += step index[row, i] for a row of the result.
TERN_API void add_index(const char* op, Index* to, Index length, const Array& out, Index row, const RowIndex& term);

template <int bytes>
void copy_run(char* to, Index to_step, const char* from, Index from_step, Index n) {
  if (to_step == bytes && from_step == bytes) std::memcpy(to, from, std::size_t(n * bytes));
  else
    for (Index i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, bytes);
}

template <int bytes>
void copy_rows_of(const CopyRows& op) {
  const Rows &out = op.out, &in = op.in;
  const RowWalk walk(out, in, bytes, bytes);
  const char zero[bytes] = {};
  for_moves(op.moves, row_of(out).numel * bytes, [&](Index to, Index from) {
    const bool blank = from < 0;
    const char* const start = in.array.data + (blank ? 0 : walk.from(from));
    walk.runs(out.array.data + walk.to(to), start, [&](char* t, const char* f) {
      copy_run<bytes>(t, walk.to_step, blank ? zero : f, blank ? 0 : walk.from_step, walk.n);
    });
  });
}

}  // namespace cpu_kernels

TERN_API void kernel(On<Cpu>, Types<>, const RowNumbers& op);

TERN_API void kernel(On<Cpu>, Types<>, const CopyRows& op);

template <class T>
void kernel(On<Cpu>, Types<T>, const AddRows& op) {
  using C = compute_t<T>;
  const Rows &out = op.out, &in = op.in;
  if (op.moves.count == 0 || out.array.numel == 0) return;
  const cpu_kernels::RowWalk walk(out, in, sizeof(C), sizeof(T));
  // A row of one element has nothing to vectorise, and there may be one for each element.
  const bool dense = walk.n > 1 && walk.to_step == sizeof(C) && walk.from_step == sizeof(T);
  cpu_kernels::for_moves(op.moves, cpu_kernels::row_of(out).numel * Index(sizeof(C)), [&](Index to, Index from) {
    if (from < 0) return;
    walk.runs(out.array.data + walk.to(to), in.array.data + walk.from(from), [&](char* t, const char* f) {
      if (dense) return cpu_kernels::add_scaled(reinterpret_cast<C*>(t), reinterpret_cast<const T*>(f), walk.n, 1);
      for (Index k = 0; k < walk.n; ++k, t += walk.to_step, f += walk.from_step) {
        C& sum = *reinterpret_cast<C*>(t);
        sum = C(sum + C(*reinterpret_cast<const T*>(f)));
      }
    });
  });
}

TERN_API void kernel(On<Cpu>, Types<>, const CountTrue& op);

TERN_API void kernel(On<Cpu>, Types<>, const TruePositions& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "rows.ipp"
#endif
