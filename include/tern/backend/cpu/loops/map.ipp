// The functions of map.hpp that are not templates.
#pragma once
#include "map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_NOINLINE void gather_run(char* to, const char* from, Index stride, int bytes, Index count) {
  switch (bytes) {
    case 1:
      for (Index i = 0; i < count; ++i) to[i] = from[i * stride];
      break;
    case 2:
      for (Index i = 0; i < count; ++i) std::memcpy(to + 2 * i, from + i * stride, 2);
      break;
    case 4:
      for (Index i = 0; i < count; ++i) std::memcpy(to + 4 * i, from + i * stride, 4);
      break;
    default:
      for (Index i = 0; i < count; ++i) std::memcpy(to + 8 * i, from + i * stride, 8);
  }
}

TERN_NOINLINE void scatter_run(char* to, const char* from, Index stride, int bytes, Index count) {
  switch (bytes) {
    case 1:
      for (Index i = 0; i < count; ++i) to[i * stride] = from[i];
      break;
    case 2:
      for (Index i = 0; i < count; ++i) std::memcpy(to + i * stride, from + 2 * i, 2);
      break;
    case 4:
      for (Index i = 0; i < count; ++i) std::memcpy(to + i * stride, from + 4 * i, 4);
      break;
    default:
      for (Index i = 0; i < count; ++i) std::memcpy(to + i * stride, from + 8 * i, 8);
  }
}

TERN_INLINE void run_dense(const MapKernel& kernel, const void* f, char* out, const char* const* in, const int* step,
                           Index n) {
  const Index whole = n - n % kernel.packet;
  if (whole) kernel.loop(f, out, in, step, whole);
  const Index rest = n - whole;
  if (!rest) return;
  alignas(64) char buffer[max_inputs][max_packet * 8], result[max_packet * 8];
  const char* p[max_inputs];
  for (int k = 0; k < kernel.inputs; ++k) {
    if (!step[k]) {
      p[k] = in[k];
      continue;
    }
    const int bytes = kernel.in_bytes[k];
    const char* const tail = in[k] + whole * bytes;
    splat(buffer[k], tail, bytes);  // lanes after the end repeat an element, because they must hold a valid value
    std::memcpy(buffer[k], tail, std::size_t(rest * bytes));
    p[k] = buffer[k];
  }
  kernel.loop(f, result, p, step, kernel.packet);
  std::memcpy(out + whole * kernel.out_bytes, result, std::size_t(rest * kernel.out_bytes));
}

TERN_INLINE StridedMap::StridedMap(const MapKernel& kernel, const void* f, const Array& out, const Array* const* in)
    : kernel_(kernel), f_(f), loops_(kernel.inputs + 1) {
  for (int i = 0; i < out.ndim; ++i) {
    Index strides[max_inputs + 1];
    for (int k = 0; k < kernel.inputs; ++k)
      strides[k] = detail::broadcast_stride(*in[k], i, out.ndim) * kernel.in_bytes[k];
    strides[kernel.inputs] = out.strides[i] * kernel.out_bytes;
    loops_.append(out.dims[i], strides);
  }
  loops_.deepen(1);
  for (int k = 0; k < kernel.inputs; ++k) base_[k] = in[k]->data;
  out_ = out.data;
  rows_ = out.numel / row_length();
}

TERN_INLINE void StridedMap::run_row(const detail::Odometer& offsets) const {
  alignas(64) char buffer[max_inputs][tile * 8], result[tile * 8];
  const Index* const strides = loops_.strides(loops_.depth() - 1);
  const Index length = row_length(), out_stride = strides[kernel_.inputs];
  for (Index begin = 0; begin < length; begin += tile) {
    const Index n = length - begin < tile ? length - begin : tile;
    const char* p[max_inputs];
    int step[max_inputs];
    for (int k = 0; k < kernel_.inputs; ++k) {
      const Index stride = strides[k];
      const int bytes = kernel_.in_bytes[k];
      const char* const from = base_[k] + offsets[k] + begin * stride;
      step[k] = stride ? kernel_.packet * bytes : 0;
      p[k] = stride == bytes ? from : buffer[k];
      if (stride == 0) splat(buffer[k], from, bytes);
      else if (stride != bytes) gather_run(buffer[k], from, stride, bytes, n);
    }
    char* const to = out_ + offsets[kernel_.inputs] + begin * out_stride;
    const bool dense = out_stride == kernel_.out_bytes || length == 1;
    run_dense(kernel_, f_, dense ? to : result, p, step, n);
    if (!dense) scatter_run(to, result, out_stride, kernel_.out_bytes, n);
  }
}

TERN_NOINLINE void run_strided(const MapKernel& kernel, const void* f, const Array& out, const Array* const* in) {
  if (out.numel == 0) return;
  const StridedMap map(kernel, f, out, in);
  const Index grain = parallel_grain / map.row_length() + 1;
  detail::parallel_for(map.rows(), grain, [&](Index first, Index last) { map.run(first, last); });
}

TERN_NOINLINE void run_parallel(const MapKernel& kernel, const void* f, char* out, const char* const* in,
                                const int* step, Index n) {
  // All threads but the last get whole packets, so the result does not depend on the number of threads.
  const Index packets = (n + kernel.packet - 1) / kernel.packet;
  detail::parallel_for(packets, parallel_grain / kernel.packet, [&](Index first, Index last) {
    const char* p[max_inputs];
    for (int k = 0; k < kernel.inputs; ++k) p[k] = in[k] + first * step[k];
    const Index begin = first * kernel.packet, end = last * kernel.packet < n ? last * kernel.packet : n;
    run_dense(kernel, f, out + begin * kernel.out_bytes, p, step, end - begin);
  });
}

TERN_INLINE bool same_strides(const Array& a, const Array& b) {
  if (a.ndim != b.ndim) return false;
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

TERN_NOINLINE void run_map(const MapKernel& kernel, const void* f, const Array& out, const Array* const* in) {
  if (!out.contiguous && !detail::is_dense(out)) return run_strided(kernel, f, out, in);
  const char* p[max_inputs];
  int step[max_inputs];
  alignas(64) char one[max_inputs][max_packet * 8];
  for (int k = 0; k < kernel.inputs; ++k) {
    const Array& x = *in[k];
    const int bytes = kernel.in_bytes[k];
    if (x.numel == 1 && out.numel != 1) {
      splat(one[k], x.data, bytes);
      p[k] = one[k];
      step[k] = 0;
    } else if (x.numel == out.numel && (out.contiguous ? x.contiguous : same_strides(x, out))) {
      p[k] = x.data;
      step[k] = kernel.packet * bytes;
    } else {
      return run_strided(kernel, f, out, in);
    }
  }
  if (out.numel < 2 * parallel_grain) [[likely]]
    run_dense(kernel, f, out.data, p, step, out.numel);
  else run_parallel(kernel, f, out.data, p, step, out.numel);
}

}}}  // namespace tern::detail::backend::cpu_kernels
