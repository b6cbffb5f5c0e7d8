// One row for each public function of ops/: a gradient, an oracle, a refusal. tests/public_ops finds those without one. Over 400
// lines, because the functions are one list.
#include "support/public_op.hpp"
#include "tern/linalg/linalg.hpp"
#include "tern/ops/ops.hpp"

namespace ops_public_ops {
using namespace tern;
using namespace tern_test;

namespace {

using List = std::vector<X>;

const X none;
const X wrong = ones<Cpu, double>({4});  // broadcasts with neither x, y nor z

Tensor<Cpu, Index> ints(const std::vector<double>& values) { return tensor_of<Cpu, Index>(values); }
Tensor<Cpu, Index> ints(const std::vector<double>& values, const detail::Shape& shape) {
  return tensor_of<Cpu, Index>(values, shape);
}
/// True at every other of 2 x 3 elements.
Tensor<Cpu, bool> mask() { return tensor_of<Cpu, bool>({1, 0, 1, 0, 1, 0}, {2, 3}); }
Tensor<Cpu, bool> wrong_mask() { return ones<Cpu, bool>({4}); }

/// A regular matrix, and a symmetric positive definite one.
X regular(const X& x, const X& y) { return mm(x, y.t()) + eye<Cpu, double>(2); }
X definite(const X& x) { return mm(x, x.t()) + eye<Cpu, double>(2); }

/// What f(a, b) says of each element.
constexpr Oracle each(double (*f)(double a, double b)) { return {f}; }
double same(double a, double) { return a; }
double digamma_by_differences(double a, double) {
  const long double h = 1e-5L;
  const auto f = [&](int k) { return std::lgamma(static_cast<long double>(a) + k * h); };
  return double((8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * h));
}
/// The root of erf(v) = a by bisection.
double erfinv_by_bisection(double a, double) {
  double low = -7, high = 7;
  for (int i = 0; i < 200; ++i) (std::erf((low + high) / 2) < a ? low : high) = (low + high) / 2;
  return low;
}

const PublicOp public_ops[] = {
    // arithmetic
    OP(add, add(x, y), opinfo, add(x, wrong)), IN_PLACE(add, x, z),
    OP(sub, sub(x, y), opinfo, sub(x, wrong)), IN_PLACE(sub, x, z),
    OP(mul, mul(x, y), opinfo, mul(x, wrong)), IN_PLACE(mul, x, z),
    OP(div, div(x, y), opinfo, div(x, wrong)), IN_PLACE(div, x, z),
    OP(rsub, rsub(x, 2), each([](double a, double) { return 2 - a; }), rsub(none, 2)),
    OP(rdiv, rdiv(x, 2), each([](double a, double) { return 2 / a; }), rdiv(none, 2)),
    UNARY(neg, x, opinfo),

    // exponential, power
    UNARY(exp, x, opinfo), UNARY(exp2, x, opinfo), UNARY(expm1, x, opinfo), UNARY(log, x, opinfo),
    UNARY(log2, x, opinfo), UNARY(log10, x, opinfo), UNARY(log1p, x, opinfo), UNARY(sigmoid, x, opinfo),
    UNARY(logit, x, each([](double a, double) { return std::log(a / (1 - a)); })),
    UNARY(sqrt, x, opinfo), UNARY(rsqrt, x, opinfo), UNARY(reciprocal, x, opinfo), UNARY(square, x, opinfo),
    OP(pow, pow(x, y), opinfo, pow(x, wrong)), IN_PLACE(pow, x, y),
    OP(float_power, float_power(x, y), opinfo, float_power(none, y)),
    OP(logaddexp, logaddexp(x, y), opinfo, logaddexp(x, wrong)),
    OP(xlogy, xlogy(x, y), opinfo, xlogy(x, wrong)), IN_PLACE(xlogy, x, y),

    // trigonometric, special
    UNARY(sin, x, opinfo), UNARY(cos, x, opinfo), UNARY(tan, x, opinfo), UNARY(asin, x, opinfo),
    UNARY(acos, x, opinfo), UNARY(atan, x, opinfo), UNARY(sinh, x, opinfo), UNARY(cosh, x, opinfo),
    UNARY(tanh, x, opinfo), UNARY(asinh, x, opinfo), UNARY(acosh, 1 + x, opinfo), UNARY(atanh, x, opinfo),
    OP(atan2, atan2(x, y), opinfo, atan2(x, wrong)), IN_PLACE(atan2, x, y),
    OP(hypot, hypot(x, y), opinfo, hypot(x, wrong)), IN_PLACE(hypot, x, y),
    UNARY(erf, x, opinfo), UNARY(erfc, x, opinfo), UNARY(erfinv, x, each(erfinv_by_bisection)),
    UNARY(lgamma, x, each([](double a, double) { return std::lgamma(a); })),
    UNARY(digamma, x, each(digamma_by_differences)),
    OP(polygamma, polygamma(0, x), each(digamma_by_differences), polygamma(-1, x)),

    // rounding: flat between its jumps
    UNARY(abs, x - 0.5, opinfo), UNARY(sign, x - 0.5, opinfo), UNARY(floor, x, opinfo), UNARY(ceil, x, opinfo),
    UNARY(round, x, opinfo), UNARY(trunc, x, opinfo), UNARY(frac, x, opinfo),
    OP(fmod, fmod(x, y), opinfo, fmod(x, wrong)), IN_PLACE(fmod, x, y),
    OP(remainder, remainder(x, y), opinfo, remainder(x, wrong)), IN_PLACE(remainder, x, y),
    OP(floor_divide, floor_divide(x, y), each([](double a, double b) { return std::floor(a / b); }),
       floor_divide(x, wrong)),
    IN_PLACE(floor_divide, x, y),

    // activations
    UNARY(relu, x - 0.5, opinfo), UNARY(relu6, 10 * x, opinfo), UNARY(silu, x, opinfo), UNARY(mish, x, opinfo),
    UNARY(tanhshrink, x, opinfo), UNARY(logsigmoid, x, opinfo), UNARY(hardsigmoid, 5 * x, opinfo),
    UNARY(hardswish, 5 * x, opinfo), UNARY(selu, x - 0.5, opinfo), UNARY(softsign, x - 0.5, opinfo),
    OP(leaky_relu, leaky_relu(x - 0.5), opinfo, leaky_relu(none)), IN_PLACE(leaky_relu, x - 0.5),
    OP(elu, elu(x - 0.5), opinfo, elu(none)), IN_PLACE(elu, x - 0.5),
    OP(celu, celu(x - 0.5, 2), opinfo, celu(x, 0)), IN_PLACE(celu, x - 0.5, 2),
    OP(hardtanh, hardtanh(x, 0.3, 0.7), opinfo, hardtanh(x, 1, 0)), IN_PLACE(hardtanh, x, 0.3, 0.7),
    OP(threshold, threshold(x, 0.5, 2), opinfo, threshold(none, 0, 0)), IN_PLACE(threshold, x, 0.5, 2),
    OP(softplus, softplus(x, 2, 1.2), opinfo, softplus(none)),
    OP(softshrink, softshrink(x, 0.5), each([](double a, double) { return a > 0.5 ? a - 0.5 : 0; }), softshrink(x, -1)),
    OP(hardshrink, hardshrink(x, 0.5), each([](double a, double) { return a > 0.5 ? a : 0; }), hardshrink(none)),
    OP(gelu, gelu(x, "tanh"), opinfo, gelu(x, "exact")),
    OP(prelu, prelu(x - 0.5, z), opinfo, prelu(x, wrong)),
    OP(glu, glu(x, 0), opinfo, glu(x, 1)),

    // blend, where, comparison
    OP(lerp, lerp(x, y, z), opinfo, lerp(x, wrong, 0.3)), IN_PLACE(lerp, x, y, 0.3),
    OP(addcmul, addcmul(x, y, z, 3), opinfo, addcmul(x, y, wrong)), IN_PLACE(addcmul, x, y, z),
    OP(addcdiv, addcdiv(x, y, z, 3), opinfo, addcdiv(x, y, wrong)), IN_PLACE(addcdiv, x, y, z),
    OP(where, where(mask(), x, z), opinfo, where(mask(), x, wrong)),
    OP(maximum, maximum(x, y), opinfo, maximum(x, wrong)), OP(minimum, minimum(x, y), opinfo, minimum(x, wrong)),
    OP(clamp, clamp(x, 0.3, 0.7), opinfo, clamp(x, none, none)), IN_PLACE(clamp, x, 0.3, 0.7),
    OP(clamp_min, clamp_min(x, y), each([](double a, double b) { return std::max(a, b); }), clamp_min(x, wrong)),
    OP(clamp_max, clamp_max(x, y), each([](double a, double b) { return std::min(a, b); }), clamp_max(x, wrong)),
    IN_PLACE(clamp_min, x, 0.5), IN_PLACE(clamp_max, x, 0.5),
    FLAT(eq, eq(x, y), opinfo, eq(x, wrong)), FLAT(ne, ne(x, y), opinfo, ne(x, wrong)),
    FLAT(lt, lt(x, y), opinfo, lt(x, wrong)), FLAT(le, le(x, y), opinfo, le(x, wrong)),
    FLAT(gt, gt(x, y), opinfo, gt(x, wrong)), FLAT(ge, ge(x, y), opinfo, ge(x, wrong)),
    FLAT(isnan, isnan(x), opinfo, isnan(none)), FLAT(isinf, isinf(x), opinfo, isinf(none)),
    FLAT(isfinite, isfinite(x), opinfo, isfinite(none)), FLAT(isclose, isclose(x, y), opinfo, isclose(x, y, -1)),
    FLAT(logical_and, logical_and(x, y), opinfo, logical_and(x, wrong)),
    FLAT(logical_or, logical_or(x, y), opinfo, logical_or(x, wrong)),
    FLAT(logical_xor, logical_xor(x, y), opinfo, logical_xor(x, wrong)),
    FLAT(logical_not, logical_not(x), opinfo, logical_not(none)),
    FLAT_IN_PLACE(eq, y), FLAT_IN_PLACE(ne, y), FLAT_IN_PLACE(lt, y), FLAT_IN_PLACE(le, y), FLAT_IN_PLACE(gt, y),
    FLAT_IN_PLACE(ge, y), FLAT_IN_PLACE(logical_and, y), FLAT_IN_PLACE(logical_or, y), FLAT_IN_PLACE(logical_xor, y),
    FLAT_IN_PLACE(logical_not),
    FLAT(bitwise_and, bitwise_and(mask(), mask()), tested_in("comparison", "bits of integers"),
         bitwise_and(mask(), wrong_mask())),
    FLAT(bitwise_or, bitwise_or(mask(), mask()), tested_in("comparison", "bits of integers"),
         bitwise_or(mask(), wrong_mask())),
    FLAT(bitwise_xor, bitwise_xor(mask(), mask()), tested_in("comparison", "bits of integers"),
         bitwise_xor(mask(), wrong_mask())),
    FLAT(bitwise_not, bitwise_not(mask()), tested_in("comparison", "bits of integers"),
         bitwise_not(Tensor<Cpu, bool>())),
    FLAT(bitwise_left_shift, bitwise_left_shift(ints({1, 2}), 1), tested_in("comparison", "bits of integers"),
         bitwise_left_shift(ints({1, 2}), ints({1, 2, 3}))),
    FLAT(bitwise_right_shift, bitwise_right_shift(ints({1, 2}), 1), tested_in("comparison", "bits of integers"),
         bitwise_right_shift(ints({1, 2}), ints({1, 2, 3}))),
    OP(fuse, fuse([](auto a, auto b) { return a * exp(-b); })(x, y),
       each([](double a, double b) { return a * std::exp(-b); }), fuse([](auto a, auto b) { return a * b; })(x, wrong)),

    // reductions
    OP(sum, sum(x, 0), opinfo, sum(x, 2)), OP(mean, mean(x, 0), opinfo, mean(x, 2)),
    OP(prod, prod(x, 1), opinfo, prod(x, 2)), OP(amax, amax(x, 0), opinfo, amax(x, 2)),
    OP(amin, amin(x, 0), opinfo, amin(x, 2)), OP(var, var(x, 1), opinfo, var(x, 2)),
    OP(std, tern::std(x, 1), opinfo, tern::std(x, 2)), OP(logsumexp, logsumexp(x, 0), opinfo, logsumexp(x, 2)),
    OP(norm, norm(x, 3, 1), opinfo, norm(x, 2, 2)),
    OP(linalg::vector_norm, linalg::vector_norm(x, 3), opinfo, linalg::vector_norm(x, 2, 2)),
    OP(linalg::matrix_norm, linalg::matrix_norm(x, 1), opinfo_as("linalg.norm"), linalg::matrix_norm(x, 3)),
    OP(var_mean, mul(var_mean(x, 1).first, var_mean(x, 1).second), opinfo, var_mean(x, 2)),
    OP(std_mean, mul(std_mean(x, 1).first, std_mean(x, 1).second), opinfo, std_mean(x, 2)),
    OP(aminmax, mul(aminmax(x, 1).first, aminmax(x, 1).second), opinfo, aminmax(x, 2)),
    OP(max, mul(max(x, 1).values, max(x)), opinfo, max(x, 2)), OP(min, mul(min(x, 1).values, min(x)), opinfo, min(x, 2)),
    OP(median, mul(median(x, 1).values, median(x)), opinfo, median(x, 2)),
    OP(quantile, quantile(x, z, 1), opinfo, quantile(x, 2.)),
    OP(trace, trace(x), opinfo, trace(z)),
    FLAT(any, any(x, 0), opinfo, any(x, 2)), FLAT(all, all(x, 0), opinfo, all(x, 2)),
    FLAT(argmax, argmax(x, 0), opinfo, argmax(x, 2)), FLAT(argmin, argmin(x, 0), opinfo, argmin(x, 2)),
    FLAT(count_nonzero, count_nonzero(x, 0), opinfo, count_nonzero(x, 2)),
    OP(sum_to, sum_to(x.expand({4, 2, 3}), {2, 3}), each([](double a, double) { return 4 * a; }), sum_to(x, {4})),

    FLAT(equal, (full<Cpu, bool>({}, equal(x, y))), opinfo, equal(x, none)),
    FLAT(allclose, (full<Cpu, bool>({}, allclose(x, y))), opinfo, allclose(x, wrong)),

    // along a dimension: running sums, order
    OP(cumsum, cumsum(x, 1), opinfo, cumsum(x, 2)), OP(cumprod, cumprod(x, 1), opinfo, cumprod(x, 2)),
    OP(sort, sort(x, 1).values, opinfo, sort(x, 2)), OP(msort, msort(x), opinfo, msort(none)),
    OP(topk, topk(x, 2).values, opinfo, topk(x, 4)), OP(kthvalue, kthvalue(x, 2, 1).values, opinfo, kthvalue(x, 4, 1)),
    FLAT(unique, unique(x), tested_in("counting", "unique gives each element once"), unique(none)),
    FLAT(bincount, bincount(ints({2, 0})), tested_in("counting", "bincount counts"), bincount(ints({-1}))),
    FLAT(argsort, argsort(x, 1), tested_in("sort", "argsort"), argsort(x, 2)),
    FLAT(searchsorted, searchsorted(msort(z), y), opinfo, searchsorted(x, z)),
    FLAT(bucketize, bucketize(y, msort(z)), opinfo, bucketize(x, y)),

    // softmax, normalisation, distance
    OP(batch_norm, batch_norm(x, ones<Cpu, double>(3), ones<Cpu, double>(3), z, z), opinfo, batch_norm(x, {}, {})),
    OP(batch_norm_relu, batch_norm_relu(x, {}, {}, z, z, true),
       tested_in("batch_norm", "fused forms of batch_norm are their parts"), batch_norm_relu(x, {}, {})),
    OP(batch_norm_add_relu, batch_norm_add_relu(x, y, {}, {}, z, z, true),
       tested_in("batch_norm", "fused forms of batch_norm are their parts"), batch_norm_add_relu(x, z, {}, {}, {}, {}, true)),
    OP(softmax, softmax(x, 1), opinfo, softmax(x, 2)), OP(log_softmax, log_softmax(x, 1), opinfo, log_softmax(x, 2)),
    OP(softmin, softmin(x, 1), opinfo, softmin(x, 2)),
    OP(layer_norm, layer_norm(x, {3}, z, z), opinfo, layer_norm(x, {2})),
    OP(conv1d, conv1d(x.view({1, 2, 3}), y.view({3, 2, 1}), z), opinfo, conv1d(x.view({1, 2, 3}), y.view({2, 3, 1}))),
    OP(conv2d, conv2d(x.view({1, 2, 1, 3}), y.view({3, 2, 1, 1}), z), opinfo, conv2d(x, y)),
    OP(conv_transpose1d, conv_transpose1d(x.view({1, 2, 3}), y.view({2, 3, 1}), z), opinfo,
       conv_transpose1d(x.view({1, 2, 3}), y.view({3, 2, 1}))),
    OP(conv_transpose2d, conv_transpose2d(x.view({1, 2, 1, 3}), y.view({2, 3, 1, 1}), z), opinfo, conv_transpose2d(x, y)),
    OP(conv_transpose3d, conv_transpose3d(x.view({1, 2, 1, 1, 3}), y.view({2, 3, 1, 1, 1}), z),
       tested_in("conv_transpose", "transposed convolutions and their gradients"), conv_transpose3d(x, y)),
    OP(conv2d_relu, conv2d_relu(x.view({1, 2, 1, 3}), y.view({3, 2, 1, 1}) - 0.5, z - 0.5),
       tested_in("convolution", "relu after a convolution, and a residual"), conv2d_relu(x, y)),
    OP(conv2d_add_relu, conv2d_add_relu(x.view({1, 2, 1, 3}), y.view({1, 2, 1, 3}), mm(y, y.t()).view({2, 2, 1, 1}) - 0.7),
       tested_in("convolution", "relu after a convolution, and a residual"), conv2d_add_relu(x, none, y)),
    OP(conv3d, conv3d(x.view({1, 2, 1, 1, 3}), y.view({3, 2, 1, 1, 1}), z), opinfo, conv3d(x, y)),
    OP(rms_norm, rms_norm(x, {3}, z), opinfo, rms_norm(x, {2})),
    OP(group_norm, group_norm(x, 1, z, z), opinfo, group_norm(x, 2)),
    OP(instance_norm, instance_norm(x.unsqueeze(0), {}, {}, x.select(1, 0), x.select(1, 1)), opinfo, instance_norm(x)),
    OP(local_response_norm, local_response_norm(x.unsqueeze(0), 2), opinfo, local_response_norm(x, 2)),
    OP(pairwise_distance, pairwise_distance(x, y), opinfo, pairwise_distance(x, wrong)),
    OP(cosine_similarity, cosine_similarity(x, y), opinfo, cosine_similarity(x, wrong)),
    OP(normalize, normalize(x), opinfo, normalize(none)),
    OP(dropout1d, dropout1d(x, 0.5, false), tested_in("dropout", "whole channels fall"), dropout1d(x, 2)),
    OP(dropout2d, dropout2d(x, 0.5, false), tested_in("dropout", "whole channels fall"), dropout2d(x, 2)),
    OP(dropout3d, dropout3d(x, 0.5, false), tested_in("dropout", "whole channels fall"), dropout3d(x, 2)),
    OP(alpha_dropout, alpha_dropout(x), tested_in("dropout", "alpha_dropout keeps mean 0"), alpha_dropout(x, 2)),
    OP(feature_alpha_dropout, feature_alpha_dropout(x), tested_in("dropout", "alpha_dropout keeps mean 0"),
       feature_alpha_dropout(x, 2)),
    OP(dropout, dropout(x, 0.5, false), tested_in("dropout", "elements fall at the rate asked for"), dropout(x, 2)),

    // pooling
    OP(max_pool1d, max_pool1d(x, 2),
       opinfo, max_pool1d(x, 4)),
    OP(max_pool1d_with_indices, max_pool1d_with_indices(x, 2).values,
       opinfo_as("max_pool1d"), max_pool1d_with_indices(x, 4)),
    OP(avg_pool1d, avg_pool1d(x, 2),
       opinfo, avg_pool1d(x, 4)),
    OP(lp_pool1d, lp_pool1d(x, 2, 2),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), lp_pool1d(x, 2, 4)),
    OP(adaptive_avg_pool1d, adaptive_avg_pool1d(x, 2),
       opinfo, adaptive_avg_pool1d(x, -1)),
    OP(adaptive_max_pool1d, adaptive_max_pool1d(x, 2),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), adaptive_max_pool1d(x, -1)),
    OP(adaptive_max_pool1d_with_indices, adaptive_max_pool1d_with_indices(x, 2).values,
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), adaptive_max_pool1d_with_indices(x, -1)),
    OP(max_pool2d, max_pool2d(x.view({1, 2, 3}), {1, 2}),
       opinfo, max_pool2d(x.view({1, 2, 3}), 4)),
    OP(max_pool2d_with_indices, max_pool2d_with_indices(x.view({1, 2, 3}), {1, 2}).values,
       opinfo_as("max_pool2d"), max_pool2d_with_indices(x.view({1, 2, 3}), 4)),
    OP(avg_pool2d, avg_pool2d(x.view({1, 2, 3}), {1, 2}),
       opinfo, avg_pool2d(x.view({1, 2, 3}), 4)),
    OP(lp_pool2d, lp_pool2d(x.view({1, 2, 3}), 2, {1, 2}),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), lp_pool2d(x.view({1, 2, 3}), 2, 4)),
    OP(adaptive_avg_pool2d, adaptive_avg_pool2d(x.view({1, 2, 3}), 2),
       opinfo, adaptive_avg_pool2d(x.view({1, 2, 3}), -1)),
    OP(adaptive_max_pool2d, adaptive_max_pool2d(x.view({1, 2, 3}), 2),
       opinfo, adaptive_max_pool2d(x.view({1, 2, 3}), -1)),
    OP(adaptive_max_pool2d_with_indices, adaptive_max_pool2d_with_indices(x.view({1, 2, 3}), 2).values,
       opinfo_as("adaptive_max_pool2d"), adaptive_max_pool2d_with_indices(x.view({1, 2, 3}), -1)),
    OP(max_pool3d, max_pool3d(x.view({1, 1, 2, 3}), {1, 1, 2}),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), max_pool3d(x.view({1, 1, 2, 3}), 4)),
    OP(max_pool3d_with_indices, max_pool3d_with_indices(x.view({1, 1, 2, 3}), {1, 1, 2}).values,
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), max_pool3d_with_indices(x.view({1, 1, 2, 3}), 4)),
    OP(avg_pool3d, avg_pool3d(x.view({1, 1, 2, 3}), {1, 1, 2}),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), avg_pool3d(x.view({1, 1, 2, 3}), 4)),
    OP(lp_pool3d, lp_pool3d(x.view({1, 1, 2, 3}), 2, {1, 1, 2}),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), lp_pool3d(x.view({1, 1, 2, 3}), 2, 4)),
    OP(adaptive_avg_pool3d, adaptive_avg_pool3d(x.view({1, 1, 2, 3}), 2),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), adaptive_avg_pool3d(x.view({1, 1, 2, 3}), -1)),
    OP(adaptive_max_pool3d, adaptive_max_pool3d(x.view({1, 1, 2, 3}), 2),
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), adaptive_max_pool3d(x.view({1, 1, 2, 3}), -1)),
    OP(adaptive_max_pool3d_with_indices, adaptive_max_pool3d_with_indices(x.view({1, 1, 2, 3}), 2).values,
       tested_in("pooling", "pooling of images of 1 and 3 dimensions"), adaptive_max_pool3d_with_indices(x.view({1, 1, 2, 3}), -1)),

    // losses
    OP(mse_loss, mse_loss(x, y), opinfo, mse_loss(x, wrong)), OP(l1_loss, l1_loss(x, y), opinfo, l1_loss(x, wrong)),
    OP(huber_loss, huber_loss(x, y, {.delta = 0.25}), opinfo, huber_loss(x, y, {.delta = 0})),
    OP(smooth_l1_loss, smooth_l1_loss(x, y, {.beta = 0.25}), opinfo, smooth_l1_loss(x, y, {.beta = -1})),
    OP(binary_cross_entropy, binary_cross_entropy(x, mask().to(f64)), opinfo, binary_cross_entropy(x, z)),
    OP(binary_cross_entropy_with_logits, binary_cross_entropy_with_logits(x, y), opinfo,
       binary_cross_entropy_with_logits(x, z)),
    OP(nll_loss, nll_loss(x, ints({0, 2})), opinfo, nll_loss(x, ints({0, 3}))),
    OP(cross_entropy, cross_entropy(x, ints({0, 2})), opinfo, cross_entropy(x, ints({0, 3}))),
    OP(ctc_loss, ctc_loss(log_softmax(stack(List{x, y}), 2), ints({2, 1}), ints({2, 2}), ints({1, 1})), tested_in("ctc_loss", "ctc_loss"),
       ctc_loss(x.unsqueeze(0), ints({1}), ints({1}), ints({1, 1}))),
    OP(margin_ranking_loss, margin_ranking_loss(x, y, mask().to(f64) - 0.5), opinfo, margin_ranking_loss(x, y, z)),
    OP(hinge_embedding_loss, hinge_embedding_loss(x, sign(z.detach() - 0.5)), opinfo, hinge_embedding_loss(x, wrong)),
    OP(soft_margin_loss, soft_margin_loss(x, y), opinfo, soft_margin_loss(x, wrong)),
    OP(triplet_margin_loss, triplet_margin_loss(x, y, z.expand({2, 3})), opinfo, triplet_margin_loss(x, y, z)),
    OP(kl_div, kl_div(x, y), opinfo, kl_div(x, wrong)),
    OP(poisson_nll_loss, poisson_nll_loss(x, y), opinfo, poisson_nll_loss(x, wrong)),

    // products
    OP(matmul, matmul(x, y.t()), opinfo, matmul(x, y)), OP(mm, mm(x, y.t()), opinfo, mm(x, y)),
    OP(mv, mv(x, z), opinfo, mv(x, wrong)), OP(dot, dot(z, z), opinfo, dot(z, wrong)),
    OP(bmm, bmm(x.unsqueeze(0), y.t().unsqueeze(0)), opinfo, bmm(x, y)),
    OP(linear, linear(x, y), opinfo, linear(x, wrong)), OP(outer, outer(z, z), opinfo, outer(x, z)),
    OP(addmm, addmm(x, mm(x, y.t()), y), opinfo, addmm(x, x, y)),
    OP(addmv, addmv(z, x.t(), x.select(1, 0), 2, 3), opinfo, addmv(z, x, wrong)),
    OP(addbmm, addbmm(x, mm(x, y.t()).unsqueeze(0), y.unsqueeze(0)), opinfo, addbmm(x, x, y)),
    OP(baddbmm, baddbmm(x, mm(x, y.t()).unsqueeze(0), y.unsqueeze(0)), opinfo, baddbmm(x, x, y)),
    OP(tensordot, tensordot(x, y, 2), opinfo, tensordot(x, wrong, 1)),
    OP(einsum, einsum("ij,kj,j->ik", List{x, y, z}), opinfo, einsum("ij,jk", List{x, y})),
    OP(bilinear, bilinear(x, y, mm(x.t(), y).unsqueeze(0)), opinfo, bilinear(x, y, x)),
    OP(scaled_dot_product_attention, scaled_dot_product_attention(x, y, x * y, {}, {.is_causal = true}), opinfo,
       scaled_dot_product_attention(x, y, z)),

    // sequences
    OP(lstm, std::get<0>(lstm(x, {}, List{cat(List{y, x * y}), y.flatten().narrow(0, 0, 4).unsqueeze(1)}, {.has_biases = false})),
       tested_in("recurrent", "recurrent layers of each kind"), lstm(x, {}, List{y, y})),
    OP(gru, std::get<0>(gru(x, {}, List{cat(List{y, z.unsqueeze(0)}), z.unsqueeze(1)}, {.has_biases = false})),
       tested_in("recurrent", "recurrent layers of each kind"), gru(x, {}, List{y, y})),
    OP(rnn_tanh, std::get<0>(rnn_tanh(x, {}, List{y, mm(y, x.t())}, {.has_biases = false})),
       tested_in("recurrent", "recurrent layers of each kind"), rnn_tanh(x, {}, List{y, y})),
    OP(rnn_relu, std::get<1>(rnn_relu(x, {}, List{y, mm(y, x.t())}, {.has_biases = false})),
       tested_in("recurrent", "recurrent layers of each kind"), rnn_relu(x, {}, List{y, y})),
    OP(lstm_cell, std::get<1>(lstm_cell(x, {}, cat(List{y, x * y}), y.flatten().narrow(0, 0, 4).unsqueeze(1))),
       tested_in("recurrent", "cells are one step"), lstm_cell(x, {}, y, y)),
    OP(gru_cell, gru_cell(x, {}, cat(List{y, z.unsqueeze(0)}), z.unsqueeze(1)), tested_in("recurrent", "cells are one step"),
       gru_cell(x, {}, y, y)),
    OP(rnn_tanh_cell, rnn_tanh_cell(x, {}, y, mm(y, x.t())), tested_in("recurrent", "cells are one step"), rnn_tanh_cell(x, {}, y, y)),
    OP(rnn_relu_cell, rnn_relu_cell(x, {}, y, mm(y, x.t())), tested_in("recurrent", "cells are one step"), rnn_relu_cell(x, {}, y, y)),
    OP(pack_padded_sequence, pack_padded_sequence(x, {2, 2, 1}).data, tested_in("packed_sequence", "pack_padded_sequence has"),
       pack_padded_sequence(x, {1})),
    OP(pad_packed_sequence, pad_packed_sequence(pack_padded_sequence(x, {2, 2, 1})).first,
       tested_in("packed_sequence", "pack_padded_sequence has"), pad_packed_sequence(PackedSequence<Cpu, double>())),
    OP(pad_sequence, pad_sequence(List{x, x.narrow(0, 0, 1)}), tested_in("packed_sequence", "sequences are padded"), pad_sequence(List{})),
    OP(pack_sequence, pack_sequence(List{x, x.narrow(0, 0, 1)}).data, tested_in("packed_sequence", "sequences are padded"),
       pack_sequence(List{x.narrow(0, 0, 1), x})),

    // linear algebra
    OP(linalg::inv, linalg::inv(regular(x, y)), tested_in("inv", "inv is PyTorch's"), linalg::inv(x)),
    OP(linalg::solve, linalg::solve(regular(x, y), x), tested_in("solve", "solve is PyTorch's"), linalg::solve(x, y)),
    OP(linalg::solve_triangular, linalg::solve_triangular(regular(x, y), x, true),
       tested_in("solve_triangular", "solve_triangular is PyTorch's"), linalg::solve_triangular(x, y, true)),
    OP(linalg::cholesky, linalg::cholesky(definite(x)), tested_in("cholesky", "cholesky is PyTorch's"), linalg::cholesky(x)),
    OP(linalg::det, linalg::det(regular(x, y)), tested_in("det", "det is PyTorch's"), linalg::det(x)),
    OP(linalg::slogdet, linalg::slogdet(regular(x, y)).logabsdet, tested_in("det", "slogdet is PyTorch's"), linalg::slogdet(x)),
    OP(linalg::qr, linalg::qr(x).r, tested_in("qr", "qr is PyTorch's"), linalg::qr(z)),
    OP(linalg::eigh, linalg::eigh(definite(x)).eigenvalues, tested_in("eigh", "eigh is PyTorch's"), linalg::eigh(x)),
    OP(linalg::eigvalsh, linalg::eigvalsh(definite(x)), tested_in("eigh", "eigh is PyTorch's"), linalg::eigvalsh(x)),
    OP(linalg::svd, linalg::svd(x).s, tested_in("svd", "svd is PyTorch's"), linalg::svd(z)),
    OP(linalg::svdvals, linalg::svdvals(x), tested_in("svd", "svd is PyTorch's"), linalg::svdvals(z)),

    // views and shape
    OP(permute, permute(x, {1, 0}), opinfo, permute(x, {0, 0})), OP(t, t(x), opinfo, t(x.unsqueeze(0))),
    OP(transpose, transpose(x, 0, 1), opinfo, transpose(x, 0, 2)),
    OP(slice, slice(x, 1, {0, 3, 2}), opinfo, slice(x, 1, {0, 3, 0})),
    OP(narrow, narrow(x, 1, 1, 2), opinfo, narrow(x, 1, 2, 2)), OP(select, select(x, 1, -1), opinfo, select(x, 1, 3)),
    OP(expand, expand(z, {2, 3}), opinfo, expand(z, {2, 2})), OP(view, view(x, {3, 2}), opinfo, view(x, {4, 2})),
    OP(reshape, reshape(x.t(), {6}), opinfo, reshape(x, {4})), OP(flatten, flatten(x), opinfo, flatten(x, 1, 0)),
    OP(squeeze, squeeze(x.unsqueeze(0)), opinfo, squeeze(x, 2)),
    OP(unsqueeze, unsqueeze(x, 1), opinfo, unsqueeze(x, 4)),
    OP(split, split(x, 2, 1)[0], opinfo, split(x, -1)), OP(chunk, chunk(x, 2, 1)[1], opinfo, chunk(x, 0)),
    OP(unbind, unbind(x)[1], opinfo, unbind(x, 2)),
    OP(broadcast_to, broadcast_to(z, {2, 3}), opinfo, broadcast_to(z, {2, 2})),
    OP(unflatten, unflatten(x, 1, {3, 1}), opinfo, unflatten(x, 1, {2, 2})),
    OP(movedim, movedim(x, 0, 1), opinfo, movedim(x, 0, 2)), OP(diagonal, diagonal(x), opinfo, diagonal(z)),
    OP(repeat, repeat(x, {2, 1}), opinfo, repeat(x, {2})), OP(tile, tile(x, {2}), opinfo, tile(x, {-1})),
    OP(flip, flip(x, 1), opinfo, flip(x, 2)), OP(roll, roll(x, 1, 1), opinfo, roll(x, 1, 2)),
    OP(rot90, rot90(x), opinfo, rot90(x, 1, {0, 0})), OP(unfold, unfold(x, 1, 2, 1), opinfo, unfold(x, 1, 4, 1)),
    OP(meshgrid, meshgrid(List{z, x[0]})[1], opinfo, meshgrid(List{z, x})),
    OP(tril, tril(x), opinfo, tril(z)), OP(triu, triu(x, 1), opinfo, triu(z)),
    OP(diag, diag(z, -1), opinfo, diag(x.unsqueeze(0))),
    OP(hstack, hstack(List{x, y}), opinfo, hstack(List{x, z})),
    OP(vstack, vstack(List{x, y, z}), opinfo, vstack(List{x, wrong})),
    OP(cat, cat(List{x, y}, 1), opinfo, cat(List{x, z})),
    OP(stack, stack(List{x, y}), opinfo, stack(List{x, z})),

    // images
    OP(pad, pad(x, {1, -1, 2, 0}, PadMode::constant, 2), opinfo, pad(x, {1, 2, 3})),
    OP(grid_sample, grid_sample(x.view({1, 1, 2, 3}), y.view({1, 1, 3, 2})), tested_in("grid_sample", "grid_sample is PyTorch's"),
       grid_sample(x, y)),
    OP(interpolate, interpolate(x.unsqueeze(0), {.size = 5, .mode = InterpolateMode::linear}), opinfo,
       interpolate(x, {.size = 5})),
    OP(pixel_shuffle, pixel_shuffle(cat(List{x, y}).view({4, 1, 3}), 2), opinfo, pixel_shuffle(x.unsqueeze(0), 2)),
    OP(pixel_unshuffle, pixel_unshuffle(x.view({1, 3, 2}).transpose(0, 1), 1), tested_in("pixel_shuffle", "pixel_unshuffle"),
       pixel_unshuffle(x.unsqueeze(0), 2)),
    OP(channel_shuffle, channel_shuffle(cat(List{x, y}).unsqueeze(0), 2), tested_in("pixel_shuffle", "channel_shuffle"),
       channel_shuffle(x.unsqueeze(0), 3)),
    OP(fold, fold(cat(List{x, y}).t().reshape({4, 3}), {2, 4}, 2), tested_in("fold", "fold"), fold(x, {2, 4}, 2)),

    // rows by number, indexing
    OP(gather, gather(x, 1, ints({2, 0, 0, 1}, {2, 2})), opinfo, gather(x, 1, ints({3, 0}, {2, 1}))),
    OP(index_select, index_select(x, 1, ints({2, 0})), opinfo, index_select(x, 1, ints({3}))),
    OP(index_add, index_add(x, 0, ints({1, 1}), y), opinfo, index_add(x, 0, ints({2, 0}), y)),
    OP(scatter_add, scatter_add(x, 1, ints({2, 0, 0, 1}, {2, 2}), y), opinfo,
       scatter_add(x, 1, ints({3}, {1, 1}), y)),
    OP(take, take(x, ints({5, -6, 0})), opinfo, take(x, ints({6}))),
    OP(take_along_dim, take_along_dim(x, ints({2, 0}, {2, 1}), 1), opinfo, take_along_dim(x, ints({0}), 1)),
    OP(index_fill, index_fill(x, 1, ints({0, -1}), z.select(0, 1)), opinfo, index_fill(x, 1, ints({0}), z)),
    OP(scatter, scatter(x, 1, ints({2, 0, 0, 1}, {2, 2}), y), opinfo, scatter(x, 1, ints({3}, {1, 1}), y)),
    OP(scatter_, scatter_(clone(x), 1, ints({2, 0, 0, 1}, {2, 2}), y), opinfo_as("scatter"),
       scatter_(x, 1, ints({2, 0, 0, 1}, {2, 2}), y)),
    OP(repeat_interleave, repeat_interleave(x, ints({2, 0, 1}), 1), opinfo, repeat_interleave(x, ints({1, -1, 1}), 1)),
    FLAT(one_hot, one_hot(ints({2, 0}), 3), tested_in("take", "one_hot"), one_hot(ints({3}), 3)),
    FLAT(nonzero, nonzero(mask()), opinfo, nonzero(none)),
    OP(embedding, embedding(ints({1, 0, 1}), x), opinfo, embedding(ints({2}), x)),
    OP(embedding_bag, embedding_bag(ints({1, 0, 1, 1}, {2, 2}), x), opinfo, embedding_bag(ints({2}, {1, 1}), x)),
    OP(index, index(x, {ints({1, 0}), Slice(1, 3)}), opinfo_as("__getitem__"), index(x, {2})),
    OP(index_put, index_put(x, {ints({1})}, z), opinfo, index_put(x, {2}, z)),
    OP(index_put_, index_put_(clone(x), {ints({1})}, z), opinfo_as("index_put"), index_put_(x, {0}, z)),
    OP(masked_fill, masked_fill(x, mask(), 2), opinfo, masked_fill(x, wrong_mask(), 2)),
    IN_PLACE(masked_fill, x, mask(), 2),
    OP(masked_select, masked_select(x, mask()), opinfo, masked_select(x, wrong_mask())),

    // copies and places
    OP(clone, clone(x), each(same), clone(none)), OP(contiguous, contiguous(x.t()).t(), each(same), contiguous(none)),
    OP(copy_, copy_(clone(y), x), each(same), copy_(clone(x), wrong)),
    FLAT(fill_, fill_(x * 1, 2), each([](double, double) { return 2.; }), fill_(x, 2)),
    OP(to_type, to_type(to_type(x, f64), f64), each(same), to_type(none, f32)),
    OP(to_device, to_device(to_device(x, Naive{}), Cpu{}), each(same), to_device(none, Naive{})),
    FLAT(cuda_async, cuda_async(x).wait().cpu(), each(same), cuda_async(none)),
    FLAT(cpu_async, cpu_async(x.cuda()).wait(), each(same), (cpu_async(Tensor<Cuda, double>()))),
    FLAT(pin_memory, pin_memory(x), each(same), pin_memory(none)),

    FLAT(item, (full<Cpu, double>({}, x[0][0].item())), each(same), x.item()),

    // random numbers
    FLAT(uniform, (uniform<Cpu, double>({3}, 0, 1)), tested_in("random", "uniform numbers"), uniform<Cpu>({-1}, 0, 1)),
    FLAT(rand, rand<Cpu>({3}), tested_in("random", "uniform numbers"), rand<Cpu>({-1})),
    FLAT(randn, randn<Cpu>({3}), tested_in("random", "normal numbers"), randn<Cpu>({-1})),
    FLAT(normal, normal(x, y), tested_in("random", "normal takes mean and deviation"), normal(x, -1)),
    FLAT(multinomial, multinomial(x, 2), tested_in("multinomial", "positions are drawn"), multinomial(x, 4)),
    FLAT(randint, randint<Cpu>(3, {3}), tested_in("random", "whole numbers"), randint<Cpu>(0, {3})),
    FLAT(randperm, randperm<Cpu>(3), tested_in("random", "a permutation"), randperm<Cpu>(-1)),
    FLAT(uniform_, uniform_(clone(x)), tested_in("random", "tensors are filled in place"), uniform_(x, 1, 0)),
    FLAT(normal_, normal_(clone(x)), tested_in("random", "tensors are filled in place"), normal_(x, 0, -1)),
    FLAT(bernoulli_, bernoulli_(clone(x)), tested_in("random", "tensors are filled in place"), bernoulli_(x, 2)),
    FLAT(bernoulli, bernoulli(x), tested_in("random", "tensors are filled in place"), bernoulli(none)),
    FLAT(rand_like, rand_like(x), tested_in("random", "tensors are filled in place"), rand_like(none)),
    FLAT(randn_like, randn_like(x), tested_in("random", "tensors are filled in place"), randn_like(none)),
    FLAT(randint_like, randint_like(x, 0, 3), tested_in("random", "whole numbers"), randint_like(x, 3, 0)),

    // checks of gradients
    FLAT(gradcheck, full<Cpu>({}, gradcheck([](const X& v) { return exp(v); }, std::tuple{x})),
         tested_in("gradcheck", "gradcheck accepts a right gradient and names a wrong one"),
         gradcheck([](const X& v) { return exp(v).detach(); }, std::tuple{x})),
    FLAT(gradgradcheck, full<Cpu>({}, gradgradcheck([](const X& v) { return exp(v); }, std::tuple{x})),
         tested_in("gradcheck", "gradgradcheck finds a second derivative that is missing"),
         gradgradcheck([](const X& v) { return exp(v) * v.detach(); }, std::tuple{x})),

    // derivatives as a whole: differentiated once more
    OP(vjp, vjp([](const X& v) { return exp(v) * v; }, x, y, {.create_graph = true}).second,
       tested_in("derivatives", "products with Jacobians and Hessians"), vjp([](const X& v) { return exp(v); }, x, z)),
    OP(jvp, jvp([](const X& v) { return exp(v) * v; }, x, y, {.create_graph = true}).second,
       tested_in("derivatives", "products with Jacobians and Hessians"), jvp([](const X& v) { return exp(v); }, x, z)),
    OP(hvp, hvp([](const X& v) { return sum(exp(v) * v); }, x, y, {.create_graph = true}).second,
       tested_in("derivatives", "products with Jacobians and Hessians"), hvp([](const X& v) { return exp(v); }, x, x)),
    OP(vhp, vhp([](const X& v) { return sum(exp(v) * v); }, x, y, {.create_graph = true}).second,
       tested_in("derivatives", "products with Jacobians and Hessians"), vhp([](const X& v) { return sum(v); }, x, z)),
    OP(jacobian, jacobian([](const X& v) { return exp(v) * v; }, x, {.create_graph = true}),
       tested_in("derivatives", "Jacobians and Hessians are PyTorch's"), jacobian([](const List& v) { return v[0]; }, List{})),
    OP(hessian, hessian([](const X& v) { return sum(exp(v) * v); }, x, {.create_graph = true}),
       tested_in("derivatives", "Jacobians and Hessians are PyTorch's"), hessian([](const X& v) { return exp(v); }, x)),
};

}  // namespace

TEST_CASE("every public function of ops/ has its gradient, oracle and refusal", "[ops][gradcheck][refusal]") {
  for (const PublicOp& op : public_ops) DYNAMIC_SECTION(op.name) check_public_op(op);
}

}  // namespace ops_public_ops
