// The emulated cudnn's graphs: attention and its gradient against loops in double.
#include <cmath>

#include "cudnn_graph.hpp"
#include "small_floats.hpp"

using namespace emulator_test;

namespace {

constexpr std::int64_t batch = 2, heads = 4, groups = 2, queries = 5, keys = 7, head = 8;
constexpr double scale = 0.5, dropped = 0.25;
const Longs q_dims{batch, heads, queries, head}, k_dims{batch, groups, keys, head}, s_dims{batch, heads, queries, keys},
    row_dims{batch, heads, queries, 1};

using Numbers = std::vector<double>;

std::size_t elements(const Longs& dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return static_cast<std::size_t>(n);
}
Longs transposed(Longs sizes) {
  std::swap(sizes[2], sizes[3]);
  return sizes;
}

// 16-bit numbers in device memory, and as they are.
struct Memory : Array<std::uint16_t> {
  Memory(const Longs& dims, double step) : Memory(wave(elements(dims), step)) {}
  explicit Memory(const Longs& dims) : Array(elements(dims)) {}
  Numbers numbers() const {
    Numbers out;
    for (const std::uint16_t bits : values()) out.push_back(emulator::bfloat16_to_float(bits));
    return out;
  }

 private:
  explicit Memory(const Numbers& values) : Array(bits_of(values)) {}
  static std::vector<std::uint16_t> bits_of(const Numbers& values) {
    std::vector<std::uint16_t> out;
    for (const double v : values) out.push_back(emulator::float_to_bfloat16(static_cast<float>(v)));
    return out;
  }
};

double off(const Numbers& got, const Numbers& expected) {
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    most = std::isnan(got[i]) ? INFINITY : std::max(most, std::fabs(got[i] - expected[i]));
  return most;
}

// What loops give for it; kept: by what a weight is multiplied.
struct Loops {
  Numbers out = Numbers(elements(q_dims)), sums, dq = Numbers(elements(q_dims)), dk = Numbers(elements(k_dims)),
          dv = Numbers(elements(k_dims));
  Loops(const Numbers& q, const Numbers& k, const Numbers& v, const Numbers& g, const Numbers& kept) {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < queries; ++i)
          add((b * heads + h) * queries + i, (b * groups + h / (heads / groups)) * keys, i, q, k, v, g, kept);
  }

 private:
  static double dot(const Numbers& a, std::int64_t row, const Numbers& b, std::int64_t other) {
    double sum = 0;
    for (std::int64_t d = 0; d < head; ++d)
      sum += a[static_cast<std::size_t>(row * head + d)] * b[static_cast<std::size_t>(other * head + d)];
    return sum;
  }
  static void add_row(Numbers& to, std::int64_t row, double factor, const Numbers& from, std::int64_t other) {
    for (std::int64_t d = 0; d < head; ++d)
      to[static_cast<std::size_t>(row * head + d)] += factor * from[static_cast<std::size_t>(other * head + d)];
  }
  void add(std::int64_t row, std::int64_t first, std::int64_t i, const Numbers& q, const Numbers& k, const Numbers& v,
           const Numbers& g, const Numbers& kept) {
    double p[keys], slope[keys], sum = 0, mean = 0;
    for (std::int64_t j = 0; j < keys; ++j) sum += p[j] = j <= i ? std::exp(scale * dot(q, row, k, first + j)) : 0;
    sums.push_back(std::log(sum));
    for (std::int64_t j = 0; j < keys; ++j) {
      p[j] /= sum;
      const double keep = kept[static_cast<std::size_t>(row * keys + j)];
      add_row(out, row, p[j] * keep, v, first + j);
      add_row(dv, first + j, p[j] * keep, g, row);
      slope[j] = keep * dot(g, row, v, first + j);
      mean += p[j] * slope[j];
    }
    for (std::int64_t j = 0; j < keys; ++j) {
      add_row(dq, row, p[j] * (slope[j] - mean) * scale, k, first + j);
      add_row(dk, first + j, p[j] * (slope[j] - mean) * scale, q, row);
    }
  }
};

// Both passes with a causal mask, and with dropout.
struct Attention : Graph {
  explicit Attention(cudnnHandle_t handle, int type = CUDNN_DATA_BFLOAT16) : Graph(handle), type_(type) {}

  const GraphTensor& in_memory(const Longs& dims) { return tensor(type_, dims, row_major(dims)); }
  const GraphTensor& transposed_in_memory() { return tensor(type_, transposed(k_dims), transposed(row_major(k_dims))); }
  const GraphTensor& rows_in_memory() { return tensor(CUDNN_DATA_FLOAT, row_dims, row_major(row_dims)); }
  const GraphTensor& apply(int mode, const GraphTensor& x, const GraphTensor* b, const GraphTensor& y) {
    pointwise(mode, x, b, y);
    return y;
  }
  const GraphTensor& times(const GraphTensor& x, double factor, const GraphTensor& y) {
    return apply(CUDNN_POINTWISE_MUL, x, &number(static_cast<float>(factor)), y);
  }
  const GraphTensor& scores() { return between(s_dims); }
  const GraphTensor& scaled_products() {
    const GraphTensor& s = scores();
    matmul(q, k, s);
    return times(s, scale, scores());
  }
  const GraphTensor& masked(const GraphTensor& x) {
    const GraphTensor &row = between(s_dims, CUDNN_DATA_INT32), &column = between(s_dims, CUDNN_DATA_INT32),
                      &seen = between(s_dims, CUDNN_DATA_BOOLEAN), &y = scores();
    pointwise(CUDNN_POINTWISE_GEN_INDEX, x, nullptr, row, nullptr, 2);
    pointwise(CUDNN_POINTWISE_GEN_INDEX, x, nullptr, column, nullptr, 3);
    pointwise(CUDNN_POINTWISE_CMP_GE, row, &column, seen);
    pointwise(CUDNN_POINTWISE_BINARY_SELECT, x, &number(-INFINITY), y, &seen);
    return y;
  }
  const GraphTensor& kept() {
    bernoulli(1 - dropped, seed, offset, mask);
    return mask;
  }

  void forward(const GraphTensor& v, const GraphTensor& out) {
    const GraphTensor &x = masked(scaled_products()), &most = between(row_dims), &sum = between(row_dims);
    reduce(CUDNN_REDUCE_TENSOR_MAX, x, most);
    const GraphTensor& e =
        apply(CUDNN_POINTWISE_EXP, apply(CUDNN_POINTWISE_SUB, x, &most, scores()), nullptr, scores());
    reduce(CUDNN_REDUCE_TENSOR_ADD, e, sum);
    apply(CUDNN_POINTWISE_ADD, most, &apply(CUDNN_POINTWISE_LOG, sum, nullptr, between(row_dims)), sums);
    const GraphTensor& p = apply(CUDNN_POINTWISE_DIV, e, &sum, scores());
    const GraphTensor& used = apply(CUDNN_POINTWISE_MUL, p, &kept(), scores());
    matmul(times(used, 1 / (1 - dropped), between(s_dims, type_)), v, out);
  }

  const GraphTensor& turned(const GraphTensor& x) {
    const GraphTensor& y = tensor(type_, transposed(s_dims), transposed(row_major(s_dims)), GraphTensor::between);
    reshape(x, y);
    return y;
  }
  // The heads that share keys are added.
  void gather(const GraphTensor& weights, const GraphTensor& by, const GraphTensor& y) {
    const GraphTensor& each = between({batch, heads, keys, head}, type_);
    matmul(turned(weights), by, each);
    reduce(CUDNN_REDUCE_TENSOR_ADD, each, y);
  }
  void backward(const GraphTensor& v, const GraphTensor& out, const GraphTensor& g, const GraphTensor& dq,
                const GraphTensor& dk, const GraphTensor& dv) {
    const GraphTensor &products = apply(CUDNN_POINTWISE_MUL, g, &out, between(q_dims)), &mean = between(row_dims);
    reduce(CUDNN_REDUCE_TENSOR_ADD, products, mean);
    const GraphTensor& shifted = apply(CUDNN_POINTWISE_SUB, scaled_products(), &sums, scores());
    const GraphTensor &p = apply(CUDNN_POINTWISE_EXP, masked(shifted), nullptr, scores()), &keep = kept();
    const auto thinned = [&](const GraphTensor& x) -> const GraphTensor& {
      return times(apply(CUDNN_POINTWISE_MUL, x, &keep, scores()), 1 / (1 - dropped), scores());
    };
    gather(thinned(p), g, dv);
    const GraphTensor& slope = scores();
    matmul(g, v, slope);
    const GraphTensor& centred = apply(CUDNN_POINTWISE_SUB, thinned(slope), &mean, scores());
    const GraphTensor& ds = times(apply(CUDNN_POINTWISE_MUL, centred, &p, scores()), scale, scores());
    gather(ds, q, dk);
    const GraphTensor& plain = between(k_dims, type_);
    reshape(k, plain);
    matmul(ds, plain, dq);
  }

  const int type_;
  const GraphTensor &q = in_memory(q_dims), &k = transposed_in_memory(), &sums = rows_in_memory(),
                    &seed = tensor(CUDNN_DATA_INT64, {1, 1, 1, 1}, {1, 1, 1, 1}),
                    &offset = tensor(CUDNN_DATA_INT64, {1, 1, 1, 1}, {1, 1, 1, 1}),
                    &mask = tensor(CUDNN_DATA_FLOAT, s_dims, row_major(s_dims));
};

// Products alone, of heads of this size, by an operand of this type.
int choose_heads(cudnnHandle_t handle, std::int64_t size, int type = CUDNN_DATA_HALF, int products = 2,
                 bool dense = true) {
  Graph g(handle);
  const Longs a{1, 2, 8, size}, b{1, 2, size, 8}, c{1, 2, 8, 8};
  const GraphTensor &q = g.tensor(type, a, row_major(a)),
                    &k = g.tensor(type, b, dense ? transposed(row_major(a)) : row_major(b)),
                    &v = g.tensor(type, a, row_major(a)), &p = g.between(c, CUDNN_DATA_HALF);
  for (int i = 1; i < products; ++i) g.matmul(q, k, i == 1 ? p : g.between(c));
  g.matmul(p, v, g.tensor(type, a, row_major(a)));
  std::vector<Descriptor> configs;
  return g.choose(CUDNN_HEUR_MODE_A, configs);
}

}  // namespace

CHILD_CASE("cuda emulator: attention and its gradient as graphs of cudnn, with grouped heads, a mask and dropout") {
  start();
  Library dnn;
  Stream stream;
  EXPECT(cudnnSetStream(dnn, stream) == 0);
  const Memory q(q_dims, 0.7), k(k_dims, 0.3), v(k_dims, 0.9), g(q_dims, 0.5), out(q_dims), dq(q_dims), dk(k_dims),
      dv(k_dims);
  const Array<float> sums(elements(row_dims)), mask(elements(s_dims)), mask_again(elements(s_dims));
  const Array<std::int64_t> seed(std::vector<std::int64_t>{11}), offset(std::vector<std::int64_t>{3});

  Attention forward(dnn);
  const GraphTensor &tv = forward.in_memory(k_dims), &to = forward.in_memory(q_dims);
  forward.forward(tv, to);
  forward.run({{&forward.q, q},
               {&forward.k, k},
               {&tv, v},
               {&to, out},
               {&forward.sums, sums},
               {&forward.seed, seed},
               {&forward.offset, offset},
               {&forward.mask, mask}});

  Attention backward(dnn);
  const GraphTensor &bv = backward.transposed_in_memory(), &bo = backward.in_memory(q_dims),
                    &bg = backward.in_memory(q_dims), &bdq = backward.in_memory(q_dims),
                    &bdk = backward.in_memory(k_dims), &bdv = backward.in_memory(k_dims);
  backward.backward(bv, bo, bg, bdq, bdk, bdv);
  backward.run({{&backward.q, q},
                {&backward.k, k},
                {&bv, v},
                {&bo, out},
                {&bg, g},
                {&backward.sums, sums},
                {&backward.seed, seed},
                {&backward.offset, offset},
                {&backward.mask, mask_again},
                {&bdq, dq},
                {&bdk, dk},
                {&bdv, dv}});

  const std::vector<float> kept = mask.values(), logs = sums.values();
  EXPECT(kept == mask_again.values());
  Numbers factors;
  double share = 0;
  for (const float keep : kept)
    factors.push_back(keep / (1 - dropped)), share += keep / static_cast<double>(kept.size());
  EXPECT(share > 0.65 && share < 0.85);
  const Loops expected(q.numbers(), k.numbers(), v.numbers(), g.numbers(), factors);
  // Weights and results have 8 bits.
  EXPECT(off(out.numbers(), expected.out) < 1e-2 && off(out.numbers(), expected.out) > 1e-5);
  EXPECT(off({logs.begin(), logs.end()}, expected.sums) < 1e-5);
  EXPECT(off(dq.numbers(), expected.dq) < 1e-2);
  EXPECT(off(dk.numbers(), expected.dk) < 2e-2);
  EXPECT(off(dv.numbers(), expected.dv) < 2e-2);

  // Another seed, and another offset, drop other weights.
  const Array<std::int64_t> other(std::vector<std::int64_t>{12});
  for (const auto& [s, o] : {std::pair<CUdeviceptr, CUdeviceptr>{other, offset}, {seed, other}}) {
    forward.run({{&forward.q, q},
                 {&forward.k, k},
                 {&tv, v},
                 {&to, out},
                 {&forward.sums, sums},
                 {&forward.seed, s},
                 {&forward.offset, o},
                 {&forward.mask, mask}});
    EXPECT(mask.values() != kept);
  }
}

CHILD_CASE("cuda emulator: attention that cudnn does not compute, and how long it takes") {
  tern_emulator_set("call_ns=100,kernel_ns=1000,memory_rate=1000,float16=1");
  start();
  Library dnn;
  EXPECT(choose_heads(dnn, 256) == 0 && choose_heads(dnn, 40) == 0);
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "head of size 264", choose_heads(dnn, 264));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "head of size 12", choose_heads(dnn, 12));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "not type 0", choose_heads(dnn, 8, CUDNN_DATA_FLOAT));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "beside each other",
                 choose_heads(dnn, 16, CUDNN_DATA_HALF, 2, false));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "together", choose_heads(dnn, 8, CUDNN_DATA_HALF, 3));
  EXPECT(choose_heads(dnn, 256, CUDNN_DATA_HALF, 5) == 0);  // a gradient
  tern_emulator_set("capability=80");
  EXPECT(choose_heads(dnn, 256) == 0 && choose_heads(dnn, 128, CUDNN_DATA_HALF, 5) == 0);
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "at most 128", choose_heads(dnn, 136, CUDNN_DATA_HALF, 5));
  tern_emulator_set("capability=75");
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH, "8.0", choose_heads(dnn, 8));
  tern_emulator_set("capability=90");
  {  // products in three dimensions are no attention
    Graph g(dnn);
    const Longs dims{2, 8, 8};
    const GraphTensor& a = g.tensor(CUDNN_DATA_HALF, dims, row_major(dims));
    const GraphTensor& b = g.between(dims, CUDNN_DATA_HALF);
    g.matmul(a, a, b);
    g.matmul(b, a, g.tensor(CUDNN_DATA_HALF, dims, row_major(dims)));
    std::vector<Descriptor> configs;
    EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "it has 4 dimensions", g.choose(CUDNN_HEUR_MODE_A, configs));
  }
  // One product: 2 * 2 * 16 * 24 * 8 operations.
  Graph g(dnn);
  const GraphTensor &a = g.tensor(CUDNN_DATA_HALF, {2, 16, 8}, {128, 8, 1}),
                    &b = g.tensor(CUDNN_DATA_HALF, {2, 8, 24}, {192, 24, 1}),
                    &c = g.tensor(CUDNN_DATA_HALF, {2, 16, 24}, {384, 24, 1});
  g.matmul(a, b, c);
  const Array<std::uint16_t> ma(256), mb(384), mc(768);
  const std::vector<Descriptor> configs = g.chosen();
  const Descriptor plan = g.plan(configs[0]), pack = g.pack({{&a, ma}, {&b, mb}, {&c, mc}}, nullptr);
  const std::uint64_t before = tern_emulator_now();
  EXPECT(cudnnBackendExecute(dnn, plan, pack) == 0 && cuCtxSynchronize() == 0);
  EXPECT(tern_emulator_now() - before >= 1000 + 12288 && tern_emulator_now() - before < 2000 + 12288);
}
