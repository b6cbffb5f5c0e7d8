// Attention by blocks against the naive device's loops, around the devices' tiles and blocks.
#include "tern/backend/attention.hpp"
#include "support/tensors.hpp"

namespace backend_attention {
using namespace tern;
using namespace tern_test;

namespace {

using Values = std::vector<double>;

struct Sizes {
  Index batch, queries, keys, size, width;
  double scale;
  bool causal;
};

Values numbers(Index n, int seed) {
  Values values;
  for (Index i = 0; i < n; ++i) values.push_back(double((i * 37 + seed * 11 + i / 7) % 61) / 30 - 1);
  return values;
}

/// Result, logarithms of sums, and the gradients of queries, keys and values, which are the same if each is asked for
/// alone.
template <class D, class T>
std::vector<Values> run(const Sizes& s, const Values& queries, const Values& keys, const Values& values,
                        bool apart = true) {
  const auto q = tensor_of<D, T>(queries, {s.batch, s.queries, s.size}),
             k = tensor_of<D, T>(keys, {s.batch, s.keys, s.size}),
             v = tensor_of<D, T>(values, {s.batch, s.keys, s.width});
  const auto g = tensor_of<D, T>(numbers(s.batch * s.queries * s.width, 4), {s.batch, s.queries, s.width});
  const auto y = empty<D, T>(g.shape());
  const auto sums = empty<D, compute_t<T>>({s.batch, s.queries});
  const auto dq = empty<D, T>(q.shape()), dk = empty<D, T>(k.shape()), dv = empty<D, T>(v.shape());
  detail::backend::run<D, T>(
      detail::backend::Attention{*y.impl(), *sums.impl(), *q.impl(), *k.impl(), *v.impl(), s.scale, s.causal});
  const auto gradient = [&](const detail::Array* to_q, const detail::Array* to_k, const detail::Array* to_v) {
    detail::backend::run<D, T>(detail::backend::AttentionGradient{to_q, to_k, to_v, *g.impl(), *y.impl(), *sums.impl(),
                                                                  *q.impl(), *k.impl(), *v.impl(), s.scale, s.causal});
  };
  gradient(dq.impl(), dk.impl(), dv.impl());
  const std::vector<Values> together{values_of(dq), values_of(dk), values_of(dv)};
  if (!apart) return {values_of(y), values_of(sums), together[0], together[1], together[2]};
  gradient(dq.impl(), nullptr, nullptr);
  gradient(nullptr, dk.impl(), nullptr);
  gradient(nullptr, nullptr, dv.impl());
  check_close(values_of(dq), together[0], 0, 0);
  check_close(values_of(dk), together[1], 0, 0);
  check_close(values_of(dv), together[2], 0, 0);
  return {values_of(y), values_of(sums), together[0], together[1], together[2]};
}

template <class D, class T>
std::vector<Values> run(const Sizes& s) {
  return run<D, T>(s, numbers(s.batch * s.queries * s.size, 1), numbers(s.batch * s.keys * s.size, 2),
                   numbers(s.batch * s.keys * s.width, 3));
}

}  // namespace

TEST_CASE("attention is a kernel of the CPU for all floating types, and of Cuda for all but double", "[backend]") {
  CHECK(detail::backend::HasKernel<Cpu, detail::backend::Attention, float>);
  CHECK(detail::backend::HasKernel<Cpu, detail::backend::AttentionGradient, double>);
  CHECK(detail::backend::HasKernel<Cpu, detail::backend::TokenAttention, bfloat16>);
  CHECK(detail::backend::HasKernel<Cuda, detail::backend::Attention, float>);
  CHECK(detail::backend::HasKernel<Cuda, detail::backend::AttentionGradient, float>);
  CHECK(detail::backend::HasKernel<Cuda, detail::backend::Attention, half>);
  CHECK(detail::backend::HasKernel<Cuda, detail::backend::AttentionGradient, bfloat16>);
  CHECK_FALSE(detail::backend::HasKernel<Cuda, detail::backend::Attention, double>);
  CHECK(detail::backend::HasKernel<Cpu, detail::backend::Attention, half>);
  CHECK(detail::backend::HasKernel<Cpu, detail::backend::AttentionGradient, bfloat16>);
}

TEMPLATE_TEST_CASE("attention by blocks of any sizes", "[backend]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type, double tolerance) {
    using T = decltype(type);
    if constexpr (detail::backend::HasKernel<D, detail::backend::Attention, T>)
      for (const auto& [batch, queries, keys, size, width] : std::vector<std::array<Index, 5>>{{1, 1, 1, 1, 1},
                                                                                               {2, 12, 32, 16, 32},
                                                                                               {3, 13, 33, 17, 31},
                                                                                               {1, 95, 31, 8, 33},
                                                                                               {2, 96, 96, 3, 5},
                                                                                               {1, 97, 383, 33, 2},
                                                                                               {1, 200, 384, 4, 64},
                                                                                               {2, 193, 385, 5, 1},
                                                                                               {1, 5, 800, 64, 7},
                                                                                               {1, 500, 6, 2, 3},
                                                                                               {1, 1000, 40, 4, 4},
                                                                                               {1, 500, 500, 6, 6},
                                                                                               {2, 64, 64, 128, 32},
                                                                                               {1, 65, 63, 97, 128}}) {
        for (const bool causal : {false, true}) {
          const Sizes s{batch, queries, keys, size, width, 1.5 / std::sqrt(double(size)), causal};
          INFO(batch << " " << queries << " " << keys << " " << size << " " << width << (causal ? " causal" : ""));
          const auto actual = run<D, T>(s), expected = run<Naive, T>(s);
          for (std::size_t i = 0; i < actual.size(); ++i) {
            INFO("array " << i);
            check_close(actual[i], expected[i], tolerance, tolerance);
          }
        }
      }
  };
  check(float(), 2e-5);
  check(double(), 1e-12);
}

/// Softmax and its gradient written out in double.
std::vector<Values> written_out(const Sizes& s, const Values& queries, const Values& keys, const Values& values,
                                const Values& gradient) {
  const auto tensor = [&](const Values& x, Index rows) {
    return tensor_of<Cpu, double>(x, {s.batch, rows, Index(x.size()) / (s.batch * rows)});
  };
  auto q = tensor(queries, s.queries), k = tensor(keys, s.keys), v = tensor(values, s.keys);
  for (auto* x : {&q, &k, &v}) x->requires_grad_();
  auto scores = mul(matmul(q, k.mT()), s.scale);
  if (s.causal)
    scores = add(scores, triu(full<Cpu, double>({s.queries, s.keys}, -std::numeric_limits<double>::infinity()), 1));
  const auto y = matmul(softmax(scores, -1), v);
  y.backward(tensor(gradient, s.queries));
  return {values_of(y), values_of(q.grad()), values_of(k.grad()), values_of(v.grad())};
}

/// The largest difference, in units of the largest number expected if that is not 0.
double difference(const Values& actual, const Values& expected) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    worst = std::isnan(actual[i]) ? INFINITY : std::max(worst, std::abs(actual[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return largest > 0 ? worst / largest : worst;
}

TEMPLATE_TEST_CASE("attention on tensor cores, in float, TF32 and 16 bits", "[backend]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type, double tolerance) {
    using T = decltype(type);
    if constexpr (detail::backend::HasKernel<D, detail::backend::Attention, T>)
      for (const auto& [size, queries, keys] : std::vector<std::array<Index, 3>>{
               {32, 197, 197}, {40, 64, 64}, {64, 1, 1}, {64, 7, 70}, {64, 333, 100}, {128, 65, 129}, {256, 20, 70}})
        for (const bool causal : {false, true}) {
          if (std::is_same_v<T, float> && size > 128) continue;
          const Sizes s{1, queries, keys, size, size, 1 / std::sqrt(double(size)), causal};
          const auto rounded = [](Index n, int seed) { return values_of(tensor_of<Cpu, T>(numbers(n, seed), {n})); };
          const Values q = rounded(queries * size, 1), k = rounded(keys * size, 2), v = rounded(keys * size, 3),
                       g = rounded(queries * size, 4);
          const auto actual = run<D, T>(s, q, k, v, false);
          const auto expected = written_out(s, q, k, v, g);
          INFO(queries << " queries, " << keys << " keys of " << size << (causal ? ", causal" : ""));
          if (keys == 70) CHECK(run<D, T>(s, q, k, v, false) == actual);
          const std::size_t place[] = {0, 2, 3, 4};
          for (std::size_t i = 0; i < 4; ++i) {
            INFO("array " << i);
            CHECK(difference(actual[place[i]], expected[i]) <= tolerance);
          }
        }
  };
  // A rounding of weights and one of results, each by half a unit of 8, 11 or TF32's 11 bits; in TF32 each operand is
  // rounded as well. Tensor cores cut sums off instead of rounding them: an H100 is up to 1e-5 off where a gradient has
  // 333 terms in three parts each.
  check(float(), 2e-5);
  check(bfloat16(), 0x1p-7);
  check(half(), 0x1p-10);
  if constexpr (std::is_same_v<D, Cuda>) {
    cuda::allow_tf32_matmul(true);
    check(float(), 0x1p-10);
    cuda::allow_tf32_matmul(false);
  }
}

TEMPLATE_TEST_CASE("attention of large, infinite and undefined scores", "[backend]", TERN_TEST_DEVICES) {
  const auto check = []<class T>(T) {
    const auto attend = [](const Sizes& s, const Values& q, const Values& k, const Values& v) {
      return run<TestType, T>(s, q, k, v);
    };
    const Sizes s{1, 2, 500, 1, 1, 1, false};
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const Values ones(500, 1);
    Values keys(500, 0), values(500, 1);
    keys[450] = 1000;  // later blocks have larger scores, of which the exponentials would be infinite
    values[450] = 7;
    CHECK(attend(s, {1, -1}, keys, values)[0] == Values{7, 1});
    // What is in the way of one query leaves the other alone.
    const auto infinite = attend(s, {inf, 0.5}, ones, ones);
    CHECK((std::isnan(infinite[0][0]) && infinite[0][1] == 1));
    const auto undefined = attend(s, {0.5, nan}, ones, ones);
    CHECK((undefined[0][0] == 1 && std::isnan(undefined[0][1])));
    CHECK((!std::isnan(undefined[2][0]) && std::isnan(undefined[2][1]) && std::isnan(undefined[3][499])));
    // A whole block of scores of -infinity counts nothing; if all are, there is no mean.
    Values low(500, -inf);
    CHECK(std::isnan(attend(s, {1, 1}, low, values)[0][0]));
    low[450] = 0;
    CHECK(attend(s, {1, 1}, low, values)[0] == Values{7, 7});
    low[450] = nan;
    CHECK(std::isnan(attend(s, {1, 1}, low, values)[0][0]));
  };
  if constexpr (detail::backend::HasKernel<TestType, detail::backend::Attention, float>) check(float());
  if constexpr (HostDevice<TestType> && detail::backend::HasKernel<TestType, detail::backend::Attention, bfloat16>)
    check(bfloat16());
}

TEST_CASE("attention is the same on any number of threads", "[backend]") {
  const Sizes s{3, 1100, 70, 8, 8, 0.3, true};
  const int threads = get_num_threads();
  set_num_threads(1);
  const auto one = run<Cpu, float>(s);
  set_num_threads(3);
  CHECK(run<Cpu, float>(s) == one);
  set_num_threads(threads);
}

}  // namespace backend_attention
