// The ops that programs leave to the compiled library. For float on the CPU these are all that have elementwise kernels
// or reductions of their own, so that they run with the instructions that the processor has (backend/cpu/dispatch.hpp).
// On the GPU, and where the library has the program's options, they are those that profiles of trainers chose.
// tests/compiled/run finds an op that is missing here.
#pragma once
#include "ops.hpp"

namespace tern { inline namespace TERN_BUILD {

// clang-format off: lists
#define TERN_TRAINERS_OPS(D, instance)                                                            \
  TERN_TRAINERS_UNARY(D, instance, exp) TERN_TRAINERS_UNARY(D, instance, log)                     \
  TERN_TRAINERS_UNARY(D, instance, sqrt) TERN_TRAINERS_UNARY(D, instance, tanh)                   \
  TERN_TRAINERS_UNARY(D, instance, sigmoid) TERN_TRAINERS_UNARY(D, instance, relu)                \
  TERN_TRAINERS_UNARY(D, instance, silu)                                                          \
  TERN_TRAINERS_BINARY(D, instance, add) TERN_TRAINERS_BINARY(D, instance, sub)                   \
  TERN_TRAINERS_BINARY(D, instance, mul) TERN_TRAINERS_BINARY(D, instance, div)                   \
  TERN_TRAINERS_BINARY(D, instance, matmul)                                                       \
  instance(Tensor<D> add(const Tensor<D>&, detail::RealNumber, CallSite))                                         \
  instance(Tensor<D> mul(const Tensor<D>&, detail::RealNumber, CallSite))                                         \
  instance(Tensor<D> gelu(const Tensor<D>&, const char*, CallSite))                                   \
  instance(Tensor<D> softmax(const Tensor<D>&, Index, CallSite))                                      \
  instance(Tensor<D> log_softmax(const Tensor<D>&, Index, CallSite))                                  \
  instance(Tensor<D> sum(const Tensor<D>&, detail::Dims, bool, CallSite))                                     \
  instance(Tensor<D> mean(const Tensor<D>&, detail::Dims, bool, CallSite))                                    \
  instance(Tensor<D, Index> argmax(const Tensor<D>&, detail::Dims, bool, CallSite))                          \
  instance(Tensor<D> linear(const Tensor<D>&, const Tensor<D>&, const Tensor<D>&, CallSite))
#define TERN_TRAINERS_UNARY(D, instance, name) instance(Tensor<D> name(const Tensor<D>&, CallSite))
#define TERN_TRAINERS_BINARY(D, instance, name) instance(Tensor<D> name(const Tensor<D>&, const Tensor<D>&, CallSite))
// clang-format on
TERN_TRAINERS_OPS(Cuda, TERN_CUDA_INSTANCE)
#if defined(TERN_SAME_OPTIONS)
TERN_TRAINERS_OPS(Cpu, TERN_INSTANCE)
#endif
#undef TERN_TRAINERS_OPS
#undef TERN_TRAINERS_UNARY
#undef TERN_TRAINERS_BINARY

#if !defined(TERN_SAME_OPTIONS)

#define TERN_UNARY_OP(name)                                     \
  TERN_INSTANCE(Tensor<Cpu> name(const Tensor<Cpu>&, CallSite)) \
  TERN_INSTANCE(const Tensor<Cpu>& name##_(const Tensor<Cpu>&, CallSite))
TERN_UNARY_OP(abs)
TERN_UNARY_OP(neg)
TERN_UNARY_OP(exp)
TERN_UNARY_OP(exp2)
TERN_UNARY_OP(expm1)
TERN_UNARY_OP(log)
TERN_UNARY_OP(log2)
TERN_UNARY_OP(log10)
TERN_UNARY_OP(log1p)
TERN_UNARY_OP(sqrt)
TERN_UNARY_OP(rsqrt)
TERN_UNARY_OP(reciprocal)
TERN_UNARY_OP(square)
TERN_UNARY_OP(sinc)
TERN_UNARY_OP(sin)
TERN_UNARY_OP(cos)
TERN_UNARY_OP(tan)
TERN_UNARY_OP(asin)
TERN_UNARY_OP(acos)
TERN_UNARY_OP(atan)
TERN_UNARY_OP(sinh)
TERN_UNARY_OP(cosh)
TERN_UNARY_OP(tanh)
TERN_UNARY_OP(asinh)
TERN_UNARY_OP(acosh)
TERN_UNARY_OP(atanh)
TERN_UNARY_OP(sigmoid)
TERN_UNARY_OP(erf)
TERN_UNARY_OP(erfc)
TERN_UNARY_OP(erfinv)
TERN_UNARY_OP(lgamma)
TERN_UNARY_OP(digamma)
TERN_UNARY_OP(sign)
TERN_UNARY_OP(floor)
TERN_UNARY_OP(ceil)
TERN_UNARY_OP(round)
TERN_UNARY_OP(trunc)
TERN_UNARY_OP(frac)
TERN_UNARY_OP(relu)
TERN_UNARY_OP(logit)
TERN_UNARY_OP(silu)
TERN_UNARY_OP(mish)
TERN_UNARY_OP(softsign)
TERN_UNARY_OP(tanhshrink)
TERN_UNARY_OP(logsigmoid)
TERN_UNARY_OP(relu6)
TERN_UNARY_OP(hardsigmoid)
TERN_UNARY_OP(hardswish)
TERN_UNARY_OP(selu)
#undef TERN_UNARY_OP

#define TERN_BINARY_OP(name)                                                                  \
  TERN_INSTANCE(Tensor<Cpu> name(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))           \
  TERN_INSTANCE(Tensor<Cpu> name(const Tensor<Cpu>&, detail::RealNumber, CallSite))           \
  TERN_INSTANCE(const Tensor<Cpu>& name##_(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite)) \
  TERN_INSTANCE(const Tensor<Cpu>& name##_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_BINARY_OP(mul)
TERN_BINARY_OP(div)
TERN_BINARY_OP(pow)
TERN_BINARY_OP(fmod)
TERN_BINARY_OP(remainder)
TERN_BINARY_OP(floor_divide)
TERN_BINARY_OP(add)
TERN_BINARY_OP(sub)
#undef TERN_BINARY_OP

#define TERN_COMPARISON_OP(name)                                                              \
  TERN_INSTANCE(Tensor<Cpu, bool> name(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))     \
  TERN_INSTANCE(Tensor<Cpu, bool> name(const Tensor<Cpu>&, detail::RealNumber, CallSite))     \
  TERN_INSTANCE(const Tensor<Cpu>& name##_(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite)) \
  TERN_INSTANCE(const Tensor<Cpu>& name##_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_COMPARISON_OP(eq)
TERN_COMPARISON_OP(ne)
TERN_COMPARISON_OP(lt)
TERN_COMPARISON_OP(le)
TERN_COMPARISON_OP(gt)
TERN_COMPARISON_OP(ge)
#undef TERN_COMPARISON_OP

#define TERN_PREDICATE_OP(name) TERN_INSTANCE(Tensor<Cpu, bool> name(const Tensor<Cpu>&, CallSite))
TERN_PREDICATE_OP(isnan)
TERN_PREDICATE_OP(isinf)
TERN_PREDICATE_OP(isfinite)
TERN_PREDICATE_OP(isneginf)
TERN_PREDICATE_OP(isposinf)
TERN_PREDICATE_OP(logical_not)
TERN_PREDICATE_OP(signbit)
#undef TERN_PREDICATE_OP

#define TERN_LOGICAL_OP(name)                                                             \
  TERN_INSTANCE(Tensor<Cpu, bool> name(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite)) \
  TERN_INSTANCE(const Tensor<Cpu>& name##_(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_LOGICAL_OP(logical_and)
TERN_LOGICAL_OP(logical_or)
TERN_LOGICAL_OP(logical_xor)
#undef TERN_LOGICAL_OP

#define TERN_PAIR_OP(name)                                                          \
  TERN_INSTANCE(Tensor<Cpu> name(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite)) \
  TERN_INSTANCE(const Tensor<Cpu>& name##_(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_PAIR_OP(atan2)
TERN_PAIR_OP(hypot)
TERN_PAIR_OP(xlogy)
#undef TERN_PAIR_OP
TERN_INSTANCE(Tensor<Cpu> nextafter(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(detail::MantissaAndExponent<Cpu, float> frexp(const Tensor<Cpu>&, CallSite))

// Arithmetic, powers, rounding.
TERN_INSTANCE(Tensor<Cpu> add(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& add_(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> sub(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& sub_(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> rsub(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> rdiv(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> div(const Tensor<Cpu>&, const Tensor<Cpu>&, const char*, CallSite))
TERN_INSTANCE(Tensor<Cpu> pow(detail::RealNumber, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu, double> float_power(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu, double> float_power(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> logit(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> logaddexp(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> logaddexp2(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> xlog1py(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> polygamma(Index, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> ndtr(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> log_ndtr(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> entr(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> round(const Tensor<Cpu>&, int, CallSite))

// Activations.
TERN_INSTANCE(Tensor<Cpu> leaky_relu(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& leaky_relu_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> elu(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& elu_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> celu(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& celu_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> hardtanh(const Tensor<Cpu>&, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& hardtanh_(const Tensor<Cpu>&, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> threshold(const Tensor<Cpu>&, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& threshold_(const Tensor<Cpu>&, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> softplus(const Tensor<Cpu>&, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> softshrink(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> hardshrink(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> gelu(const Tensor<Cpu>&, const char*, CallSite))
TERN_INSTANCE(Tensor<Cpu> prelu(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> rrelu(const Tensor<Cpu>&, double, double, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> glu(const Tensor<Cpu>&, Index, CallSite))

// Choices and mixtures.
TERN_INSTANCE(Tensor<Cpu, bool> isclose(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, detail::RealNumber,
                                        bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> where(const Tensor<Cpu, bool>&, const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> where(const Tensor<Cpu, bool>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> where(const Tensor<Cpu, bool>&, detail::RealNumber, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> maximum(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> minimum(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> fmax(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> fmin(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> clamp(const Tensor<Cpu>&, std::optional<detail::RealNumber>,
                                std::optional<detail::RealNumber>, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& clamp_(const Tensor<Cpu>&, std::optional<detail::RealNumber>,
                                        std::optional<detail::RealNumber>, CallSite))
TERN_INSTANCE(Tensor<Cpu> clamp(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> clamp_min(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> clamp_min(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& clamp_min_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> clamp_max(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> clamp_max(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& clamp_max_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> masked_fill(const Tensor<Cpu>&, const Tensor<Cpu, bool>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> masked_fill(const Tensor<Cpu>&, const Tensor<Cpu, bool>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& masked_fill_(const Tensor<Cpu>&, const Tensor<Cpu, bool>&, const Tensor<Cpu>&,
                                              CallSite))
TERN_INSTANCE(const Tensor<Cpu>& masked_fill_(const Tensor<Cpu>&, const Tensor<Cpu, bool>&, detail::RealNumber,
                                              CallSite))
TERN_INSTANCE(Tensor<Cpu> nan_to_num(const Tensor<Cpu>&, detail::RealNumber, std::optional<double>,
                                     std::optional<double>, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& nan_to_num_(const Tensor<Cpu>&, detail::RealNumber, std::optional<double>,
                                             std::optional<double>, CallSite))
TERN_INSTANCE(Tensor<Cpu> lerp(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& lerp_(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> lerp(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& lerp_(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> addcmul(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                                  CallSite))
TERN_INSTANCE(const Tensor<Cpu>& addcmul_(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                          detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> addcdiv(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                                  CallSite))
TERN_INSTANCE(const Tensor<Cpu>& addcdiv_(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                          detail::RealNumber, CallSite))

// Conversions.
#define TERN_CONVERSION(type)                                                                \
  TERN_INSTANCE(Tensor<Cpu, type> to_type(const Tensor<Cpu>&, detail::Type<type>, CallSite)) \
  TERN_INSTANCE(Tensor<Cpu> to_type(const Tensor<Cpu, type>&, detail::Type<float>, CallSite))
TERN_CONVERSION(double)
TERN_CONVERSION(Index)
TERN_CONVERSION(bool)
#undef TERN_CONVERSION

// Random numbers.
TERN_INSTANCE(Tensor<Cpu> normal(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> normal(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> normal(detail::RealNumber, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> bernoulli(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& bernoulli_(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(const Tensor<Cpu>& exponential_(const Tensor<Cpu>&, double, CallSite))
TERN_INSTANCE(Tensor<Cpu> alpha_dropout(const Tensor<Cpu>&, detail::RealNumber, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> feature_alpha_dropout(const Tensor<Cpu>&, detail::RealNumber, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu, Index> multinomial(const Tensor<Cpu>&, Index, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> gumbel_softmax(const Tensor<Cpu>&, detail::RealNumber, bool, Index, CallSite))

// Reductions.
TERN_INSTANCE(Tensor<Cpu> sum(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> nansum(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> nanmean(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> logcumsumexp(const Tensor<Cpu>&, Index, CallSite))
TERN_INSTANCE(Tensor<Cpu> mean(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> prod(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> amax(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> amin(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu, bool> any(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu, bool> all(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> var(const Tensor<Cpu>&, detail::Dims, detail::RealNumber, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> std(const Tensor<Cpu>&, detail::Dims, detail::RealNumber, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> logsumexp(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> norm(const Tensor<Cpu>&, detail::RealNumber, detail::Dims, bool, CallSite))
TERN_INSTANCE(std::pair<Tensor<Cpu>, Tensor<Cpu>> var_mean(const Tensor<Cpu>&, detail::Dims, detail::RealNumber, bool,
                                                           CallSite))
TERN_INSTANCE(std::pair<Tensor<Cpu>, Tensor<Cpu>> std_mean(const Tensor<Cpu>&, detail::Dims, detail::RealNumber, bool,
                                                           CallSite))
TERN_INSTANCE(MinMax<Cpu, float> aminmax(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu, Index> count_nonzero(const Tensor<Cpu>&, detail::Dims, CallSite))
TERN_INSTANCE(Tensor<Cpu> histc(const Tensor<Cpu>&, Index, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu, Index> nonzero(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu, Index> nonzero(const Tensor<Cpu, bool>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> trace(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> max(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(ValuesAndIndices<Cpu, float> max(const Tensor<Cpu>&, Index, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> min(const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(ValuesAndIndices<Cpu, float> min(const Tensor<Cpu>&, Index, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu, Index> argmax(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu, Index> argmin(const Tensor<Cpu>&, detail::Dims, bool, CallSite))
TERN_INSTANCE(bool equal(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(bool allclose(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, detail::RealNumber, bool,
                            CallSite))

// Softmax, normalisation, distance.
TERN_INSTANCE(Tensor<Cpu> softmax(const Tensor<Cpu>&, Index, CallSite))
TERN_INSTANCE(Tensor<Cpu> log_softmax(const Tensor<Cpu>&, Index, CallSite))
TERN_INSTANCE(Tensor<Cpu> layer_norm(const Tensor<Cpu>&, const detail::Shape&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                     detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> rms_norm(const Tensor<Cpu>&, const detail::Shape&, const Tensor<Cpu>&, std::optional<double>,
                                   CallSite))
TERN_INSTANCE(Tensor<Cpu> group_norm(const Tensor<Cpu>&, Index, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                     detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> instance_norm(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                        const Tensor<Cpu>&, bool, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> batch_norm(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                     const Tensor<Cpu>&, bool, detail::RealNumber, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> cdist(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> pdist(const Tensor<Cpu>&, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> pairwise_distance(const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                                            detail::RealNumber, bool, CallSite))
TERN_INSTANCE(Tensor<Cpu> normalize(const Tensor<Cpu>&, detail::RealNumber, detail::Dims, detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> cosine_similarity(const Tensor<Cpu>&, const Tensor<Cpu>&, Index, detail::RealNumber,
                                            CallSite))
namespace linalg {
TERN_INSTANCE(Tensor<Cpu> vector_norm(const Tensor<Cpu>&, tern::detail::RealNumber, tern::detail::Dims, bool, CallSite))
}

// Losses.
TERN_INSTANCE(Tensor<Cpu> mse_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, LossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> l1_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, LossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> huber_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, HuberLossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> smooth_l1_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, SmoothL1LossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> margin_ranking_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                              MarginLossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> hinge_embedding_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, HingeEmbeddingLossOptions,
                                               CallSite))
TERN_INSTANCE(Tensor<Cpu> soft_margin_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, LossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> triplet_margin_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                              TripletMarginLossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> cosine_embedding_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                                MarginLossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> multi_margin_loss(const Tensor<Cpu>&, const Tensor<Cpu, Index>&, MultiMarginLossOptions,
                                            CallSite))
TERN_INSTANCE(Tensor<Cpu> multilabel_margin_loss(const Tensor<Cpu>&, const Tensor<Cpu, Index>&, LossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> multilabel_soft_margin_loss(const Tensor<Cpu>&, const Tensor<Cpu>&,
                                                      const MultiLabelSoftMarginLossOptions<Cpu, float>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> gaussian_nll_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&,
                                            GaussianNllLossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> kl_div(const Tensor<Cpu>&, const Tensor<Cpu>&, KlDivOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> poisson_nll_loss(const Tensor<Cpu>&, const Tensor<Cpu>&, PoissonNllLossOptions, CallSite))
TERN_INSTANCE(Tensor<Cpu> binary_cross_entropy(const Tensor<Cpu>&, const Tensor<Cpu>&,
                                               const BinaryCrossEntropyOptions<Cpu, float>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> binary_cross_entropy_with_logits(const Tensor<Cpu>&, const Tensor<Cpu>&,
                                                           const BinaryCrossEntropyWithLogitsOptions<Cpu, float>&,
                                                           CallSite))
TERN_INSTANCE(Tensor<Cpu> nll_loss(const Tensor<Cpu>&, const Tensor<Cpu, Index>&, const NllLossOptions<Cpu, float>&,
                                   CallSite))
TERN_INSTANCE(Tensor<Cpu> cross_entropy(const Tensor<Cpu>&, const Tensor<Cpu>&, const CrossEntropyOptions<Cpu, float>&,
                                        CallSite))
TERN_INSTANCE(Tensor<Cpu> ctc_loss(const Tensor<Cpu>&, const Tensor<Cpu, Index>&, const Tensor<Cpu, Index>&,
                                   const Tensor<Cpu, Index>&, CtcLossOptions, CallSite))

// Products.
TERN_INSTANCE(Tensor<Cpu> matmul(const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> linear(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, CallSite))
TERN_INSTANCE(Tensor<Cpu> addmm(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                                detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> addr(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                               detail::RealNumber, CallSite))

TERN_INSTANCE(Tensor<Cpu> addmv(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                                detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> addbmm(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                                 detail::RealNumber, CallSite))
TERN_INSTANCE(Tensor<Cpu> baddbmm(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, detail::RealNumber,
                                  detail::RealNumber, CallSite))

// Images.

namespace detail {
TERN_INSTANCE(void fill_from(const CallSite&, const Tensor<Cpu>&, const Tensor<Cpu, bool>&, const Tensor<Cpu>&))
TERN_INSTANCE(Tensor<Cpu> lp_pool(const CallSite&, int, const Tensor<Cpu>&, double, const Dims&, const LpPoolOptions&))
}
TERN_INSTANCE(Tensor<Cpu> grid_sample(const Tensor<Cpu>&, const Tensor<Cpu>&, const GridSampleOptions&, CallSite))
TERN_INSTANCE(Tensor<Cpu> interpolate(const Tensor<Cpu>&, const InterpolateOptions&, CallSite))

#endif

}}  // namespace tern
