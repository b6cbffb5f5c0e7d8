// Recurrences along a dimension. If the elements of a row are adjacent, a block shares the row: each thread combines
// the steps of four neighbours, and a scan over the threads combines those (Hillis, Steele: "Data parallel algorithms",
// 1986). Otherwise each thread has a row. Sums of floats are calculated in double, as on the CPU.
#pragma once
#include "../scan.hpp"
#include "../../core/rows_along.hpp"
#include "codegen/parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(ScanParameters,
  Index n;                   // elements of a row
  Index rows;
  Index inner;               // the distance between elements of a row
  Pointer<T0> out;
  Pointer<const T0> in;
  Pointer<const T0> gates;   // or null
  Index kind;
  Index reverse;
);

// A step replaces s by gate s + value.
inline constexpr const char* scan_text = R"CUDA(
enum { sum, product, recurrence };
template <class T> struct Accumulated { typedef T type; };
template <> struct Accumulated<float> { typedef double type; };
typedef Accumulated<C0>::type A0;
struct Step { A0 gate, value; };
inline __device__ Step nothing(int kind) { return Step{A0(1), A0(kind == product)}; }
inline __device__ Step then(int kind, Step a, Step b) {
  if (kind == sum) return Step{A0(1), add(a.value, b.value)};
  if (kind == product) return Step{A0(1), multiply(a.value, b.value)};
  return Step{multiply(b.gate, a.gate), add(multiply(b.gate, a.value), b.value)};
}
inline __device__ Step step_of(const T0* gates, const T0* in, Index i) {
  return Step{gates ? A0(wide(gates[i])) : A0(1), A0(wide(in[i]))};
}
)CUDA";

inline constexpr KernelOf<ScanParameters> scan_rows_kernel{"scan_rows", R"CUDA(
extern "C" __global__ void scan_rows(const ScanParameters p) {
  __shared__ Step partial[256];
  const Index n = p.n, row = blockIdx.x * n;
  const int kind = int(p.kind), t = threadIdx.x;
  Step carried = nothing(kind);
  #pragma unroll 1
  for (Index base = 0; base < n; base += 1024) {
    Step mine[4], total = nothing(kind);
    for (int k = 0; k < 4; ++k) {
      const Index i = base + 4 * t + k;
      if (i < n) total = then(kind, total, step_of(p.gates, p.in, row + (p.reverse ? n - 1 - i : i)));
      mine[k] = total;
    }
    partial[t] = total;
    __syncthreads();
    #pragma unroll 1
    for (int apart = 1; apart < 256; apart *= 2) {
      const Step sum = t >= apart ? then(kind, partial[t - apart], partial[t]) : partial[t];
      __syncthreads();
      partial[t] = sum;
      __syncthreads();
    }
    const Step before = t ? then(kind, carried, partial[t - 1]) : carried;
    for (int k = 0; k < 4; ++k) {
      const Index i = base + 4 * t + k;
      if (i < n) p.out[row + (p.reverse ? n - 1 - i : i)] = Element<T0>::of(then(kind, before, mine[k]).value);
    }
    carried = then(kind, carried, partial[255]);
    __syncthreads();
  }
}
)CUDA", {scan_text}};

inline constexpr KernelOf<ScanParameters> scan_columns_kernel{"scan_columns", R"CUDA(
extern "C" __global__ void scan_columns(const ScanParameters p) {
  const Index n = p.n, inner = p.inner;
  const int kind = int(p.kind);
  #pragma unroll 1
  for (Index row = first_thread(); row < p.rows; row += all_threads()) {
    Step s = nothing(kind);
    #pragma unroll 1
    for (Index k = 0; k < n; ++k) {
      const Index i = row / inner * n * inner + (p.reverse ? n - 1 - k : k) * inner + row % inner;
      s = then(kind, s, step_of(p.gates, p.in, i));
      p.out[i] = Element<T0>::of(s.value);
    }
  }
}
)CUDA", {scan_text}};

TERN_API void run_scan(const Scan& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Scan& op) {
  cuda_kernels::run_scan(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "scan.ipp"
#endif
