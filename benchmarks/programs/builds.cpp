// The rows that show what a program's own options cost (benchmarks/builds): for each public op of float its name and
// microseconds, and for its gradient `name backward`; then some steps of training. Minima of repeats, one line each. An
// argument selects rows whose name contains it. Over 400 lines, because the ops are one list.
#include <tern/linalg/linalg.hpp>
#include <tern/linalg/lstsq.hpp>
#include <tern/models/models.hpp>
#include <tern/tern.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "../mnist_cnn.hpp"

using namespace tern;

namespace {

using X = Tensor<Cpu>;
using Ints = Tensor<Cpu, Index>;
using List = std::vector<X>;

const char* wanted = "";

/// The least time of f, which is called at least three times and for a fiftieth of a second. prepare() runs before each
/// call.
template <class Prepare, class F>
void row(const char* name, const char* suffix, const Prepare& prepare, const F& f) {
  double best = 1e9;
  const double begin = detail::now();
  for (int n = 0; n < 4 || detail::now() - begin < 0.02; ++n) {
    prepare();
    const double start = detail::now();
    f();
    const double time = detail::now() - start;
    if (n > 0) best = std::min(best, time);
  }
  std::printf("%s%s %.2f\n", name, suffix, 1e6 * best);
}

bool selected(const char* name) { return std::strstr(name, wanted); }

template <class F>
void flat(const char* name, const F& f) {
  const NoGradGuard off;
  if (selected(name)) row(name, "", [] {}, f);
}

template <class F>
void op(const char* name, const F& f) {
  flat(name, f);
  if (!selected(name)) return;
  X y, g;
  row(name, " backward", [&] { g = ones_like((y = f()).detach()); }, [&] { y.backward(g); });
}

template <class F>
void in_place(const char* name, const X& x, const F& f) {
  const NoGradGuard off;
  const X w = empty_like(x);
  if (selected(name)) row(name, "", [&] { w.copy_(x); }, [&] { f(w); });
}

template <class Net, class Optimiser>
void train(const char* name, Net& net, Optimiser& optimiser, const X& x) {
  const auto labels = randint<Cpu>(0, 10, {x.size(0)});
  if (!selected(name)) return;
  row(
      name, "", [] {},
      [&] {
        optimiser.zero_grad();
        cross_entropy(net(x), labels).backward();
        optimiser.step();
      });
}

// x, y in (0.1, 0.9) of [256, 1024] and z of [1024], which need gradients; masks and positions for them.
X leaf(const detail::Shape& shape) { return uniform<Cpu>(shape, 0.1, 0.9).requires_grad_(); }
const X x = leaf({256, 1024}), y = leaf({256, 1024}), z = leaf({1024});
const Tensor<Cpu, bool> mask = rand<Cpu>({256, 1024}) < 0.5, other = rand<Cpu>({256, 1024}) < 0.5;
const Ints columns = randint<Cpu>(1024, {256}), places = randint<Cpu>(256, {256, 1024}),
           rows = randint<Cpu>(256, {1000});

#define OP(name, ...) op(#name, [&] { return __VA_ARGS__; });
#define FLAT(name, ...) flat(#name, [&] { __VA_ARGS__; });
#define IN_PLACE(name, x, ...) in_place(#name "_", x, [&](const X& w) { name##_(w __VA_OPT__(, ) __VA_ARGS__); });
#define UNARY(name, x) OP(name, name(x)) IN_PLACE(name, x)

// clang-format off: lists, several rows to a line
void arithmetic() {
  OP(add, add(x, y)) IN_PLACE(add, x, y) OP(sub, sub(x, y)) IN_PLACE(sub, x, y) OP(mul, mul(x, y)) IN_PLACE(mul, x, y)
  OP(div, div(x, y)) IN_PLACE(div, x, y) OP(rsub, rsub(x, 2)) OP(rdiv, rdiv(x, 2)) UNARY(neg, x)
  UNARY(exp, x) UNARY(exp2, x) UNARY(expm1, x) UNARY(log, x) UNARY(log2, x) UNARY(log10, x) UNARY(log1p, x) UNARY(sigmoid, x)
  UNARY(logit, x) UNARY(sqrt, x) UNARY(rsqrt, x) UNARY(reciprocal, x) UNARY(square, x)
  OP(pow, pow(x, y)) IN_PLACE(pow, x, y) OP(float_power, float_power(x, y).to(f32)) OP(logaddexp, logaddexp(x, y)) OP(logaddexp2, logaddexp2(x, y)) OP(xlog1py, xlog1py(x, y)) OP(ldexp, ldexp(x, y)) OP(frexp, frexp(x).mantissa) FLAT(nextafter, nextafter(x, y))
  OP(vander, vander(z, 64)) OP(linalg::vander, linalg::vander(z, 64)) FLAT(logspace, logspace<Cpu>(0, 2, 1000)) FLAT(hann_window, hann_window<Cpu>(400)) FLAT(hamming_window, hamming_window<Cpu>(400))
  FLAT(blackman_window, blackman_window<Cpu>(400)) FLAT(bartlett_window, bartlett_window<Cpu>(400)) FLAT(kaiser_window, kaiser_window<Cpu>(400))
  OP(xlogy, xlogy(x, y))
  IN_PLACE(xlogy, x, y)
  UNARY(sin, x) UNARY(cos, x) UNARY(tan, x) UNARY(asin, x) UNARY(acos, x) UNARY(atan, x) UNARY(sinh, x) UNARY(cosh, x) UNARY(tanh, x)
  UNARY(sinc, x) UNARY(rad2deg, x) UNARY(deg2rad, x) UNARY(asinh, x) UNARY(acosh, 1 + x) UNARY(atanh, x) OP(atan2, atan2(x, y)) IN_PLACE(atan2, x, y) OP(hypot, hypot(x, y))
  IN_PLACE(hypot, x, y)
  UNARY(erf, x) UNARY(erfc, x) UNARY(erfinv, x) UNARY(lgamma, x) UNARY(digamma, x) OP(polygamma, polygamma(1, x)) OP(ndtr, ndtr(x)) OP(log_ndtr, log_ndtr(x)) OP(entr, entr(x))
  UNARY(abs, x) UNARY(sign, x) UNARY(floor, x) UNARY(ceil, x) UNARY(round, x) UNARY(trunc, x) UNARY(frac, x)
  FLAT(signbit, signbit(x)) OP(copysign, copysign(x, y)) OP(heaviside, heaviside(x, y))
  OP(fmod, fmod(x, y)) IN_PLACE(fmod, x, y) OP(remainder, remainder(x, y)) IN_PLACE(remainder, x, y)
  OP(floor_divide, floor_divide(x, y)) IN_PLACE(floor_divide, x, y)
}

void activations() {
  UNARY(relu, x) UNARY(relu6, x) UNARY(silu, x) UNARY(mish, x) UNARY(tanhshrink, x) UNARY(logsigmoid, x) UNARY(hardsigmoid, x)
  UNARY(hardswish, x) UNARY(selu, x) UNARY(softsign, x)
  OP(leaky_relu, leaky_relu(x)) IN_PLACE(leaky_relu, x) OP(elu, elu(x)) IN_PLACE(elu, x) OP(celu, celu(x, 2)) IN_PLACE(celu, x, 2)
  OP(hardtanh, hardtanh(x, 0.3, 0.7)) IN_PLACE(hardtanh, x, 0.3, 0.7) OP(threshold, threshold(x, 0.5, 2)) IN_PLACE(threshold, x, 0.5, 2)
  OP(softplus, softplus(x)) OP(softshrink, softshrink(x)) OP(hardshrink, hardshrink(x)) OP(gelu, gelu(x)) OP(prelu, prelu(x, z))
  OP(glu, glu(x)) OP(rrelu, rrelu(x, 0.1, 0.3, true))
}

void choices() {
  OP(lerp, lerp(x, y, z)) IN_PLACE(lerp, x, y, 0.3) OP(addcmul, addcmul(x, y, z, 3)) IN_PLACE(addcmul, x, y, z)
  OP(addcdiv, addcdiv(x, y, z, 3)) IN_PLACE(addcdiv, x, y, z) OP(where, where(mask, x, y)) OP(maximum, maximum(x, y))
  OP(minimum, minimum(x, y)) OP(fmax, fmax(x, y)) OP(fmin, fmin(x, y)) OP(clamp, clamp(x, 0.3, 0.7)) IN_PLACE(clamp, x, 0.3, 0.7) OP(clamp_min, clamp_min(x, 0.5))
  IN_PLACE(clamp_min, x, 0.5) OP(clamp_max, clamp_max(x, 0.5)) IN_PLACE(clamp_max, x, 0.5)
  FLAT(eq, eq(x, y)) FLAT(ne, ne(x, y)) FLAT(lt, lt(x, y)) FLAT(le, le(x, y)) FLAT(gt, gt(x, y)) FLAT(ge, ge(x, y))
  IN_PLACE(eq, x, y) IN_PLACE(ne, x, y) IN_PLACE(lt, x, y) IN_PLACE(le, x, y) IN_PLACE(gt, x, y) IN_PLACE(ge, x, y)
  FLAT(isnan, isnan(x)) FLAT(isinf, isinf(x)) FLAT(isposinf, isposinf(x)) FLAT(isneginf, isneginf(x)) FLAT(isfinite, isfinite(x)) FLAT(isclose, isclose(x, y))
  FLAT(logical_and, logical_and(x, y)) FLAT(logical_or, logical_or(x, y)) FLAT(logical_xor, logical_xor(x, y)) FLAT(logical_not, logical_not(x))
  IN_PLACE(logical_and, x, y) IN_PLACE(logical_or, x, y) IN_PLACE(logical_xor, x, y) IN_PLACE(logical_not, x)
  FLAT(equal, equal(x, x)) FLAT(allclose, allclose(x, x))
  OP(masked_fill, masked_fill(x, mask, 2)) IN_PLACE(masked_fill, x, mask, 2) OP(masked_select, masked_select(x, mask))
  OP(nan_to_num, nan_to_num(x)) IN_PLACE(nan_to_num, x)
  OP(masked_scatter, masked_scatter(x, mask, y)) IN_PLACE(masked_scatter, x, mask, y)
}

void reductions() {
  OP(sum, sum(x, 1)) OP(mean, mean(x, 1)) OP(prod, prod(x, 1)) OP(amax, amax(x, 1)) OP(amin, amin(x, 1)) OP(var, var(x, 1))
  OP(std, tern::std(x, 1)) OP(logsumexp, logsumexp(x, 1)) OP(norm, norm(x, 3, 1)) OP(linalg::vector_norm, linalg::vector_norm(x, 3, 1))
  OP(linalg::matrix_norm, linalg::matrix_norm(x)) OP(var_mean, var_mean(x, 1).first) OP(std_mean, std_mean(x, 1).first)
  OP(aminmax, aminmax(x, 1).first) OP(max, max(x, 1).values) OP(min, min(x, 1).values) OP(median, median(x, 1).values)
  OP(quantile, quantile(x, 0.3, 1)) OP(nanmedian, nanmedian(x, 1).values) OP(nanquantile, nanquantile(x, 0.3, 1)) OP(mode, mode(x, 1).values) OP(trace, trace(x)) FLAT(any, any(x, 1)) FLAT(all, all(x, 1)) FLAT(argmax, argmax(x, 1))
  FLAT(argmin, argmin(x, 1)) FLAT(count_nonzero, count_nonzero(x, 1)) OP(sum_to, sum_to(x, {1024}))
  OP(nansum, nansum(x, 1)) OP(nanmean, nanmean(x, 1)) OP(cummax, cummax(x, 1).values) OP(cummin, cummin(x, 1).values)
  OP(logcumsumexp, logcumsumexp(x, 1)) OP(diff, diff(x)) FLAT(isin, isin(x, z)) FLAT(histc, histc(x)) OP(cov, cov(x)) OP(corrcoef, corrcoef(x))
  OP(cumsum, cumsum(x, 1)) OP(cumprod, cumprod(x, 1)) IN_PLACE(cumsum, x, 1) IN_PLACE(cumprod, x, 1) OP(trapezoid, trapezoid(x))
  OP(cumulative_trapezoid, cumulative_trapezoid(x)) OP(sort, sort(x, 1).values) OP(msort, msort(x)) OP(topk, topk(x, 8).values)
  OP(kthvalue, kthvalue(x, 8, 1).values) FLAT(unique, unique(x)) FLAT(unique_consecutive, unique_consecutive(x)) FLAT(argsort, argsort(x, 1)) FLAT(searchsorted, searchsorted(msort(z), y))
  FLAT(bucketize, bucketize(y, msort(z)))
}

void normalisation() {
  const X statistic, four = x.detach().view({16, 16, 32, 32}).clone().requires_grad_(), channel = leaf({16});
  OP(softmax, softmax(x, 1)) OP(log_softmax, log_softmax(x, 1)) OP(softmin, softmin(x, 1)) OP(layer_norm, layer_norm(x, {1024}, z, z))
  OP(rms_norm, rms_norm(x, {1024}, z)) OP(group_norm, group_norm(four, 4, channel, channel)) OP(instance_norm, instance_norm(four))
  OP(batch_norm, batch_norm(four, statistic, statistic, channel, channel, true))
  OP(batch_norm_relu, batch_norm_relu(four, statistic, statistic, channel, channel, true))
  OP(batch_norm_add_relu, batch_norm_add_relu(four, four, statistic, statistic, channel, channel, true))
  OP(cdist, cdist(x.narrow(0, 0, 16), y.narrow(0, 0, 16))) OP(pdist, pdist(x.narrow(0, 0, 16))) OP(local_response_norm, local_response_norm(four, 3)) OP(dist, dist(x, y)) OP(renorm, renorm(x, 2, 0, 1)) OP(pairwise_distance, pairwise_distance(x, y))
  OP(cosine_similarity, cosine_similarity(x, y)) OP(normalize, normalize(x)) OP(dropout, dropout(x)) OP(dropout1d, dropout1d(x))
  OP(dropout2d, dropout2d(four)) OP(dropout3d, dropout3d(four)) OP(alpha_dropout, alpha_dropout(x))
  OP(feature_alpha_dropout, feature_alpha_dropout(four))
}

void losses() {
  const X sign_of_y = sign(y.detach() - 0.5), logs = log_softmax(leaf({50, 8, 40}).detach(), 2).requires_grad_();
  const Ints labels = randint<Cpu>(1, 40, {8, 10}), long_ones = full<Cpu, Index>({8}, 50), short_ones = full<Cpu, Index>({8}, 10);
  OP(mse_loss, mse_loss(x, y)) OP(l1_loss, l1_loss(x, y)) OP(huber_loss, huber_loss(x, y)) OP(smooth_l1_loss, smooth_l1_loss(x, y))
  OP(binary_cross_entropy, binary_cross_entropy(x, y.detach())) OP(binary_cross_entropy_with_logits, binary_cross_entropy_with_logits(x, y))
  OP(nll_loss, nll_loss(x, columns)) OP(cross_entropy, cross_entropy(x, columns))
  OP(ctc_loss, ctc_loss(logs, labels, long_ones, short_ones)) OP(margin_ranking_loss, margin_ranking_loss(x, y, sign_of_y))
  OP(hinge_embedding_loss, hinge_embedding_loss(x, sign_of_y)) OP(soft_margin_loss, soft_margin_loss(x, y))
  OP(triplet_margin_loss, triplet_margin_loss(x, y, z.expand({256, 1024}))) OP(kl_div, kl_div(x, y)) OP(poisson_nll_loss, poisson_nll_loss(x, y))
  OP(cosine_embedding_loss, cosine_embedding_loss(x, y, sign_of_y.select(1, 0))) OP(multi_margin_loss, multi_margin_loss(x, columns))
  OP(multilabel_margin_loss, multilabel_margin_loss(x.narrow(1, 0, 32), (y > 0).to(i64).narrow(1, 0, 32) - 1))
  OP(multilabel_soft_margin_loss, multilabel_soft_margin_loss(x, y))
  OP(gaussian_nll_loss, gaussian_nll_loss(x, y, y * y))
}

void products() {
  const X a = leaf({256, 256}), three = leaf({16, 64, 64}), v = leaf({256}), query = leaf({2, 4, 64, 32});
  OP(matmul, matmul(x, y.t())) OP(mm, mm(x, y.t())) OP(mv, mv(x, z)) OP(dot, dot(z, z)) OP(bmm, bmm(three, three)) OP(linear, linear(x, y))
  OP(outer, outer(v, z)) OP(addmm, addmm(x, a, y, 2, 3)) OP(addr, addr(a, v, v, 2, 3)) OP(addmv, addmv(v, x, z, 2, 3))
  OP(addbmm, addbmm(leaf({64, 64}), three, three, 2, 3)) OP(baddbmm, baddbmm(three, three, three, 2, 3))
  OP(inner, inner(x, y)) OP(kron, kron(v, z)) OP(cross, cross(leaf({1024, 3}), leaf({1024, 3})))
  OP(tensordot, tensordot(a, a, 1)) OP(einsum, einsum("ij,kj,j->ik", List{x, y, z})) OP(bilinear, bilinear(a, a, leaf({2, 256, 256})))
  OP(scaled_dot_product_attention, scaled_dot_product_attention(query, query, query))
}

void sequences() {
  const X in = leaf({20, 8, 64}), in_step = leaf({8, 64}), state = leaf({8, 64}), one = leaf({64, 64}), bias = leaf({64});
  const List plain{one, one}, lstm_weights{leaf({256, 64}), leaf({256, 64})}, gru_weights{leaf({192, 64}), leaf({192, 64})};
  const std::vector<Index> lengths{20, 18, 15, 10, 9, 8, 7, 5};
  OP(lstm, std::get<0>(lstm(in, {}, lstm_weights, {.has_biases = false}))) OP(gru, std::get<0>(gru(in, {}, gru_weights, {.has_biases = false})))
  OP(rnn_tanh, std::get<0>(rnn_tanh(in, {}, plain, {.has_biases = false})))
  OP(rnn_relu, std::get<0>(rnn_relu(in, {}, plain, {.has_biases = false})))
  OP(lstm_cell, std::get<1>(lstm_cell(in_step, {}, lstm_weights[0], lstm_weights[1])))
  OP(gru_cell, gru_cell(in_step, state, gru_weights[0], gru_weights[1])) OP(rnn_tanh_cell, rnn_tanh_cell(in_step, state, one, one))
  OP(rnn_relu_cell, rnn_relu_cell(in_step, state, one, one))
  OP(pack_padded_sequence, pack_padded_sequence(in, lengths).data)
  OP(pad_packed_sequence, pad_packed_sequence(pack_padded_sequence(in, lengths)).first)
  OP(pad_sequence, pad_sequence(List{x, x.narrow(0, 0, 100)})) OP(pack_sequence, pack_sequence(List{x, x.narrow(0, 0, 100)}).data)
  OP(unpad_sequence, unpad_sequence(in, lengths)[0])
  OP(unpack_sequence, unpack_sequence(pack_padded_sequence(in, lengths))[0])
  OP(embedding, embedding(rows, x)) OP(embedding_bag, embedding_bag(rows.view({250, 4}), x))
}

void linear_algebra() {
  const X noise = rand<Cpu>({48, 48}), regular = (noise + 48 * eye<Cpu>(48)).requires_grad_(), b = leaf({48, 16}),
          definite = (mm(noise, noise.t()) + 48 * eye<Cpu>(48)).requires_grad_();
  OP(linalg::inv, linalg::inv(regular)) OP(linalg::solve, linalg::solve(regular, b))
  OP(linalg::solve_triangular, linalg::solve_triangular(regular, b, true)) OP(linalg::cholesky, linalg::cholesky(definite))
  OP(linalg::det, linalg::det(regular / 48)) OP(linalg::slogdet, linalg::slogdet(regular).logabsdet) OP(logdet, logdet(regular)) OP(cholesky_inverse, cholesky_inverse(regular)) OP(linalg::qr, linalg::qr(regular).R)
  OP(linalg::eigh, linalg::eigh(definite).eigenvalues) OP(linalg::eigvalsh, linalg::eigvalsh(definite)) OP(linalg::svd, linalg::svd(regular).S)
  OP(linalg::svdvals, linalg::svdvals(regular)) OP(linalg::cholesky_solve, linalg::cholesky_solve(b, regular))
  OP(linalg::lstsq, linalg::lstsq(regular, b).solution) OP(linalg::pinv, linalg::pinv(regular)) OP(linalg::cond, linalg::cond(regular))
  FLAT(linalg::matrix_rank, linalg::matrix_rank(regular))
  OP(linalg::multi_dot, linalg::multi_dot({regular, regular, regular})) OP(linalg::matrix_power, linalg::matrix_power(regular / 48, 5)) OP(linalg::matrix_exp, linalg::matrix_exp(regular / 48))
}

void images() {
  const X image = leaf({4, 16, 32, 32}), line = leaf({4, 16, 256}), solid = leaf({2, 8, 16, 16, 16}), w1 = leaf({16, 16, 3}),
          w2 = leaf({16, 16, 3, 3}), w3 = leaf({8, 8, 3, 3, 3}), one = leaf({16, 16, 1, 1}), grid = leaf({4, 32, 32, 2});
  OP(conv1d, conv1d(line, w1)) OP(conv2d, conv2d(image, w2)) OP(conv3d, conv3d(solid, w3)) OP(conv2d_relu, conv2d_relu(image, w2))
  OP(conv2d_add_relu, conv2d_add_relu(image, image, one)) OP(conv_transpose1d, conv_transpose1d(line, w1))
  OP(conv_transpose2d, conv_transpose2d(image, w2)) OP(conv_transpose3d, conv_transpose3d(solid, w3))
  OP(max_pool1d, max_pool1d(line, 2)) OP(max_pool2d, max_pool2d(image, 2)) OP(max_pool3d, max_pool3d(solid, 2))
  OP(max_pool1d_with_indices, max_pool1d_with_indices(line, 2).values) OP(max_pool2d_with_indices, max_pool2d_with_indices(image, 2).values)
  OP(max_pool3d_with_indices, max_pool3d_with_indices(solid, 2).values)
  const auto at1 = max_pool1d_with_indices(line, 2).indices, at2 = max_pool2d_with_indices(image, 2).indices, at3 = max_pool3d_with_indices(solid, 2).indices;
  OP(max_unpool1d, max_unpool1d(line.narrow(2, 0, 128), at1, 2)) OP(max_unpool2d, max_unpool2d(image.narrow(2, 0, 16).narrow(3, 0, 16), at2, 2))
  OP(max_unpool3d, max_unpool3d(solid.narrow(2, 0, 8).narrow(3, 0, 8).narrow(4, 0, 8), at3, 2))
  OP(avg_pool1d, avg_pool1d(line, 2)) OP(avg_pool2d, avg_pool2d(image, 2)) OP(avg_pool3d, avg_pool3d(solid, 2))
  OP(lp_pool1d, lp_pool1d(line, 2, 2)) OP(lp_pool2d, lp_pool2d(image, 2, 2)) OP(lp_pool3d, lp_pool3d(solid, 2, 2))
  OP(adaptive_avg_pool1d, adaptive_avg_pool1d(line, 7)) OP(adaptive_avg_pool2d, adaptive_avg_pool2d(image, 7))
  OP(adaptive_avg_pool3d, adaptive_avg_pool3d(solid, 7)) OP(adaptive_max_pool1d, adaptive_max_pool1d(line, 7))
  OP(adaptive_max_pool2d, adaptive_max_pool2d(image, 7)) OP(adaptive_max_pool3d, adaptive_max_pool3d(solid, 7))
  OP(adaptive_max_pool1d_with_indices, adaptive_max_pool1d_with_indices(line, 7).values)
  OP(adaptive_max_pool2d_with_indices, adaptive_max_pool2d_with_indices(image, 7).values)
  OP(adaptive_max_pool3d_with_indices, adaptive_max_pool3d_with_indices(solid, 7).values)
  OP(pad, pad(image, {1, 1, 1, 1})) OP(grid_sample, grid_sample(image, grid))
  OP(affine_grid, affine_grid(leaf({4, 2, 3}), {4, 16, 32, 32}))
  OP(interpolate, interpolate(image, {.size = {64, 64}, .mode = "bilinear"})) OP(pixel_shuffle, pixel_shuffle(image, 2))
  OP(pixel_unshuffle, pixel_unshuffle(image, 2)) OP(channel_shuffle, channel_shuffle(image, 4))
  OP(fold, fold(leaf({4, 64, 256}), {32, 32}, 2, {.stride = 2}))
}

void positions() {
  OP(tril, tril(x)) OP(triu, triu(x)) OP(diag, diag(z)) IN_PLACE(tril, x) IN_PLACE(triu, x) IN_PLACE(fill_diagonal, x, 2) OP(dstack, dstack(List{x, y})) OP(column_stack, column_stack(List{x, y}))
  OP(block_diag, block_diag(List{x, y})) OP(cartesian_prod, cartesian_prod(List{z, z})) OP(combinations, combinations(z))
  OP(select_scatter, select_scatter(x, z, 0, 1)) OP(slice_scatter, slice_scatter(x, y.narrow(0, 0, 100), 0, {0, 100})) OP(diagonal_scatter, diagonal_scatter(x, z.narrow(0, 0, 256)))
  OP(diag_embed, diag_embed(x.narrow(1, 0, 32))) OP(hstack, hstack(List{x, y})) OP(vstack, vstack(List{x, y})) OP(cat, cat(List{x, y}, 1))
  OP(stack, stack(List{x, y})) OP(repeat, repeat(x, {2, 1})) OP(tile, tile(x, {2})) OP(flip, flip(x, 1)) OP(roll, roll(x, 1, 1))
  OP(rot90, rot90(x)) OP(meshgrid, meshgrid(List{z, z})[1].clone()) OP(reshape, reshape(x.t(), {256 * 1024}))
  OP(gather, gather(x, 0, places)) OP(index_select, index_select(x, 0, rows)) OP(index_add, index_add(x, 0, rows.narrow(0, 0, 256), y))
  OP(scatter_add, scatter_add(x, 0, places, y)) OP(take, take(x, places)) OP(put, put(x, rows, z.narrow(0, 0, 1000))) IN_PLACE(put, x, rows, z.narrow(0, 0, 1000))
  OP(index_reduce, index_reduce(x, 0, rows.narrow(0, 0, 256), y, "prod")) OP(take_along_dim, take_along_dim(x, places, 0))
  OP(index_fill, index_fill(x, 0, rows, 2)) OP(scatter, scatter(x, 0, places, y)) IN_PLACE(scatter, x, 0, places, y)
  IN_PLACE(scatter_add, x, 0, places, y) OP(scatter_reduce, scatter_reduce(x, 0, places, y, "amax")) IN_PLACE(scatter_reduce, x, 0, places, y, "mean")
  IN_PLACE(index_add, x, 0, rows.narrow(0, 0, 256), y) IN_PLACE(index_fill, x, 0, rows, 2)
  OP(index_copy, index_copy(x, 0, rows.narrow(0, 0, 256), y)) IN_PLACE(index_copy, x, 0, rows.narrow(0, 0, 256), y)
  OP(repeat_interleave, repeat_interleave(x, 2, 1)) FLAT(nonzero, nonzero(mask)) OP(index, index(x, {rows, Slice(1, 300)}))
  OP(index_put, index_put(x, {rows}, z)) IN_PLACE(index_put, x, {rows}, z) OP(clone, clone(x)) OP(contiguous, contiguous(x.t()))
  IN_PLACE(copy, x, y) IN_PLACE(fill, x, 2) OP(to_type, to_type(to_type(x, f64), f32))
  FLAT(uniform, uniform<Cpu>({256, 1024}, 0, 1)) FLAT(rand, rand<Cpu>({256, 1024})) FLAT(randn, randn<Cpu>({256, 1024}))
  FLAT(normal, normal(x, y)) FLAT(multinomial, multinomial(x, 2)) OP(gumbel_softmax, gumbel_softmax(x)) IN_PLACE(uniform, x) IN_PLACE(normal, x) IN_PLACE(bernoulli, x) IN_PLACE(exponential, x)
  FLAT(bernoulli, bernoulli(x)) FLAT(rand_like, rand_like(x)) FLAT(randn_like, randn_like(x))
}
// clang-format on

void trainings() {
  nn::Linear<Cpu> layer(1024, 1024);
  layer.weight.set_grad(full_like(layer.weight, 1e-3));
  optim::SGD momentum(layer.parameters(), {.lr = 1e-6, .momentum = 0.9});
  flat("sgd_step_1M", [&] { momentum.step(); });

  nn::Sequential mlp(nn::Linear<Cpu>(784, 128), nn::ReLU<Cpu>(), nn::Linear<Cpu>(128, 10));
  optim::SGD sgd(mlp.parameters(), {.lr = 0.1, .momentum = 0.9});
  train("mlp_small", mlp, sgd, randn<Cpu>({64, 784}));

  MnistCnn<Cpu> cnn;
  optim::Adadelta adadelta(cnn.parameters());
  train("mnist_cnn", cnn, adadelta, randn<Cpu>({128, 1, 28, 28}));

  auto resnet = models::resnet50<Cpu>({});
  resnet.eval();
  const auto pictures = randn<Cpu>({16, 3, 224, 224}).contiguous(channels_last);
  flat("resnet50_infer", [&] { resnet(pictures); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  arithmetic();
  activations();
  choices();
  reductions();
  normalisation();
  losses();
  products();
  sequences();
  linear_algebra();
  images();
  positions();
  trainings();
}
