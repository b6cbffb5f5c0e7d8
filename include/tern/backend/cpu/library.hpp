// The kernels that programs leave to the compiled library: those for float, those without an element type, those that
// compiled functions need, and for bfloat16 those of networks.
#pragma once
#include "../attention.hpp"
#include "../batch_norm.hpp"
#include "../convolution.hpp"
#include "../copy.hpp"
#include "../cross_entropy.hpp"
#include "../gather.hpp"
#include "../layer_norm.hpp"
#include "../map.hpp"
#include "../matmul.hpp"
#include "../multiply_adds.hpp"
#include "../pooling.hpp"
#include "../random.hpp"
#include "../recurrence.hpp"
#include "../reduce.hpp"
#include "../rows.hpp"
#include "../scan.hpp"
#include "../softmax.hpp"
#include "../sort.hpp"
#include "dispatch.hpp"

// clang-format off: lists
/// f(op, element type) for each.
#define TERN_LIBRARY_KERNELS(f)                                                                                       \
  f(Copy) f(Fill<float>) f(Fill<double>) f(Fill<Index>) f(Fill<std::uint8_t>) f(CheckRange) f(IndexSelect) f(Gather)  \
  f(RowNumbers) f(CopyRows) f(CountTrue) f(TruePositions) f(RefuseIf) f(MultiplyAdds)                                 \
  f(MatMul, float) f(Convolution, float) f(MaxPool, float) f(MaxPoolGradient, float) f(AveragePool, float)            \
  f(AveragePoolGradient, float) f(BatchNorm, float) f(BatchNormInference, float) f(BatchNormGradient, float)          \
  f(LayerNorm, float) f(LayerNormGradient, float) f(Softmax, float) f(SoftmaxGradient, float) f(CrossEntropy, float)  \
  f(CrossEntropyGradient, float) f(Attention, float) f(AttentionGradient, float) f(TokenAttention, float)             \
  f(Recurrence, float) f(RecurrenceGradient, float) f(Uniform, float) f(Normal, float) f(Dropout, float)              \
  f(Scan, float) f(Sort, float) f(ArgExtreme, float) f(IndexAdd, float) f(Scatter<ScatterMode::sum>, float)           \
  f(AddRows, float) f(EmbeddingBag, float) f(EmbeddingBagGradient, float)                                             \
  f(MatMul, bfloat16) f(Convolution, bfloat16) f(MaxPool, bfloat16) f(MaxPoolGradient, bfloat16) f(Dropout, bfloat16)
/// f(op) for each of bfloat16 that only deeper networks have: normalisation, recurrence, attention.
#define TERN_BFLOAT16_KERNELS(f)                                                                                    \
  f(AveragePool) f(AveragePoolGradient) f(BatchNorm) f(BatchNormInference) f(BatchNormGradient) f(LayerNorm)        \
  f(LayerNormGradient) f(Softmax) f(SoftmaxGradient) f(CrossEntropy) f(CrossEntropyGradient) f(Attention)           \
  f(AttentionGradient) f(TokenAttention) f(Recurrence) f(RecurrenceGradient) f(AddRows) f(EmbeddingBag)
// clang-format on

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_LIBRARY_KERNELS(TERN_LIBRARY_KERNEL)
#if defined(TERN_PART_BFLOAT16)  // in parts, they are one of their own
#define TERN_BFLOAT16_KERNEL(Op) TERN_PART_KERNEL(Op, bfloat16)
#elif defined(TERN_PART_KERNELS)
#define TERN_BFLOAT16_KERNEL(Op) TERN_KERNEL_IN_LIBRARY(Op, bfloat16)
#else
#define TERN_BFLOAT16_KERNEL(Op) TERN_LIBRARY_KERNEL(Op, bfloat16)
#endif
TERN_BFLOAT16_KERNELS(TERN_BFLOAT16_KERNEL)
#undef TERN_LIBRARY_KERNELS
#undef TERN_BFLOAT16_KERNELS
#undef TERN_BFLOAT16_KERNEL

}}}  // namespace tern::detail::backend
