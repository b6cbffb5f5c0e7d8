// Softmax: one pass over a row for its largest and the sum of exponentials, one for the result.
#pragma once
#include "../softmax.hpp"
#include "codegen/row_blocks.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// The online softmax (Milakov, Gimelshein: Online normalizer calculation for softmax, 2018).
inline constexpr const char* exp_sum_text = R"CUDA(
struct ExpSum {
  C0 largest, sum;           // of what was added; the sum of e^(x - largest)
  __device__ void add(C0 x) {
    if (x > largest) {
      sum = sum * exp(largest - x) + C0(1) + (x - x);   // NaN for infinity
      largest = x;
    } else if (x != -infinity()) {
      sum += exp(x - largest);
    }
  }
  static __device__ C0 infinity() { return C0(1e300 * 1e300); }
  static __device__ ExpSum none() { return ExpSum{-infinity(), C0(0)}; }
  __device__ C0 sum_to(C0 other) const { return largest == other ? sum : sum * exp(largest - other); }
  __device__ C0 log_sum() const { return largest + log(sum); }
};
inline __device__ ExpSum operator+(ExpSum a, ExpSum b) {
  const C0 largest = a.largest > b.largest ? a.largest : b.largest;
  return ExpSum{largest, a.sum_to(largest) + b.sum_to(largest)};
}
)CUDA";

TERN_KERNEL_STRUCT(SoftmaxParameters,
  RowLayout rows;
  Index n;
  Index inner;
  Index log;
  Pointer<T0> y;
  Pointer<const T0> x;
);
inline constexpr KernelOf<SoftmaxParameters> softmax_kernel{"softmax", R"CUDA(
extern "C" __global__ void softmax(const SoftmaxParameters p) {
  __shared__ ExpSum partial[256];
  const Row row(p.rows);
  const Index inner = p.inner, start = row.which / inner * p.n * inner + row.which % inner;
  const Index n = row.exists ? p.n : 0;
  const T0* const x = p.x + start;
  T0* const y = p.y + start;
  ExpSum all = ExpSum::none();
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along) all.add(C0(wide(x[i * inner])));
  all = row.total(partial, all);
  const C0 shift = p.log ? all.log_sum() : all.largest, scale = C0(1) / all.sum;
#pragma unroll 1  // NVRTC's own unrolling costs a sixth of the compilation
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along) {
    const C0 d = C0(wide(x[i * inner])) - shift;
    y[i * inner] = Element<T0>::of(p.log ? d : exp(d) * scale);
  }
}
)CUDA", {RowLayout::source, row_text, exp_sum_text}};

TERN_KERNEL_STRUCT(SoftmaxGradientParameters,
  RowLayout rows;
  Index n;
  Index inner;
  Index log;
  Pointer<T0> dx;
  Pointer<const T0> y;
  Pointer<const T0> g;
);
inline constexpr KernelOf<SoftmaxGradientParameters> softmax_gradient_kernel{"softmax_gradient", R"CUDA(
extern "C" __global__ void softmax_gradient(const SoftmaxGradientParameters p) {
  __shared__ C0 partial[256];
  const Row row(p.rows);
  const Index inner = p.inner, start = row.which / inner * p.n * inner + row.which % inner;
  const Index n = row.exists ? p.n : 0;
  const T0 *const y = p.y + start, *const g = p.g + start;
  T0* const dx = p.dx + start;
  C0 sum = 0;
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along)
    sum += p.log ? C0(wide(g[i * inner])) : C0(wide(g[i * inner])) * C0(wide(y[i * inner]));
  sum = row.total(partial, sum);
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along) {
    const C0 v = C0(wide(y[i * inner])), h = C0(wide(g[i * inner]));
    dx[i * inner] = Element<T0>::of(p.log ? h - exp(v) * sum : v * (h - sum));
  }
}
)CUDA", {RowLayout::source, row_text}};

TERN_API void run_softmax(const Softmax& op);

TERN_API void run_softmax_gradient(const SoftmaxGradient& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Softmax& op) {
  cuda_kernels::run_softmax(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const SoftmaxGradient& op) {
  cuda_kernels::run_softmax_gradient(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "softmax.ipp"
#endif
