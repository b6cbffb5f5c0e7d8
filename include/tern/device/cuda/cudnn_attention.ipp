// The functions of cudnn_attention.hpp that are not templates.
#pragma once
#include <limits>

#include "cudnn_attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

enum AttentionTensor : GraphTensor {
  attention_q = 1,
  attention_k,
  attention_v,
  attention_bias,
  attention_out,
  attention_log_sums,
  attention_seed,
  attention_offset,
  attention_g,
  attention_dq,
  attention_dk,
  attention_dv,
  attention_dbias,
  attention_means,    // of each query's g out, as the backward pass stores them
  attention_float_dq  // dq before it is rounded
};

/// The parts that both passes have.
struct AttentionGraph {
  const AttentionForm& f;
  CudnnGraph graph;
  const GraphSizes scores_sizes{f.batch, f.heads, f.queries, f.keys}, row_sizes{f.batch, f.heads, f.queries, 1};

  static GraphSizes strides_of(const std::int64_t (&s)[3]) { return {s[0], s[1], s[2], 1}; }
  static GraphSizes transposed_strides_of(const std::int64_t (&s)[3]) { return {s[0], s[1], 1, s[2]}; }

  GraphTensor queries(GraphTensor id, const std::int64_t (&strides)[3], std::int64_t size) {
    return graph.tensor(id, f.type, {f.batch, f.heads, f.queries, size}, strides_of(strides));
  }
  GraphTensor keys(GraphTensor id, const std::int64_t (&strides)[3], std::int64_t size) {
    return graph.tensor(id, f.type, {f.batch, f.shared_heads, f.keys, size}, strides_of(strides));
  }
  GraphTensor transposed_keys(GraphTensor id, const std::int64_t (&strides)[3], std::int64_t size) {
    return graph.tensor(id, f.type, {f.batch, f.shared_heads, size, f.keys}, transposed_strides_of(strides));
  }

  GraphTensor scores(CudnnType type = cudnn_float) { return graph.between(type, scores_sizes); }
  GraphTensor rows() { return graph.between(cudnn_float, row_sizes); }

  GraphTensor apply(CudnnPointwise mode, GraphTensor x, GraphTensor b, GraphTensor y) {
    graph.pointwise({.mode = mode, .x = x, .b = b, .y = y});
    return y;
  }
  GraphTensor times(GraphTensor x, double number, GraphTensor y) {
    return apply(cudnn_multiply, x, graph.number(float(number), 4), y);
  }

  /// Q Kᵀ scale + bias.
  GraphTensor biased_scores(GraphTensor q, GraphTensor k) {
    const GraphTensor products = scores();
    graph.matmul(q, k, products);
    const GraphTensor scaled = times(products, f.scale, scores());
    if (f.has_bias == AttentionBias::none) return scaled;
    const GraphTensor bias = graph.tensor(attention_bias, f.type, bias_sizes(), strides_of(f.bias));
    return apply(cudnn_add, scaled, bias, scores());
  }
  GraphSizes bias_sizes() const { return {f.bias_sizes[0], f.bias_sizes[1], f.bias_sizes[2], f.keys}; }

  /// -infinity in place of what a causal query does not see.
  GraphTensor masked(GraphTensor x) {
    if (!f.causal) return x;
    const GraphTensor row = scores(cudnn_int32), column = scores(cudnn_int32), seen = scores(cudnn_boolean),
                      y = scores();
    graph.pointwise({.mode = cudnn_generate_index, .x = x, .y = row, .axis = 2});
    graph.pointwise({.mode = cudnn_generate_index, .x = x, .y = column, .axis = 3});
    graph.pointwise({.mode = cudnn_greater_or_equal, .x = row, .b = column, .y = seen, .precision = cudnn_boolean});
    const GraphTensor lowest = graph.number(-std::numeric_limits<float>::infinity(), 4);
    graph.pointwise({.mode = cudnn_select, .x = x, .b = lowest, .t = seen, .y = y});
    return y;
  }

  /// 1 for a weight that dropout keeps, else 0.
  GraphTensor dropout_mask() {
    const auto word = [&](GraphTensor id) { return graph.tensor(id, cudnn_int64, {1, 1, 1, 1}, {1, 1, 1, 1}); };
    const GraphTensor y = scores(), seed = word(attention_seed), offset = word(attention_offset);
    graph.bernoulli(1 - f.dropout, seed, offset, y);
    return y;
  }

  /// The sum, over the heads that share keys, of what each of them has.
  void gather_heads(GraphTensor weights, GraphTensor by, std::int64_t size, GraphTensor y) {
    if (f.heads == f.shared_heads) return graph.matmul(weights, by, y);
    const GraphTensor each = graph.between(f.type, {f.batch, f.heads, f.keys, size});
    graph.matmul(weights, by, each);
    graph.reduce(cudnn_sum, each, y);
  }
  GraphTensor transposed(GraphTensor x) {
    const std::int64_t m = f.queries, n = f.keys;
    const GraphTensor y = graph.between(f.type, {f.batch, f.heads, n, m}, {f.heads * m * n, m * n, 1, n});
    graph.reshape(x, y);
    return y;
  }

  void forward();
  void backward();
};

TERN_INLINE void AttentionGraph::forward() {
  const GraphTensor q = queries(attention_q, f.q, f.size), k = transposed_keys(attention_k, f.k, f.size),
                    v = keys(attention_v, f.v, f.width), out = queries(attention_out, f.out, f.width);
  const GraphTensor seen = masked(biased_scores(q, k)), largest = rows(), total = rows();
  graph.reduce(cudnn_maximum, seen, largest);
  const GraphTensor exponentials = apply(cudnn_exp, apply(cudnn_subtract, seen, largest, scores()), 0, scores());
  graph.reduce(cudnn_sum, exponentials, total);
  // cuDNN knows the pattern by them, whether they are kept or not.
  const GraphTensor logs = apply(cudnn_log, total, 0, rows());
  apply(cudnn_add, largest, logs,
        f.statistics ? graph.tensor(attention_log_sums, cudnn_float, row_sizes, row_major(row_sizes)) : rows());
  GraphTensor weights;
  if (f.dropout > 0) {
    weights = apply(cudnn_divide, exponentials, total, scores());
    const GraphTensor dropped = apply(cudnn_multiply, weights, dropout_mask(), scores());
    weights = times(dropped, 1 / (1 - f.dropout), scores(f.type));
  } else {
    weights = apply(cudnn_divide, exponentials, total, scores(f.type));
  }
  graph.matmul(weights, v, out);
}

/// With weights P and each query's mean m = Σ g out: dV = Pᵀ G, dS = P (G Vᵀ - m), dQ = dS K scale and dK = dSᵀ Q
/// scale.
TERN_INLINE void AttentionGraph::backward() {
  const GraphTensor q = queries(attention_q, f.q, f.size), k = transposed_keys(attention_k, f.k, f.size),
                    v = transposed_keys(attention_v, f.v, f.width), out = queries(attention_out, f.out, f.width),
                    g = queries(attention_g, f.out, f.width);
  const GraphTensor log_sums = graph.tensor(attention_log_sums, cudnn_float, row_sizes, row_major(row_sizes));
  const GraphTensor dq = queries(attention_dq, f.dq, f.size), dk = keys(attention_dk, f.dk, f.size),
                    dv = keys(attention_dv, f.dv, f.width);
  const double factor = 1 / (1 - f.dropout);
  const GraphTensor mask = f.dropout > 0 ? dropout_mask() : 0;

  const GraphSizes product_sizes{f.batch, f.heads, f.queries, f.width};
  const GraphTensor products = apply(cudnn_multiply, g, out, graph.between(cudnn_float, product_sizes)), sums = rows();
  graph.reduce(cudnn_sum, products, sums);
  const GraphTensor means =
      times(sums, 1 - f.dropout, graph.tensor(attention_means, cudnn_float, row_sizes, row_major(row_sizes)));

  const GraphTensor shifted = apply(cudnn_subtract, biased_scores(q, k), log_sums, scores());
  const GraphTensor weights = apply(cudnn_exp, masked(shifted), 0, scores());
  GraphTensor used = weights;
  if (mask) used = times(apply(cudnn_multiply, weights, mask, scores()), factor, scores());
  gather_heads(transposed(used), g, f.width, dv);

  GraphTensor dscores = scores();
  graph.matmul(g, v, dscores);
  if (mask) dscores = apply(cudnn_multiply, dscores, mask, scores());
  dscores = apply(cudnn_multiply, apply(cudnn_subtract, dscores, means, scores()), weights, scores());
  if (mask) dscores = times(dscores, factor, scores());
  if (f.has_bias == AttentionBias::with_gradient)
    graph.reduce(cudnn_sum, dscores, graph.tensor(attention_dbias, f.type, bias_sizes(), row_major(bias_sizes())));
  const GraphTensor ds = times(dscores, f.scale, scores());
  gather_heads(transposed(ds), q, f.size, dk);

  const GraphTensor plain_k = graph.between(f.type, {f.batch, f.shared_heads, f.keys, f.size}, strides_of(f.k));
  graph.reshape(k, plain_k);
  if (!f.adds_up_dq()) return graph.matmul(ds, plain_k, dq);
  const GraphSizes sizes{f.batch, f.heads, f.queries, f.size};
  const GraphTensor rounded_later = graph.tensor(attention_float_dq, cudnn_float, sizes, row_major(sizes));
  graph.matmul(ds, plain_k, rounded_later);
  apply(cudnn_copy, rounded_later, 0, dq);
}

TERN_INLINE CudnnGraph AttentionForm::graph() const {
  AttentionGraph parts{*this, {}};
  backward ? parts.backward() : parts.forward();
  return std::move(parts.graph);
}

TERN_INLINE bool has_cudnn_attention(int ordinal, const AttentionForm& form) {
  return with_graph_plan(ordinal, form, [](Cudnn, const GraphPlan& plan) { return !plan.is_refused(); });
}

TERN_INLINE bool run_cudnn_attention(int ordinal, const AttentionForm& form, const AttentionMemory& m) {
  return with_graph_plan(ordinal, form, [&](Cudnn handle, GraphPlan& plan) {
    if (plan.is_refused()) return false;
    const std::size_t rows = std::size_t(form.batch * form.heads * form.queries) * sizeof(float);
    const Scratch means(ordinal, form.backward ? rows : 0),
        float_dq(ordinal, form.adds_up_dq() ? rows * std::size_t(form.size) : 0);
    const Span span(tern::detail::Work::kernel, form.backward ? "attention gradient" : "attention", ordinal,
                    bind(ordinal).compute);
    return plan.run(handle, ordinal,
                    {{attention_q, m.q},
                     {attention_k, m.k},
                     {attention_v, m.v},
                     {attention_bias, m.bias},
                     {attention_out, m.out},
                     {attention_log_sums, m.log_sums},
                     {attention_seed, m.seed},
                     {attention_offset, m.offset},
                     {attention_g, m.g},
                     {attention_dq, m.dq},
                     {attention_dk, m.dk},
                     {attention_dv, m.dv},
                     {attention_dbias, m.dbias},
                     {attention_means, means.data()},
                     {attention_float_dq, float_dq.data()}});
  });
}

}}}  // namespace tern::cuda::detail
