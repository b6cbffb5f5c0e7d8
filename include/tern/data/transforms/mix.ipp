// The functions of mix.hpp that are not templates.
#pragma once
#include "mix.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms::detail {

TERN_NOINLINE double draw_gamma(Random& random, double a) {
  if (a < 1) return draw_gamma(random, a + 1) * std::pow(1 - random.uniform_double(), 1 / a);
  const double d = a - 1. / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - random.uniform_double()) < x * x / 2 + d * (1 - v + std::log(v))) return d * v;
  }
}

TERN_NOINLINE double draw_beta(Random& random, double a) {
  const double x = draw_gamma(random, a), y = draw_gamma(random, a);
  return x + y > 0 ? x / (x + y) : 0.5;
}

TERN_COLD void check_mix(const char* op, const MixUpOptions& options) {
  if (!(options.alpha > 0)) Error::fail(op, {"alpha must be positive, not ", options.alpha});
  if (options.num_classes < 1) Error::fail(op, {"num_classes must be at least 1, not ", options.num_classes});
}

TERN_COLD void check_labels(const char* op, const Tensor<Cpu>& x, const Tensor<Cpu, Index>& labels) {
  const tern::detail::Array &images = *x.checked(op), &numbers = *labels.checked(op);
  if (numbers.ndim != 1 || images.ndim < 1 || images.dims[0] != numbers.dims[0] || !images.contiguous ||
      !numbers.contiguous)
    Error::fail(op, {"samples must be [N, …] in row-major order and labels [N], not ", images.shape_ref(), " and ",
                     numbers.shape_ref()});
}

TERN_NOINLINE Tensor<Cpu> mixed_labels(const char* op, const Tensor<Cpu, Index>& labels, Index classes, float share) {
  const Index n = labels.numel();
  const Tensor<Cpu> out = zeros<Cpu>({n, classes});
  for (Index i = 0; i < n; ++i) {
    const Index own = labels.data()[i], other = labels.data()[i > 0 ? i - 1 : n - 1];
    if (own < 0 || own >= classes) Error::fail(op, {"label ", own, " is not one of ", classes, " classes"});
    if (other >= 0 && other < classes) out.data()[i * classes + other] += 1 - share;
    out.data()[i * classes + own] += share;
  }
  return out;
}

}}}  // namespace tern::data::transforms::detail

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

TERN_NOINLINE std::tuple<Tensor<Cpu>, Tensor<Cpu>> MixUp::operator()(
    const std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>& batch, Random& random) const {
  const auto& [x, labels] = batch;
  detail::check_labels("MixUp", x, labels);
  const float share = float(detail::draw_beta(random, options_.alpha));
  const Index n = labels.numel(), elements = n ? x.numel() / n : 0;
  const Tensor<Cpu> out = empty<Cpu>(x.shape());
  for (Index i = 0; i < n; ++i)
    mix(out.data() + i * elements, x.data() + i * elements, x.data() + (i > 0 ? i - 1 : n - 1) * elements, elements,
        share);
  return {out, detail::mixed_labels("MixUp", labels, options_.num_classes, share)};
}

TERN_INLINE void MixUp::mix(float* __restrict out, const float* __restrict a, const float* __restrict b, Index n,
                            float share) {
  constexpr int block = 16;  // a constant length, so that g++ -O2 vectorises the loop
  Index i = 0;
  for (; i + block <= n; i += block)
    for (int k = 0; k < block; ++k) out[i + k] = share * a[i + k] + (1 - share) * b[i + k];
  for (; i < n; ++i) out[i] = share * a[i] + (1 - share) * b[i];
}

TERN_NOINLINE std::tuple<Tensor<Cpu>, Tensor<Cpu>> CutMix::operator()(
    const std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>& batch, Random& random) const {
  const auto& [x, labels] = batch;
  detail::check_labels("CutMix", x, labels);
  if (x.dim() != 4) Error::fail("CutMix", {"images must be [N, C, H, W], not ", x.shape()});
  const Index n = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3);
  const double side =
      0.5 * std::sqrt(1 - detail::draw_beta(
                              random, options_.alpha));  // half of the rectangle's side, as a fraction of the image's
  const Index row = random.below(height), column = random.below(width);
  const Index half_height = Index(side * double(height)), half_width = Index(side * double(width));
  const Index top = std::max<Index>(row - half_height, 0), bottom = std::min(row + half_height, height);
  const Index left = std::max<Index>(column - half_width, 0), right = std::min(column + half_width, width);
  const Tensor<Cpu> out = empty<Cpu>(x.shape());
  std::memcpy(out.data(), x.data(), std::size_t(x.numel()) * sizeof(float));
  const Index image = channels * height * width;
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < channels; ++c)
      for (Index y = top; y < bottom; ++y) {
        const Index at = (c * height + y) * width + left;
        std::copy_n(x.data() + (i > 0 ? i - 1 : n - 1) * image + at, right - left, out.data() + i * image + at);
      }
  const float share = 1 - float((bottom - top) * (right - left)) / float(height * width);
  return {out, detail::mixed_labels("CutMix", labels, options_.num_classes, share)};
}

}}}  // namespace tern::data::transforms
