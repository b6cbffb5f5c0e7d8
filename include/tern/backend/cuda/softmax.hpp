// Softmax: one sweep over a row for its largest and the sum of exponentials, one for the result.
#pragma once
#include "../softmax.hpp"
#include "codegen/row_pieces.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

// The online softmax (Milakov, Gimelshein: Online normalizer calculation for softmax, 2018).
inline constexpr const char* exp_sum_text = R"CUDA(
struct ExpSum {
  C0 largest, sum;           // of what was added; the sum of e^(x - largest)
  template <int n> __device__ void add(const Pack<T0, n>& x) {
    C0 top = largest;
    for (int e = 0; e < n; ++e) top = promote(x.at[e]) > top ? C0(promote(x.at[e])) : top;
    const C0 shift = top == -infinity() ? C0(0) : top;   // infinity less infinity is NaN, as it should be for +infinity only
    sum *= exp(largest - shift);
    for (int e = 0; e < n; ++e) sum += exp(C0(promote(x.at[e])) - shift);
    largest = top;
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

TERN_KERNEL_STRUCT(SoftmaxParameters, PiecesLayout rows; Index log; Pointer<T0> y; Pointer<const T0> x;);
inline constexpr PackedKernel<SoftmaxParameters> softmax_kernel{
    "softmax",
    R"CUDA(
extern "C" __global__ void softmax(const SoftmaxParameters p) {
  __shared__ ExpSum partial[256];
  RowPieces row(p.rows);
  Rows x(p.x);
  ExpSum all = ExpSum::none();
  row.each_pack([&](Index, const auto& v) { all.add(v); }, x);
  all = row.total(partial, all);
  const C0 shift = p.log ? all.log_sum() : all.largest, scale = C0(1) / all.sum;
  row.write(p.y, [&](Index, C0 v) { return p.log ? v - shift : exp(v - shift) * scale; }, x);
}
)CUDA",
    {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text, exp_sum_text}};

TERN_KERNEL_STRUCT(SoftmaxGradientParameters, PiecesLayout rows; Index log; Pointer<T0> dx; Pointer<const T0> y;
                   Pointer<const T0> g;);
inline constexpr PackedKernel<SoftmaxGradientParameters> softmax_gradient_kernel{
    "softmax_gradient",
    R"CUDA(
extern "C" __global__ void softmax_gradient(const SoftmaxGradientParameters p) {
  __shared__ C0 partial[256];
  RowPieces row(p.rows);
  Rows y(p.y), g(p.g);
  C0 sum = 0;
  row.each([&](Index, C0 v, C0 h) { sum += p.log ? h : h * v; }, y, g);
  sum = row.total(partial, sum);
  row.write(p.dx, [&](Index, C0 v, C0 h) { return p.log ? h - exp(v) * sum : v * (h - sum); }, y, g);
}
)CUDA",
    {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text}};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const Softmax& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const SoftmaxGradient& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "softmax.ipp"
#endif
