// The functions of reduce_driver.hpp that are not templates.
#pragma once
#include "reduce_driver.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_INLINE ReduceLoops::ReduceLoops(const ReduceKernel& kernel, const Array* const* in, const detail::Shape& shape,
                                     unsigned mask)
    : detail::LoopNest(kernel.inputs + 1) {
  Index by[detail::max_dims][max_inputs + 1], out_stride = kernel.out_bytes;
  int order[detail::max_dims], used = 0;  // from the innermost outwards
  for (int i = shape.n; i-- > 0;) {
    for (int k = 0; k < kernel.inputs; ++k)
      by[i][k] = detail::broadcast_stride(*in[k], i, shape.n) * kernel.in_bytes[k];
    by[i][kernel.inputs] = mask >> i & 1 ? 0 : out_stride;
    if (!(mask >> i & 1)) out_stride *= shape.d[i];
    if (shape.d[i] == 1) continue;
    int at = used++;
    for (; at > 0 && inside(by[order[at - 1]], by[i], kernel.inputs); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  while (used-- > 0) {
    const int i = order[used];
    const bool kind = mask >> i & 1;
    if (depth() > 0 && reduced[depth() - 1] == kind && extend(shape.d[i], by[i])) continue;
    reduced[depth()] = kind;
    add(shape.d[i], by[i]);
  }
  if (depth() == 0) reduced[0] = true;
  deepen(1);
}

TERN_INLINE Reducer::Reducer(const ReduceKernel& kernel, const void* f, const void* g, const Array& out,
                             const Array* const* in, const detail::Shape& shape, unsigned mask)
    : kernel_(kernel), f_(f), g_(g), out_(out.data), kept_(kernel.inputs + 1), reduced_(kernel.inputs + 1) {
  const ReduceLoops all(kernel, in, shape, mask);
  const int last = all.depth() - 1;
  for (int i = 0; i < last; ++i) (all.reduced[i] ? reduced_ : kept_).add(all.size(i), all.strides(i));
  along_ = all.reduced[last];
  length_ = all.size(last);
  for (int k = 0; k <= kernel.inputs; ++k) column_[k] = all.stride(last, k);
  if (along_ && length_ < short_row && kept_.depth() > 0) {
    reduced_.add(length_, column_);
    length_ = kept_.remove(column_);
    along_ = false;
  }
  reduced_.deepen(1);  // at least one row
  direct_ = true;
  for (int k = 0; k < kernel.inputs; ++k) {
    in_[k] = in[k]->data;
    end_[k] = in[k]->data + kernel.in_bytes[k];
    for (int i = 0; i < in[k]->ndim; ++i) end_[k] += (in[k]->dims[i] - 1) * in[k]->strides[i] * kernel.in_bytes[k];
    step_[k] = column_[k] ? kernel.packet * kernel.in_bytes[k] : 0;
    direct_ = direct_ && column_[k] == kernel.in_bytes[k];
  }

  chunk_ = std::min(length_, along_ ? segment : acc_bytes / kernel.acc_bytes);
  chunks_ = pieces(length_, chunk_);
  rows_ = !along_ ? segment_rows : reduced_.count() > 1 ? segment / chunk_ : 1;
  segments_ = pieces(reduced_.count(), rows_) * (along_ ? chunks_ : 1);
  group_ = along_ && kept_.count() > 1 ? std::min(group, segment / (length_ * reduced_.count()) + 1) : 1;
  blocks_ = along_ ? pieces(kept_.count(), group_) : kept_.count() * chunks_;
}

TERN_INLINE void Reducer::run() const {
  const Index block = along_ ? group_ * kernel_.packet : packets(chunk_), bytes = block * kernel_.acc_bytes;
  const Index work = group_ * chunk_ * std::min(rows_, reduced_.count()), grain = 2 * segment / work + 1;
  if (segments_ == 1) {
    detail::parallel_for(blocks_, grain, [this](Index first, Index last) {
      alignas(64) char acc[acc_bytes];
      for (Index b = first; b < last; ++b) {
        reduce(acc, b, 0);
        finish(acc, b);
      }
    });
    return;
  }
  const Workspace<char> scratch(segments_ * blocks_ * bytes);
  char* const acc = scratch.get();
  detail::parallel_for(segments_ * blocks_, grain, [=, this](Index first, Index last) {
    for (Index item = first; item < last; ++item) reduce(acc + item * bytes, item % blocks_, item / blocks_);
  });
  // Added up as a tree, so that rounding errors grow only with the logarithm of the number of sums.
  for (Index count = segments_; count > 1;) {
    const Index half = (count + 1) / 2;
    kernel_.merge(acc, acc + half * blocks_ * bytes, (count - half) * blocks_ * block);
    count = half;
  }
  for (Index b = 0; b < blocks_; ++b) finish(acc + b * bytes, b);
}

TERN_NOINLINE void Reducer::reduce(char* acc, Index b, Index s) const {
  Block at = block(b);
  if (along_) {
    at.begin = s % chunks_ * chunk_;
    at.columns = std::min(chunk_, length_ - at.begin);
    s /= chunks_;
  }
  const Index width = along_ ? kernel_.packet : packets(at.columns);
  kernel_.reset(acc, at.count * width);
  const Index last = std::min((s + 1) * rows_, reduced_.count());
  const int inner = reduced_.depth() - 1;
  for (Index i = 0; i < at.count; ++i, acc += packet_bytes()) {
    Index base[max_inputs + 1] = {};
    kept_.add_offsets(at.kept + i, kept_.depth(), base);
    for (Index row = s * rows_; row < last;) {
      const Index left = reduced_.size(inner), rows = std::min(last - row, inner ? left - row % left : left);
      Pointers p;  // to as many rows as are evenly spaced
      Index offset[max_inputs + 1] = {};
      reduced_.add_offsets(row, reduced_.depth(), offset);
      for (int k = 0; k < kernel_.inputs; ++k) p.in[k] = in_[k] + base[k] + offset[k] + at.begin * column_[k];
      if (direct_) reduce_direct(acc, p, reduced_.strides(inner), rows, at.columns);
      else reduce_gathered(acc, p, reduced_.strides(inner), rows, at.columns);
      row += rows;
    }
  }
}

TERN_NOINLINE void Reducer::call(char* acc, Pointers& p, const Index* row, Index rows, Index n) const {
  const Index at_once = along_ ? 1 : rows;
  for (; rows > 0; rows -= at_once, p.advance(row, at_once, kernel_.inputs)) {
    if (along_) kernel_.inner(f_, acc, p.in, step_, n);
    else kernel_.outer(f_, acc, p.in, step_, row, rows, packets(n));
  }
}

TERN_INLINE void Reducer::reduce_direct(char* acc, Pointers& p, const Index* row, Index rows, Index n) const {
  Index safe = rows;  // the last packet of these rows reads no further than the tensor's end
  if (n % kernel_.packet) {
    for (int k = 0; k < kernel_.inputs; ++k) {
      const Index left = end_[k] - p.in[k] - packets(n) * kernel_.in_bytes[k];
      safe = std::min(safe, left < 0 ? 0 : row[k] > 0 ? left / row[k] + 1 : rows);
    }
  }
  call(acc, p, row, safe, n);
  if (safe == rows) return;
  const Index whole = n - n % kernel_.packet;
  Pointers q = p;
  q.advance(column_, whole, kernel_.inputs);
  if (whole) call(acc, p, row, rows - safe, whole);
  reduce_gathered(along_ ? acc : acc + whole * kernel_.acc_bytes, q, row, rows - safe, n - whole);
}

TERN_NOINLINE void Reducer::reduce_gathered(char* acc, Pointers& p, const Index* row, Index rows, Index n) const {
  for (Index r = 0; r < rows; r += gather_rows) {
    const Index height = std::min(rows - r, gather_rows);
    Pointers q = p;
    for (Index at = 0; at < n; at += gather_columns) {
      const Index count = std::min(n - at, gather_columns);
      Tile tile;
      gather(tile, q, row, height, count);
      call(along_ ? acc : acc + at * kernel_.acc_bytes, tile.p, tile.row, height, count);
      q.advance(column_, count, kernel_.inputs);
    }
    p.advance(row, height, kernel_.inputs);
  }
}

TERN_INLINE void Reducer::gather(Tile& tile, const Pointers& p, const Index* row, Index rows, Index n) const {
  for (int k = 0; k < kernel_.inputs; ++k) {
    const int bytes = kernel_.in_bytes[k];
    tile.p.in[k] = tile.buffer[k];
    tile.row[k] = (column_[k] ? packets(n) : kernel_.packet) * bytes;
    for (Index r = 0; r < rows; ++r) {
      char* const to = tile.buffer[k] + r * tile.row[k];
      const char* const from = p.in[k] + r * row[k];
      const Index count = column_[k] ? n : kernel_.packet;
      gather_run(to, from, column_[k], bytes, count);
      std::memset(to + count * bytes, 0, std::size_t(tile.row[k] - count * bytes));
    }
  }
}

TERN_NOINLINE void Reducer::finish(char* acc, Index b) const {
  const Block at = block(b);
  const Index n = along_ ? at.count : at.columns, stride = column_[kernel_.inputs];
  if (along_) kernel_.fold(acc, n);
  for (Index i = 0; i < n;) {
    // As many results as the buffer holds; or all, if their positions are adjacent.
    alignas(64) char result[group * 8];
    Index offset[max_inputs + 1] = {};
    kept_.add_offsets(at.kept, kept_.depth(), offset);
    char* const out = out_ + offset[kernel_.inputs] + (at.begin + i) * stride;
    const bool dense = !along_ && stride == kernel_.out_bytes;
    const Index count = dense ? n : std::min(n - i, group);
    kernel_.finish(g_, dense ? out : result, acc + i * kernel_.acc_bytes, count);
    if (along_) scatter(at.kept, count, result);
    else if (!dense) scatter_run(out, result, stride, kernel_.out_bytes, count);
    i += count;
  }
}

TERN_INLINE void Reducer::scatter(Index first, Index count, const char* result) const {
  for (Index i = 0; i < count; ++i) {
    Index offset[max_inputs + 1] = {};
    kept_.add_offsets(first + i, kept_.depth(), offset);
    std::memcpy(out_ + offset[kernel_.inputs], result + i * kernel_.out_bytes, std::size_t(kernel_.out_bytes));
  }
}

TERN_NOINLINE void run_reduce(const ReduceKernel& kernel, const void* f, const void* g, const Array& out,
                              const Array* const* in, const detail::Shape& shape, unsigned mask) {
  if (out.numel == 0) return;
  if (shape.numel() != 0) return Reducer(kernel, f, g, out, in, shape, mask).run();
  alignas(64) char acc[max_packet * 8];
  kernel.reset(acc, kernel.packet);
  for (Index i = 0; i < out.numel; i += kernel.packet)
    kernel.finish(g, out.data + i * kernel.out_bytes, acc,
                  out.numel - i < kernel.packet ? out.numel - i : kernel.packet);
}

}}}  // namespace tern::detail::backend::cpu_kernels
