// The emulated cudnn's graphs: attention against loops in double.
#include <cmath>

#include "cudnn_graph.hpp"
#include "small_floats.hpp"

using namespace emulator_test;

namespace {

constexpr std::int64_t batch = 2, heads = 4, groups = 2, queries = 5, keys = 7, head = 8;
const Longs q_dims{batch, heads, queries, head}, k_dims{batch, groups, keys, head}, s_dims{batch, heads, queries, keys},
    stat_dims{batch, heads, queries, 1};

std::vector<std::uint16_t> bfloat16s(const std::vector<double>& values) {
  std::vector<std::uint16_t> out;
  for (const double v : values) out.push_back(emulator::float_to_bfloat16(static_cast<float>(v)));
  return out;
}
std::vector<double> numbers(const std::vector<std::uint16_t>& bits) {
  std::vector<double> out;
  for (const std::uint16_t b : bits) out.push_back(emulator::bfloat16_to_float(b));
  return out;
}

std::size_t elements(const Longs& dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return static_cast<std::size_t>(n);
}

Longs transposed(Longs sizes) {
  std::swap(sizes[2], sizes[3]);
  return sizes;
}

// softmax(mask(scale q k'))  and its log of sums, in a graph; causal.
struct Scores {
  const GraphTensor *p, *statistics;
};
Scores scores(Graph& g, const GraphTensor& q, const GraphTensor& k) {
  const GraphTensor &s = g.between(s_dims), &scaled = g.between(s_dims), &row = g.between(s_dims, CUDNN_DATA_INT32),
                    &column = g.between(s_dims, CUDNN_DATA_INT32), &seen = g.between(s_dims, CUDNN_DATA_BOOLEAN),
                    &masked = g.between(s_dims), &most = g.between(stat_dims), &off = g.between(s_dims),
                    &e = g.between(s_dims), &sum = g.between(stat_dims), &log = g.between(stat_dims),
                    &p = g.between(s_dims);
  const GraphTensor& statistics = g.tensor(CUDNN_DATA_FLOAT, stat_dims, row_major(stat_dims));
  g.matmul(q, k, s);
  g.pointwise(CUDNN_POINTWISE_MUL, s, &g.number(0.5f), scaled);
  g.pointwise(CUDNN_POINTWISE_GEN_INDEX, scaled, nullptr, row, nullptr, 2);
  g.pointwise(CUDNN_POINTWISE_GEN_INDEX, scaled, nullptr, column, nullptr, 3);
  g.pointwise(CUDNN_POINTWISE_CMP_GE, row, &column, seen);
  g.pointwise(CUDNN_POINTWISE_BINARY_SELECT, scaled, &g.number(-1e9f), masked, &seen);
  g.reduce(CUDNN_REDUCE_TENSOR_MAX, masked, most);
  g.pointwise(CUDNN_POINTWISE_SUB, masked, &most, off);
  g.pointwise(CUDNN_POINTWISE_EXP, off, nullptr, e);
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, e, sum);
  g.pointwise(CUDNN_POINTWISE_LOG, sum, nullptr, log);
  g.pointwise(CUDNN_POINTWISE_ADD, most, &log, statistics);
  g.pointwise(CUDNN_POINTWISE_DIV, e, &sum, p);
  return {&p, &statistics};
}

}  // namespace

CHILD_CASE("cuda emulator: attention with grouped heads and a causal mask as a graph of cudnn") {
  start();
  Library dnn;
  Stream stream;
  EXPECT(cudnnSetStream(dnn, stream) == 0);
  const auto bq = bfloat16s(wave(elements(q_dims), 0.7)), bk = bfloat16s(wave(elements(k_dims), 0.3)),
             bv = bfloat16s(wave(elements(k_dims), 0.9));
  const Array<std::uint16_t> q(bq), k(bk), v(bv), o(bq.size());
  const Array<float> statistics(elements(stat_dims));
  Graph g(dnn);
  const GraphTensor &tq = g.tensor(CUDNN_DATA_BFLOAT16, q_dims, row_major(q_dims)),
                    &tk = g.tensor(CUDNN_DATA_BFLOAT16, transposed(k_dims), transposed(row_major(k_dims))),
                    &tv = g.tensor(CUDNN_DATA_BFLOAT16, k_dims, row_major(k_dims)),
                    &to = g.tensor(CUDNN_DATA_BFLOAT16, q_dims, row_major(q_dims)),
                    &p16 = g.between(s_dims, CUDNN_DATA_BFLOAT16);
  const Scores s = scores(g, tq, tk);
  g.pointwise(CUDNN_POINTWISE_IDENTITY, *s.p, nullptr, p16);
  g.matmul(p16, tv, to);
  g.run({{&tq, q}, {&tk, k}, {&tv, v}, {&to, o}, {s.statistics, statistics}});

  const auto vq = numbers(bq), vk = numbers(bk), vv = numbers(bv), got = numbers(o.values());
  const std::vector<float> sums = statistics.values();
  double worst = 0, worst_sum = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < queries; ++i) {
        const std::int64_t row = (b * heads + h) * queries + i, first_key = (b * groups + h / (heads / groups)) * keys;
        double weights[keys], sum = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
          double score = 0;
          for (std::int64_t d = 0; d < head; ++d)
            score +=
                vq[static_cast<std::size_t>(row * head + d)] * vk[static_cast<std::size_t>((first_key + j) * head + d)];
          weights[j] = j <= i ? std::exp(0.5 * score) : 0;
          sum += weights[j];
        }
        worst_sum = std::max(worst_sum, std::fabs(std::log(sum) - sums[static_cast<std::size_t>(row)]));
        for (std::int64_t d = 0; d < head; ++d) {
          double expected = 0;
          for (std::int64_t j = 0; j < keys; ++j)
            expected += weights[j] / sum * vv[static_cast<std::size_t>((first_key + j) * head + d)];
          worst = std::max(worst, std::fabs(expected - got[static_cast<std::size_t>(row * head + d)]));
        }
      }
  EXPECT(worst < 1e-2);  // the weights and the result have 8 bits
  EXPECT(worst > 1e-6);  // and are rounded to them
  EXPECT(worst_sum < 1e-5);
}
