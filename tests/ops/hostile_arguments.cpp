// Every public op with an argument that is a size, a position or a count, called with hostile numbers
// (support/hostile.hpp).
#include "support/hostile.hpp"
#include "tern/linalg/matrix_functions.hpp"
#include "tern/linalg/matrix_norm.hpp"
#include "tern/ops/ops.hpp"

namespace ops_hostile_arguments {
using namespace tern;
using namespace tern_test;

namespace {

template <class D>
Tensor<D, Index> ints(Index a, Index b) {
  return tensor<D, Index>({a, b});
}
template <class D>
Tensor<D, Index> no_ints() {
  return zeros<D, Index>({0});
}
template <class D>
Tensor<D, Index> number(Index a) {
  return full<D, Index>({}, a);
}
const std::vector<float> two{1, 2}, nothing;

template <class D>
Tensor<D, double> values(const detail::Shape& shape) {
  return spread_tensor<D>(shape);
}

template <class D>
std::vector<HostileCalls<D>> creation() {
  return {
      SIZES(empty, zeros<D>({v}), (zeros<D, bool>({v})), zeros<D>({v, 0}), zeros<D>({0, v, v}),
            (full<D, Index>({2, v}, 7)), ones<D>({v, v, v, v, v, v, v, v})),
      SIZES(from_vector, from_vector<D>(two, {v, 2}), from_vector<D>(nothing, {v, 0}), from_vector<D>(nothing, {v, v})),
      SIZES(arange, arange<D>(v), arange<D>(double(v)), arange<D>(0, 7, v), arange<D>(0.0, 7.0, double(v)),
            arange<D>(0.0, 1.0, 1 / double(v))),
      POSITIONS(arange, arange<D>(v, v == INT64_MAX ? v : v + 1), arange<D>(v, Index(7), INT64_MAX),
                arange<D>(Index(7), v, INT64_MIN)),
      SIZES(linspace, linspace<D>(0, 1, v), linspace<D>(0, double(v), 3)),
      SIZES(eye, eye<D>(v), eye<D>(2, v), eye<D>(v, 2), eye<D>(0, v)),
      SIZES(randperm, randperm<D>(v)),
      SIZES(hann_window, hann_window<D>(v), hamming_window<D>(v), blackman_window<D>(v), bartlett_window<D>(v),
            kaiser_window<D>(v)),
      SIZES(uniform, uniform<D>({v}, 0, 1)),
      SIZES(rand, rand<D>({2, v})),
      SIZES(randn, randn<D>({v, v})),
      SIZES(randint, randint<D>(3, {v})),
      POSITIONS(randint, randint<D>(v, {4}), randint<D>(v, INT64_MAX, {4}), randint<D>(INT64_MIN, v, {4}),
                randint_like(x, v, v + (v < INT64_MAX))),
  };
}

template <class D>
std::vector<HostileCalls<D>> views() {
  return {
      POSITIONS(size, number<D>(x.size(v)), number<D>(x.stride(v)), number<D>(x.shape()[v])),
      POSITIONS(permute, permute(x, {v}), permute(x, {v, 0}), permute(x, {1, v})),
      POSITIONS(transpose, transpose(x, v, 0), transpose(x, -1, v)),
      POSITIONS(slice, slice(x, v, {}), slice(x, 0, {v}), slice(x, 0, {0, v}), slice(x, 0, {0, Slice::open, v}),
                slice(x, -1, {v, v, v}), slice(x, 0, {v, INT64_MIN}), slice(x, -1, {1, Slice::open, v})),
      POSITIONS(narrow, narrow(x, v, 0, 1), narrow(x, 0, v, 1), narrow(x, 0, 0, v), narrow(x, 0, 1, v),
                narrow(x, -1, v, v)),
      POSITIONS(select, select(x, v, 0), select(x, 0, v), select(x, -1, v), x[v]),
      POSITIONS(expand, expand(x, {v}), expand(x, {v, -1, -1}), expand(x, {v, v, v, v}), expand(x, {v, 2, 3}),
                expand(x, {0, v, 3}), broadcast_to(x, {v, 2, 3}), expand(values<D>({}), {v}),
                expand(values<D>({1, 0}), {v, 0})),
      POSITIONS(view, view(x, {v}), view(x, {v, -1}), view(x, {v, 6}), view(x, {v, v, -1}), view(x, {0, v, v}),
                view(x, {v, v, v, v, v, v, v, v}), view(x.detach(), {5, v})),
      POSITIONS(reshape, reshape(x.t(), {v}), reshape(x.t(), {v, -1}), reshape(x.t(), {v, 2, 3}),
                reshape(x, {-1, v, 0})),
      POSITIONS(flatten, flatten(x, v), flatten(x, 0, v), flatten(x, v, v)),
      POSITIONS(squeeze, squeeze(x, v), squeeze(x, {0, v}), unsqueeze(x, v)),
      SIZES(split, split(x, v), split(x, 2, v), split(x, {v, 1}, 0), split(x, {v, v}, 0),
            split(x, {1, v, v == INT64_MIN ? 0 : -v}, 0), split(x, std::vector<Index>())),
      SIZES(chunk, chunk(x, v), chunk(x, 2, v), chunk(x, v, -1), unbind(x, v)),
      POSITIONS(unflatten, unflatten(x, v, {1, -1}), unflatten(x, 0, {v, -1}), unflatten(x, 0, {v, v}),
                unflatten(x, -1, {v, 3}), unflatten(x, 0, {})),
      POSITIONS(movedim, movedim(x, v, 0), movedim(x, 0, v), movedim(x, {0, v}, {v, 0})),
      POSITIONS(diag_embed, diag_embed(x, v), diag_embed(x, 0, v, 0), diag_embed(x, 1, 0, v), tril_indices<D>(2, 3, v),
                triu_indices<D>(2, 3, v)),
      SIZES(tril_indices, tril_indices<D>(v, 2), triu_indices<D>(v, v)),
      POSITIONS(diagonal, diagonal(x, v), diagonal(x, 0, v, 0), diagonal(x, 1, 0, v), diag(x, v)),
      SIZES(repeat, repeat(x, v), repeat(x, {v, 1}), repeat(x, {1, v, 1, 1}), repeat(x, {v, v}), repeat(x, {v, 0}),
            tile(x, v), tile(x, {v, 2, v}), repeat(x, {}), tile(x, {})),
      POSITIONS(flip, flip(x, v), flip(x, {0, v}), rot90(x, v), rot90(x, 1, {v, 0}), rot90(x, 1, {1, v})),
      POSITIONS(roll, roll(x, v), roll(x, v, 0), roll(x, 1, v), roll(x, {v, v}, {0, 1}), roll(x, {}, {0})),
      POSITIONS(unfold, unfold(x, v, 1, 1), unfold(x, 0, v, 1), unfold(x, -1, 2, v), unfold(x, 0, v, v)),
      POSITIONS(tril, tril(x, v), triu(x, v)),
      POSITIONS(cat, cat(std::vector{x, x}, v), stack(std::vector{x, x}, v), concat({x, x}, v), concatenate({x, x}, v)),
      POSITIONS(swapaxes, swapaxes(x, v, 0), swapdims(x, 0, v), moveaxis(x, v, 0), moveaxis(x, {0, v}, {v, 0}),
                narrow_copy(x, v, 0, 1), narrow_copy(x, 0, v, 1), narrow_copy(x, 0, 0, v)),
      SIZES(tensor_split, tensor_split(x, v), tensor_split(x, 2, v), tensor_split(x, {v, 1}),
            tensor_split(x, {0, v}, -1), hsplit(x, v), hsplit(x, {v, v}), vsplit(x, v), dsplit(x, {1, v})),
      POSITIONS(select_scatter, select_scatter(x, values<D>({}), v, 0), select_scatter(x, values<D>({}), 0, v),
                slice_scatter(x, values<D>({}), v), slice_scatter(x, values<D>({}), 0, {v, {}}),
                slice_scatter(x, values<D>({}), 0, {0, v, 2}), diagonal_scatter(x, values<D>({}), v),
                diagonal_scatter(x, values<D>({}), 0, v, 0)),
      SIZES(cat, cat(std::vector{x, expand(values<D>({1}), {v})})),
      POSITIONS(meshgrid, meshgrid(std::vector(9, x)), meshgrid(std::vector{x, x})),
  };
}

template <class D>
std::vector<HostileCalls<D>> reductions() {
  return {
      POSITIONS(sum, sum(x, v), sum(x, {0, v}), mean(x, v), prod(x, v), any(x, v), all(x, v), amax(x, v), amin(x, v),
                cross(x, x, v), nansum(x, v), nanmean(x, v)),
      POSITIONS(var, var(x, v), tern::std(x, v), var_mean(x, v), std_mean(x, v), logsumexp(x, v), norm(x, 2, v),
                norm(x, 3, {0, v}), aminmax(x, v)),
      POSITIONS(argmax, argmax(x, v), argmin(x, v), count_nonzero(x, v), linalg::vector_norm(x, 2, v),
                linalg::matrix_norm(x, 1, {0, v}), linalg::matrix_norm(x, "fro", {v, 1})),
      POSITIONS(cumsum, cumsum(x, v), cumprod(x, v), cummax(x, v), cummin(x, v), logcumsumexp(x, v), diff(x, 1, v),
                diff(x, v), softmax(x, v), log_softmax(x, v), softmin(x, v), glu(x, v), normalize(x, 2, v),
                cosine_similarity(x, x, v)),
      POSITIONS(sort, sort(x, v), argsort(x, v), topk(x, v), topk(x, 1, v), kthvalue(x, v), kthvalue(x, 1, v)),
      POSITIONS(layer_norm, layer_norm(x, {v}), layer_norm(x, {v, 3}), rms_norm(x, {v}), group_norm(x, v),
                local_response_norm(x, v), layer_norm(x, {})),
      POSITIONS(tensordot, tensordot(x, x, v), tensordot(x, x, v, 0), tensordot(x, x, {0, v}, {0, 1})),
      SIZES(vander, vander(values<D>({2}), v), vander(values<D>({2}), v, true), linalg::vander(x, v)),
      SIZES(logspace, logspace<D>(0, 1, v)),
      POSITIONS(renorm, renorm(x, 2, v, 1), trapezoid(x, 1, v), trapezoid(x, x, v), cumulative_trapezoid(x, 1, v),
                cumulative_trapezoid(x, x, v), median(x, v), nanmedian(x, v), mode(x, v), quantile(x, 0.5, v),
                nanquantile(x, 0.5, v), max(x, v), min(x, v)),
      POSITIONS(cumsum_, cumsum_(clone(x), v), cumprod_(clone(x), v)),
      POSITIONS(matrix_power, linalg::matrix_power(values<D>({1, 1}) * 0 + 1, v),
                linalg::matrix_power(values<D>({0, 2, 2}), v)),
      POSITIONS(polygamma, polygamma(v, x), channel_shuffle(x, v), channel_shuffle(values<D>({1, 0, 2, 2}), v)),
  };
}

template <class D>
std::vector<HostileCalls<D>> by_index() {
  return {
      POSITIONS(index, x.index({v}), x.index({Slice(v), Ellipsis}), x.index({Slice(0, v, 2)}), x.index({ints<D>(0, v)}),
                x.index({Ellipsis, ints<D>(v, v)}), x.index({ints<D>(v, 0), ints<D>(0, v)}), x.index({None, v, None}),
                x.index({None, None, None, None, None, None, None, None, None}), x.index({})),
      POSITIONS(index_put_, index_put_(clone(x), {v}, values<D>({})),
                index_put_(clone(x), {ints<D>(0, v)}, values<D>({})),
                index_put(x, {ints<D>(v, v)}, values<D>({}), true), index_put_(clone(x), {Slice(v, v, v)}, 1)),
      POSITIONS(gather, gather(x, v, ints<D>(0, 0)), gather(x, 0, ints<D>(v, 0)),
                gather(x, 0, expand(ints<D>(0, v), {1, 2})), scatter_add(x, v, ints<D>(0, 0), values<D>({2})),
                scatter_add(x, 0, ints<D>(v, 0), values<D>({2})), scatter(x, v, ints<D>(0, 0), 1),
                scatter(x, 0, ints<D>(0, v), 1), scatter_reduce(x, v, ints<D>(0, 0), values<D>({2}), "prod"),
                scatter_reduce(x, 0, ints<D>(v, 0), values<D>({2}), "amax", false),
                scatter_add_(clone(x), 0, ints<D>(v, 0), values<D>({2}))),
      POSITIONS(index_select, index_select(x, v, ints<D>(0, 0)), index_select(x, 0, ints<D>(v, 0)),
                index_select(x, -1, ints<D>(v, v)), index_add(x, v, ints<D>(0, 0), x),
                index_add(x, 0, ints<D>(v, 0), x), index_fill(x, v, ints<D>(0, 0), 1),
                index_fill(x, 0, ints<D>(v, 0), 1), index_copy(x, v, ints<D>(0, 0), x),
                index_copy(x, 0, ints<D>(v, 0), x), index_add_(clone(x), 0, ints<D>(v, 0), x),
                index_fill_(clone(x), v, ints<D>(0, 0), 1)),
      POSITIONS(take, take(x, ints<D>(v, 0)), take_along_dim(x, ints<D>(v, 0)),
                take_along_dim(x, expand(ints<D>(0, v), {1, 2}), 1), take_along_dim(x, ints<D>(0, 0), v)),
      SIZES(repeat_interleave, repeat_interleave(x, v), repeat_interleave(x, v, 0), repeat_interleave(x, v, -1),
            repeat_interleave(x, 2, v), repeat_interleave(x, ints<D>(v, v), 0), repeat_interleave(x, number<D>(v))),
      SIZES(histc, histc(x, v)),
      SIZES(bincount, bincount(ints<D>(0, 1), v), bincount(ints<D>(0, v))),
      SIZES(combinations, combinations(values<D>({2}), v), combinations(values<D>({2}), v, true),
            combinations(values<D>({0}), v)),
      POSITIONS(multinomial, multinomial(values<D>({4}) + 1, v), multinomial(values<D>({4}) + 1, v, true),
                gumbel_softmax(x, 1, false, v)),
      POSITIONS(index_reduce, index_reduce(x, v, ints<D>(0, 0), x, "prod"),
                index_reduce(x, 0, ints<D>(v, 0), x, "amax"),
                scatter_reduce_(clone(x), v, ints<D>(0, 0), values<D>({2}), "sum"),
                scatter_(clone(x), 0, ints<D>(v, 0), 1), index_copy_(clone(x), v, ints<D>(0, 0), x)),
      POSITIONS(multilabel_margin_loss, multilabel_margin_loss(values<D>({2}), ints<D>(0, v)),
                multilabel_margin_loss(values<D>({2}), ints<D>(v, v))),
      SIZES(one_hot, one_hot(ints<D>(0, 1), v), one_hot(ints<D>(0, v)), one_hot(ints<D>(v, v), v),
            one_hot(no_ints<D>(), v)),
      POSITIONS(embedding, embedding(ints<D>(0, v), values<D>({3, 2})), embedding(ints<D>(0, 1), values<D>({3, 2}), v),
                embedding(ints<D>(v, 0), values<D>({0, 2})),
                embedding_bag(ints<D>(v, 0), values<D>({3, 2}), ints<D>(0, 1)),
                embedding_bag(ints<D>(1, 2), values<D>({3, 2}), ints<D>(0, v)),
                embedding_bag(ints<D>(1, 2), values<D>({3, 2}), ints<D>(v, v)),
                embedding_bag(ints<D>(1, 2), values<D>({3, 2}), ints<D>(0, 1), {.padding_idx = v})),
      POSITIONS(nll_loss, nll_loss(values<D>({2, 3}), ints<D>(0, v)), cross_entropy(values<D>({2, 3}), ints<D>(v, v)),
                cross_entropy(values<D>({2, 3}), ints<D>(0, v), {.ignore_index = v})),
      POSITIONS(searchsorted, searchsorted(ints<D>(0, v), ints<D>(v, v)), bucketize(ints<D>(v, 0), ints<D>(v, v))),
      POSITIONS(remainder, remainder(ints<D>(7, v), v ? v : 1), fmod(ints<D>(7, v), v ? v : 1),
                floor_divide(ints<D>(7, v), v ? v : 1)),
  };
}

template <class D>
std::vector<HostileCalls<D>> images() {
  using P = MaxPoolOptions;
  using A = AvgPoolOptions;
  using C = ConvOptions;
  using Ct = ConvTransposeOptions;
  using U = UnfoldOptions;
  using I = InterpolateOptions;
  return {
      SIZES(pad, pad(x, {v, 0}), pad(x, {0, v}), pad(x, {v, v}), pad(x, {v, 1, 0, v}),
            pad(x, {v, v == INT64_MIN ? INT64_MAX : -v}), pad(x, {v}), pad(x, {0, v}, PadMode::reflect),
            pad(x, {v, 1}, PadMode::circular), pad(x, {v, v}, PadMode::circular), pad(x, {v, 0}, PadMode::replicate),
            pad(x, {}), pad(x, {1, v}, PadMode::replicate), pad(x, {v, 2}, PadMode::reflect)),
      POSITIONS(pixel_shuffle, pixel_shuffle(x, v), pixel_unshuffle(x, v), pixel_shuffle(values<D>({0, 3, 3}), v),
                pixel_unshuffle(values<D>({2, 0, 0}), v)),
      SIZES(unfold, unfold(x, v, U()), unfold(x, {2, v}, U()), unfold(x, 2, U{.dilation = v}),
            unfold(x, 2, U{.padding = v}), unfold(x, 2, U{.stride = v}), unfold(x, v, U{.padding = v}),
            unfold(x, {}, U()), unfold(x, 2, U{.padding = v, .stride = v}), unfold(x, {1, 2, 3}, U())),
      SIZES(fold, fold(x, {v, v}, 1), fold(x, {3, 2}, v), fold(x, {2, 2}, 2, {.padding = v, .stride = v}),
            fold(x, {v, 2}, {v, 1}), fold(x, {3, 3}, 2, {.dilation = v}), fold(x, {}, 1)),
      SIZES(affine_grid, affine_grid(values<D>({1, 2, 3}), {1, 1, v, 2}),
            affine_grid(values<D>({1, 2, 3}), {1, v, v, v}), affine_grid(values<D>({1, 2, 3}), {v, 1, 2, 2})),
      SIZES(interpolate, interpolate(x, I{.size = v}), interpolate(x, I{.size = {v, 2}}),
            interpolate(x, I{.scale_factor = double(v)}), interpolate(x, I{.scale_factor = {double(v), 1.0}}),
            interpolate(x, I{.scale_factor = double(NAN)}), interpolate(x, I{.scale_factor = double(INFINITY)}),
            interpolate(x, I{.size = v, .mode = InterpolateMode::area}),
            interpolate(x, I{.size = v, .mode = InterpolateMode::bilinear}),
            interpolate(x, I{.scale_factor = double(v), .mode = InterpolateMode::bicubic}), interpolate(x, I{}),
            interpolate(x, I{.size = v, .mode = InterpolateMode::linear, .align_corners = true})),
      SIZES(conv1d convolution, conv1d(x, values<D>({2, 4, 3}), {}, C{.stride = v}),
            conv1d(x, values<D>({2, 4, 3}), {}, C{.padding = detail::Dims(v)}),
            conv1d(x, values<D>({2, 4, 3}), {}, C{.dilation = v}), conv1d(x, values<D>({2, 4, 3}), {}, C{.groups = v}),
            conv1d(x, values<D>({2, 4, 3}), {}, C{.stride = v, .padding = detail::Dims(v)}),
            conv1d(x, values<D>({2, 4, 3}), {}, C{.padding = "same", .dilation = v}),
            conv1d(x, values<D>({2, 4, 3}), {}, C{.padding = detail::Dims(v), .dilation = v}),
            conv1d(x, values<D>({0, 4, 3}), {}, C{.groups = v})),
      SIZES(conv2d convolution, conv2d(x, values<D>({2, 4, 3, 2}), {}, C{.stride = {v, 1}}),
            conv2d(x, values<D>({2, 4, 3, 2}), {}, C{.padding = detail::Dims{1, v}}),
            conv2d(x, values<D>({2, 4, 3, 2}), {}, C{.dilation = v}),
            conv2d(x, values<D>({4, 1, 3, 2}), {}, C{.groups = v}),
            conv2d(x, values<D>({2, 4, 1, 1}), {}, C{.stride = v, .padding = detail::Dims(v)}),
            conv2d(x, values<D>({2, 4, 2, 2}), {}, C{.padding = detail::Dims(v), .dilation = v}),
            conv2d_relu(x.detach(), values<D>({2, 4, 3, 2}), {}, C{.stride = v, .padding = detail::Dims(v)}),
            conv2d(x, values<D>({2, 4, 2, 2}), {}, C{.stride = {}}),
            conv2d(x, values<D>({2, 4, 2, 2}), {}, C{.padding = detail::Dims{1, 2, 3}}),
            conv2d(x, values<D>({2, 4, 0, 2}), {}, C{.padding = detail::Dims(v)})),
      SIZES(conv2d convolution, conv2d(x.to(f32), ones<D>({2, 4, 3, 2}), {}, C{.stride = {v, 1}}),
            conv2d(x.to(f32), ones<D>({2, 4, 3, 2}), {}, C{.dilation = v}),
            conv2d(x.to(f32), ones<D>({2, 4, 1, 1}), {}, C{.stride = v, .padding = detail::Dims(v)}),
            conv2d(x.to(f32), ones<D>({2, 4, 2, 2}), {}, C{.padding = detail::Dims(v), .dilation = v})),
      SIZES(conv_transpose2d convolution, conv_transpose2d(x, values<D>({4, 2, 3, 2}), {}, Ct{.stride = v}),
            conv_transpose2d(x, values<D>({4, 2, 3, 2}), {}, Ct{.padding = v}),
            conv_transpose2d(x, values<D>({4, 2, 3, 2}), {}, Ct{.dilation = v}),
            conv_transpose2d(x, values<D>({4, 2, 3, 2}), {}, Ct{.groups = v}),
            conv_transpose2d(x, values<D>({4, 2, 3, 2}), {}, Ct{.output_padding = v}),
            conv_transpose2d(x, values<D>({4, 2, 3, 2}), {}, Ct{.stride = v, .output_padding = v - (v > INT64_MIN)}),
            conv_transpose2d(x, values<D>({4, 2, 3, 2}), {}, Ct{.stride = v, .padding = v}),
            conv_transpose2d(x, values<D>({4, 2, 1, 1}), {}, Ct{.padding = {}})),
      SIZES(max_pool2d, max_pool2d(x, v), max_pool2d(x, {2, v}), max_pool2d(x, 2, P{.stride = v}),
            max_pool2d(x, 2, P{.padding = v}), max_pool2d(x, 2, P{.dilation = v}),
            max_pool2d(x, v, P{.stride = v, .padding = v / 2, .ceil_mode = true}),
            max_pool2d(x, v, P{.padding = v / 2}), max_pool2d(x, 2, P{.stride = v, .ceil_mode = true}),
            max_pool2d_with_indices(x, v, P{.stride = 1, .padding = v / 2}), max_pool2d(x, {}),
            max_pool2d(x, 2, P{.padding = v / 2, .dilation = v}),
            max_pool2d(x, v, P{.stride = v < INT64_MAX ? v + 1 : v, .ceil_mode = true})),
      SIZES(max_unpool2d reshape zeros, max_unpool2d(x, x.to(i64), v), max_unpool2d(x, x.to(i64), {2, v}),
            max_unpool2d(x, x.to(i64), 2, {.stride = v}), max_unpool2d(x, x.to(i64), 2, {.padding = v}),
            max_unpool2d(x, x.to(i64), 2, {.output_size = {v, v}}),
            max_unpool2d(x, x.to(i64), v, {.stride = v, .padding = v / 2}), max_unpool2d(x, x.to(i64), {})),
      SIZES(avg_pool2d, avg_pool2d(x, v), avg_pool2d(x, 2, A{.stride = v}), avg_pool2d(x, 2, A{.padding = v}),
            avg_pool2d(x, v, A{.stride = 1, .padding = v / 2}), avg_pool2d(x, 2, A{.divisor_override = v}),
            avg_pool2d(x, v, A{.stride = v, .padding = v / 2, .ceil_mode = true, .count_include_pad = false}),
            avg_pool2d(x, {v, 1}, A{.stride = v < INT64_MAX ? v + 1 : v, .ceil_mode = true}),
            avg_pool1d(x, v, A{.stride = v}), lp_pool2d(x, 2, v), lp_pool1d(x, 2, 2, {.stride = v}), avg_pool3d(x, v),
            max_pool1d(x, v), max_pool3d(x, {1, v, 1})),
      SIZES(adaptive_avg_pool2d, adaptive_avg_pool2d(x, v), adaptive_avg_pool2d(x, {1, v}), adaptive_max_pool2d(x, v),
            adaptive_avg_pool1d(x, v), adaptive_max_pool1d_with_indices(x, v), adaptive_avg_pool3d(x, {v, 1, 1}),
            adaptive_max_pool2d(x, {}), adaptive_avg_pool2d(x, {1, 2, 3})),
  };
}

template <class D>
void check_all(const std::vector<HostileCalls<D>>& rows) {
  for (const HostileCalls<D>& row : rows) DYNAMIC_SECTION(row.name) check_hostile(row);
}

}  // namespace

TEMPLATE_TEST_CASE("hostile sizes of new tensors", "[ops][hostile]", TERN_TEST_DEVICES) {
  check_all(creation<TestType>());
}
TEMPLATE_TEST_CASE("hostile arguments of views and changes of shape", "[ops][hostile]", TERN_TEST_DEVICES) {
  check_all(views<TestType>());
}
TEMPLATE_TEST_CASE("hostile dimensions of reductions", "[ops][hostile]", TERN_TEST_DEVICES) {
  check_all(reductions<TestType>());
}
TEMPLATE_TEST_CASE("hostile indices", "[ops][hostile]", TERN_TEST_DEVICES) { check_all(by_index<TestType>()); }
TEMPLATE_TEST_CASE("hostile windows and sizes of images", "[ops][hostile]", TERN_TEST_DEVICES) {
  check_all(images<TestType>());
}

TEMPLATE_TEST_CASE("large arguments that mean something", "[ops][hostile]", TERN_TEST_DEVICES) {
  using D = TestType;
  using Values = std::vector<double>;
  const Index huge = INT64_MAX, far = INT64_MIN;
  const auto x = tensor_of<D>({0, 1, 2, 3, 4, 5}, {2, 3});
  CHECK(values_of(x.slice(1, {1, Slice::open, huge})) == Values{1, 4});
  CHECK(values_of(x.slice(1, {far, huge, 2})) == Values{0, 2, 3, 5});
  CHECK(values_of(x.tril(huge)) == values_of(x));
  CHECK(values_of(x.tril(far)) == Values(6, 0));
  CHECK(values_of(x.triu(far)) == values_of(x));
  CHECK(values_of(x.triu(huge)) == Values(6, 0));
  CHECK(x.diagonal(huge).shape() == detail::Shape{0});
  CHECK(x.diagonal(far).shape() == detail::Shape{0});
  CHECK(values_of(x.roll(far, 1)) == Values{2, 0, 1, 5, 3, 4});  // -2^63 is 1 more than a multiple of 3
  CHECK(values_of(rot90(x, far)) == values_of(x));
  CHECK(values_of(rot90(x, huge)) == values_of(rot90(x, 3)));
  CHECK(split(x, huge, 1).size() == 1);
  CHECK(chunk(x, huge, 1).size() == 3);
  CHECK(values_of(unfold(x, 1, 2, huge)) == Values{0, 1, 3, 4});
  CHECK(values_of(repeat_interleave(x, 0)).empty());
  CHECK(values_of(arange<D>(huge - 2, huge)) == Values{double(huge - 2), double(huge - 1)});
  CHECK(values_of(arange<D>(huge, far, far)) == Values{double(huge), -1});
  CHECK(values_of(arange<D>(far, huge, huge)) == Values{double(far), -1, double(huge - 1)});
  CHECK(values_of(randint<D>(huge - 1, huge, {2})) == Values(2, double(huge - 1)));
  const auto line = x.view({1, 2, 3}), weight = ones<D, double>({1, 2, 2});
  CHECK(values_of(conv1d(line, weight, {}, {.stride = 1 << 20})) == Values{8});
  CHECK(values_of(max_pool1d(line, 2, {.stride = detail::max_elements})) == Values{1, 4});
  CHECK(values_of(max_pool1d(line, detail::max_elements, {.stride = detail::max_elements, .ceil_mode = true})) ==
        Values{2, 5});
  CHECK(values_of(polygamma(1 << 23, x.narrow(1, 1, 1)))[0] == -INFINITY);
  CHECK(x.shape()[-1] == 3);
}

}  // namespace ops_hostile_arguments
