// The functions of copy.hpp that are not templates.
#pragma once
#include "copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_INLINE void stream_run(char* to, const char* from, Index n) {
  using Vector = detail::expr::vector_t<std::int32_t, detail::expr::packet_bytes / 4>;
  Index at = 0;
  for (; at + Index(sizeof(Vector)) <= n; at += sizeof(Vector)) {
    Vector words;
    std::memcpy(&words, from + at, sizeof words);
    stream(to + at, words);
  }
  std::memcpy(to + at, from + at, std::size_t(n - at));
}

TERN_INLINE void copy_splat(char* to, const char* from, const CopyBlock& b) {
  const Index all = b.columns * b.bytes;
  for (Index i = 0; i < b.rows; ++i, to += b.to_row, from += b.from_row) {
    std::memcpy(to, from, std::size_t(b.bytes));
    for (Index done = b.bytes; done < all; done *= 2)
      std::memcpy(to + done, to, std::size_t(done < all - done ? done : all - done));
  }
}

TERN_NOINLINE CopyLoops::CopyLoops(const Array& out, const Array& in, int out_bytes, int in_bytes)
    : detail::LoopNest(2) {
  int order[detail::max_dims], used = 0;
  for (int i = 0; i < out.ndim; ++i) {
    if (out.dims[i] == 1) continue;
    int at = used++;
    for (; at > 0 && out.strides[order[at - 1]] < out.strides[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  for (int k = 0; k < used; ++k) {
    const int i = order[k];
    const Index strides[] = {out.strides[i] * out_bytes, detail::broadcast_stride(in, i, out.ndim) * in_bytes};
    append(out.dims[i], strides);
  }
  deepen(2);
}

TERN_NOINLINE void run_blocks(const CopyLoops& loops, char* to, const char* from, CopyLoop loop, Index rows,
                              Index columns, int bytes) {
  const int r = loops.depth() - 2, c = loops.depth() - 1;
  const Index height = loops.size(r), width = loops.size(c);
  const Index row_blocks = (height + rows - 1) / rows, column_blocks = (width + columns - 1) / columns;
  Index count = row_blocks * column_blocks;
  for (int i = 0; i < r; ++i) count *= loops.size(i);
  const Index block_bytes = std::min(rows, height) * std::min(columns, width) * bytes;
  detail::parallel_for(count, (Index(1) << 17) / block_bytes + 1, [&](Index first, Index last) {
    for (Index item = first; item < last; ++item) {
      const Index column = item % column_blocks * columns, row = item / column_blocks % row_blocks * rows;
      const CopyBlock block{std::min(rows, height - row),
                            std::min(columns, width - column),
                            loops.stride(r, CopyLoops::to),
                            loops.stride(r, CopyLoops::from),
                            loops.stride(c, CopyLoops::to),
                            loops.stride(c, CopyLoops::from),
                            bytes};
      Index offset[] = {row * block.to_row + column * block.to_column,
                        row * block.from_row + column * block.from_column};
      loops.add_offsets(item / column_blocks / row_blocks, r, offset);
      loop(to + offset[CopyLoops::to], from + offset[CopyLoops::from], block);
    }
  });
}

}}}  // namespace tern::detail::backend::cpu_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const Copy& op) {
  const Array &out = op.out, &in = op.in;
  if (out.numel == 0) return;
  const int bytes = detail::size_of(out.dtype);
  using cpu_kernels::CopyLoops;
  CopyLoops loops(out, in, bytes, bytes);
  const int c = loops.depth() - 1;
  const auto from = [&loops](int i) { return loops.stride(i, CopyLoops::from); };
  // The dimension of a block's rows: the longest one, or the one with the smaller stride in the source.
  int rows = 0;
  for (int i = 1; i < c; ++i)
    if (loops.size(i) > loops.size(rows)) rows = i;
  bool across = false;
  for (int i = 0; i < c; ++i) {
    if (from(i) == 0 || from(i) >= from(across ? rows : c)) continue;
    rows = i;
    across = true;
  }
  loops.move_inward(rows, c - 1);
  const bool dense = loops.stride(c, CopyLoops::to) == bytes;
  bool streamed = cpu_kernels::can_stream_to(out);
  for (int i = 0; i < c; ++i) streamed = streamed && loops.stride(i, CopyLoops::to) % detail::expr::packet_bytes == 0;
  if (dense && from(c) == bytes) {
    const Index columns = std::min(loops.size(c), (Index(1) << 18) / bytes);
    const cpu_kernels::CopyLoop loop = streamed ? &cpu_kernels::stream_runs : &cpu_kernels::copy_runs;
    return cpu_kernels::run_blocks(loops, out.data, in.data, loop, (Index(1) << 16) / (columns * bytes) + 1, columns,
                                   bytes);
  }
  const int size = std::countr_zero(unsigned(bytes));
  const auto& transposed =
      streamed ? cpu_kernels::transposed_loops<cpu_kernels::can_stream> : cpu_kernels::transposed_loops<false>;
  const cpu_kernels::CopyLoop loop = dense && from(c) == 0                     ? &cpu_kernels::copy_splat
                                     : dense && across && from(c - 1) == bytes ? transposed[size]
                                                                               : cpu_kernels::strided_loops[size];
  // A block spans few pages on either side, and consists of whole cache lines.
  cpu_kernels::run_blocks(loops, out.data, in.data, loop, across ? 256 : 64, across ? 64 : 1024, bytes);
}

}}}  // namespace tern::detail::backend
