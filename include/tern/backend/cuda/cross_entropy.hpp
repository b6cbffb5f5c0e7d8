// Cross entropy: a kernel for the rows' losses, two that add them up in double.
#pragma once
#include "../cross_entropy.hpp"
#include "../../device/cuda/memory.hpp"
#include "softmax.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// The words of both kernels on rows: 3 on: classes, inner, x, target, weight, ignore_index, normalised, keep, spread,
// where keep and spread are what the target's class has of its loss, and what each class has.
inline constexpr const char* class_row_text = R"CUDA(
struct ClassRow : Row {
  Index classes, inner, n, target;
  const T0 *x, *weight;
  Index start;
  C0 keep, spread;
  bool ignored, valid, normalised;
  template <class P> __device__ explicit ClassRow(const P& p)
      : Row(p), classes(p.index(3)), inner(p.index(4)), weight(p.template pointer<T0>(7)),
        keep(C0(number<double>(p.word[10]))), spread(C0(number<double>(p.word[11]))), normalised(p.word[9]) {
    n = exists ? classes : 0;
    start = which / inner * classes * inner + which % inner;
    x = p.template pointer<T0>(5) + start;
    target = exists ? p.template pointer<Index>(6)[which] : 0;
    ignored = target == p.index(8);
    valid = exists && !ignored && target >= 0 && target < classes;
  }
  __device__ C0 at_class(Index c) const { return C0(wide(x[c * inner])); }
  __device__ C0 weight_of(Index c) const { return weight ? C0(wide(weight[c])) : C0(1); }
};
)CUDA";

// Words from 12 on: log_sum, losses, weights, y or null, the report.
inline constexpr Kernel cross_entropy_kernel{"cross_entropy", R"CUDA(
extern "C" __global__ void cross_entropy(const Words<19> p) {
  __shared__ ExpSum partial[256];
  __shared__ C0 partial_sum[256];
  const ClassRow row(p);
  C0 l = 0, all = 0;
  if (!row.normalised) {
    ExpSum sum = ExpSum::none();
    #pragma unroll 2
    for (Index c = row.at; c < row.n; c += row.along) sum.add(row.at_class(c));
    l = row.total(partial, sum).log_sum();
  }
  if (row.spread != 0) {
#pragma unroll 1  // seldom run, and long to compile
    for (Index c = row.at; c < row.n; c += row.along) all += row.weight_of(c) * (l - row.at_class(c));
    all = row.total(partial_sum, all);
  }
  if (!row.exists || row.at != 0) return;
  const Index i = row.which;
  const C0 w = row.valid ? row.weight_of(row.target) : C0(0);
  C0 loss = 0;
  if (row.valid) loss = row.keep * w * (l - row.at_class(row.target)) + row.spread * all;
  else if (!row.ignored) {
    report(p, 16, row.target, row.classes, i);
    loss = C0(not_a_number());
  }
  p.pointer<C0>(12)[i] = l;
  p.pointer<C0>(13)[i] = loss;
  p.pointer<C0>(14)[i] = w;
  if (p.word[15]) p.pointer<T0>(15)[i] = Element<T0>::of(loss);
}
)CUDA", {row_text, exp_sum_text, class_row_text}};

// The sums of losses and weights: for each block, then of the blocks. Words from 3 on: losses, weights, the blocks'
// sums.
inline constexpr const char* loss_sum_text = R"CUDA(
struct LossSum { double loss, weight; };
inline __device__ LossSum operator+(LossSum a, LossSum b) { return LossSum{a.loss + b.loss, a.weight + b.weight}; }
)CUDA";

inline constexpr Kernel loss_sums_kernel{"loss_sums", R"CUDA(
extern "C" __global__ void loss_sums(const Words<6> p) {
  __shared__ LossSum partial[256];
  LossSum sum{0, 0};
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads())
    sum = sum + LossSum{double(p.pointer<C0>(3)[i]), double(p.pointer<C0>(4)[i])};
  sum = Row(Words<3>{{gridDim.x, 256, 0}}).total(partial, sum);
  if (threadIdx.x == 0) p.pointer<LossSum>(5)[blockIdx.x] = sum;
}
)CUDA", {row_text, loss_sum_text}};

// One block. Words: 1, 256, 0, the blocks' sums, how many, y or null, total, whether y is a mean.
inline constexpr Kernel loss_total_kernel{"loss_total", R"CUDA(
extern "C" __global__ void loss_total(const Words<8> p) {
  __shared__ LossSum partial[256];
  LossSum sum{0, 0};
  #pragma unroll 1
  for (Index i = threadIdx.x; i < p.index(4); i += 256) sum = sum + p.pointer<LossSum>(3)[i];
  sum = Row(p).total(partial, sum);
  if (threadIdx.x) return;
  const double total = p.word[7] ? sum.weight : 1;
  if (p.word[5]) *p.pointer<T0>(5) = Element<T0>::of(C0(sum.loss / total));
  *p.pointer<C0>(6) = C0(total);
}
)CUDA", {row_text, loss_sum_text}};

// dx[c] = a e^(x[c] - l) - h w[c] s / C, less h (1 - s) w[t] at the target. Words from 12 on: log_sum, total, g, dx,
// whether each row has a g of its own.
inline constexpr Kernel cross_entropy_gradient_kernel{"cross_entropy_gradient", R"CUDA(
extern "C" __global__ void cross_entropy_gradient(const Words<17> p) {
  __shared__ C0 partial[256];
  const ClassRow row(p);
  C0 weights = C0(row.classes);
  if (row.weight && row.spread != 0 && !row.normalised) {
    weights = 0;
#pragma unroll 1  // seldom run, and long to compile
    for (Index c = row.at; c < row.n; c += row.along) weights += row.weight_of(c);
    weights = row.total(partial, weights);
  }
  if (!row.exists) return;
  T0* const dx = p.pointer<T0>(15) + row.start;
  const C0 l = p.pointer<C0>(12)[row.which], w = row.valid ? row.weight_of(row.target) : C0(0);
  const C0 h = row.valid ? C0(wide(p.pointer<T0>(14)[p.word[16] ? row.which : 0])) / *p.pointer<C0>(13) : C0(0);
  const C0 a = row.normalised ? C0(0) : h * (row.keep * w + row.spread * weights);
  #pragma unroll 2
  for (Index c = row.at; c < row.n; c += row.along) {
    const C0 part = a == 0 ? C0(0) : a * exp(row.at_class(c) - l), smooth = h * row.spread * row.weight_of(c);
    dx[c * row.inner] = Element<T0>::of(part - smooth - (row.valid && c == row.target ? h * w * row.keep : C0(0)));
  }
}
)CUDA", {row_text, class_row_text}};

/// Of CrossEntropy or its gradient.
template <class Op>
Words class_row_words(const Op& op, const RowBlocks& blocks) {
  const RowsAlong rows(op.x, 1);
  Words words = blocks.words();
  words.add(rows.n);
  words.add(rows.inner);
  words.add(op.x.data);
  words.add(op.target.data);
  words.add(op.weight ? op.weight->data : nullptr);
  words.add(op.options.ignore_index);
  words.add(Index(op.options.normalised));
  words.add_number(1 - op.options.smoothing);
  words.add_number(op.options.smoothing / double(rows.n));
  return words;
}

TERN_API void run_cross_entropy(const CrossEntropy& op);

TERN_API void run_cross_entropy_gradient(const CrossEntropyGradient& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const CrossEntropy& op) {
  cuda_kernels::run_cross_entropy(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const CrossEntropyGradient& op) {
  cuda_kernels::run_cross_entropy_gradient(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "cross_entropy.ipp"
#endif
