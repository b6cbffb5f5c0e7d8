// Cross entropy: a kernel for the rows' losses, two that add them up in double.
#pragma once
#include "../cross_entropy.hpp"
#include "../../device/cuda/memory.hpp"
#include "softmax.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

// What both kernels on rows read. A row's elements are its classes.
TERN_KERNEL_STRUCT(ClassRows,
                   PiecesLayout rows;
                   Pointer<const T0> x; Pointer<const Index> target; Pointer<const T0> weight;  // or null
                   Index ignore_index; Index normalised; double keep;  // what the target's class has of its loss
                   double spread;                                      // what each class has
);
inline constexpr const char* class_row_text = R"CUDA(
struct ClassRow : RowPieces {
  Rows x;
  const T0* weight;
  Index target;
  C0 keep, spread;
  bool ignored, valid, normalised;
  __device__ explicit ClassRow(const ClassRows& p)
      : RowPieces(p.rows), x(p.x), weight(p.weight), keep(C0(p.keep)), spread(C0(p.spread)), normalised(p.normalised) {
    target = exists ? p.target[which] : 0;
    ignored = target == p.ignore_index;
    valid = exists && !ignored && target >= 0 && target < n;
  }
  __device__ C0 at_target() const { return C0(promote(x.from[start + distance(target)])); }
  __device__ C0 weight_of(Index c) const { return weight ? C0(promote(weight[c])) : C0(1); }
};
)CUDA";

TERN_KERNEL_STRUCT(CrossEntropyParameters,
                   ClassRows in;
                   Pointer<C0> log_sum; Pointer<C0> losses; Pointer<C0> weights; Pointer<T0> y;  // or null
                   ElementReport report;);
inline constexpr PackedKernel<CrossEntropyParameters> cross_entropy_kernel{
    "cross_entropy",
    R"CUDA(
extern "C" __global__ void cross_entropy(const CrossEntropyParameters p) {
  __shared__ ExpSum partial[256];
  __shared__ C0 partial_sum[256];
  ClassRow row(p.in);
  C0 l = 0, all = 0;
  if (!row.normalised) {
    ExpSum sum = ExpSum::none();
    row.each_pack([&](Index, const auto& v) { sum.add(v); }, row.x);
    l = row.total(partial, sum).log_sum();
  }
  if (row.spread != 0) {
    row.each([&](Index c, C0 v) { all += row.weight_of(c) * (l - v); }, row.x);
    all = row.total(partial_sum, all);
  }
  if (!row.exists || row.at != 0) return;
  const Index i = row.which;
  const C0 w = row.valid ? row.weight_of(row.target) : C0(0);
  C0 loss = 0;
  if (row.valid) loss = row.keep * w * (l - row.at_target()) + row.spread * all;
  else if (!row.ignored) {
    p.report.note(row.target, row.n, i);
    loss = C0(not_a_number());
  }
  p.log_sum[i] = l;
  p.losses[i] = loss;
  p.weights[i] = w;
  if (p.y) p.y[i] = Element<T0>::of(loss);
}
)CUDA",
    {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text, exp_sum_text, ClassRows::source,
     class_row_text}};

// The sums of losses and weights: for each block, then of the blocks.
struct LossSum;
inline constexpr const char* loss_sum_text = R"CUDA(
struct LossSum { double loss, weight; };
inline __device__ LossSum operator+(LossSum a, LossSum b) { return LossSum{a.loss + b.loss, a.weight + b.weight}; }
)CUDA";

TERN_KERNEL_STRUCT(LossSumsParameters,
                   Index count;
                   Pointer<const C0> losses; Pointer<const C0> weights; Pointer<LossSum> sums;  // of each block
);
inline constexpr KernelOf<LossSumsParameters> loss_sums_kernel{"loss_sums",
                                                               R"CUDA(
extern "C" __global__ void loss_sums(const LossSumsParameters p) {
  __shared__ LossSum partial[256];
  LossSum sum{0, 0};
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads())
    sum = sum + LossSum{double(p.losses[i]), double(p.weights[i])};
  sum = Row(RowLayout{gridDim.x, 256, 0}).total(partial, sum);
  if (threadIdx.x == 0) p.sums[blockIdx.x] = sum;
}
)CUDA",
                                                               {RowLayout::source, team_text, row_text, loss_sum_text}};

// One block.
TERN_KERNEL_STRUCT(LossTotalParameters,
                   Pointer<const LossSum> sums;
                   Index count;                    // of the sums
                   Pointer<T0> y;                  // or null
                   Pointer<C0> total; Index mean;  // whether y is one
);
inline constexpr KernelOf<LossTotalParameters> loss_total_kernel{
    "loss_total",
    R"CUDA(
extern "C" __global__ void loss_total(const LossTotalParameters p) {
  __shared__ LossSum partial[256];
  LossSum sum{0, 0};
  #pragma unroll 1
  for (Index i = threadIdx.x; i < p.count; i += 256) sum = sum + p.sums[i];
  sum = Row(RowLayout{1, 256, 0}).total(partial, sum);
  if (threadIdx.x) return;
  const double total = p.mean ? sum.weight : 1;
  if (p.y) *p.y = Element<T0>::of(C0(sum.loss / total));
  *p.total = C0(total);
}
)CUDA",
    {RowLayout::source, team_text, row_text, loss_sum_text}};

// dx[c] = a e^(x[c] - l) - h w[c] s / C, less h (1 - s) w[t] at the target.
TERN_KERNEL_STRUCT(CrossEntropyGradientParameters,
                   ClassRows in;
                   Pointer<const C0> log_sum; Pointer<const C0> total; Pointer<const T0> g; Pointer<T0> dx;
                   Index each;  // whether each row has a g of its own
);
inline constexpr PackedKernel<CrossEntropyGradientParameters> cross_entropy_gradient_kernel{
    "cross_entropy_gradient",
    R"CUDA(
extern "C" __global__ void cross_entropy_gradient(const CrossEntropyGradientParameters p) {
  __shared__ C0 partial[256];
  ClassRow row(p.in);
  C0 weights = C0(row.n);
  if (row.weight && row.spread != 0 && !row.normalised) {
    weights = 0;
#pragma unroll 1  // seldom run, and long to compile
    for (Index c = row.at; row.exists && c < row.n; c += row.along) weights += row.weight_of(c);
    weights = row.total(partial, weights);
  }
  if (!row.exists) return;
  const C0 l = p.log_sum[row.which], w = row.valid ? row.weight_of(row.target) : C0(0);
  const C0 h = row.valid ? C0(promote(p.g[p.each ? row.which : 0])) / *p.total : C0(0);
  const C0 a = row.normalised ? C0(0) : h * (row.keep * w + row.spread * weights);
  const Index hit = row.valid ? row.target : -1;
  const C0 even = h * row.spread, kept = h * w * row.keep;
  row.write(p.dx, [&](Index c, C0 v) {
    const C0 part = a == 0 ? C0(0) : a * exp(v - l), smooth = even * row.weight_of(c);
    return part - smooth - (c == hit ? kept : C0(0));
  }, row.x);
}
)CUDA",
    {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text, ClassRows::source, class_row_text}};

/// Of CrossEntropy or its gradient.
template <class Op>
ClassRows class_rows(const Op& op, const RowPieces& rows) {
  return {.rows = rows.layout,
          .x = op.x.data,
          .target = op.target.data,
          .weight = data_of(op.weight),
          .ignore_index = op.options.ignore_index,
          .normalised = op.options.normalised,
          .keep = 1 - op.options.smoothing,
          .spread = op.options.smoothing / double(rows.layout.n)};
}

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const CrossEntropy& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const CrossEntropyGradient& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "cross_entropy.ipp"
#endif
