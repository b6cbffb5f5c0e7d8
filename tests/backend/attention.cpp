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

/// Result, logarithms of sums, and the gradients of queries, keys and values.
template <class D, class T>
std::vector<Values> run(const Sizes& s, const Values& queries, const Values& keys,
                        const Values& values) {
  const auto q = tensor_of<D, T>(queries, {s.batch, s.queries, s.size}), k = tensor_of<D, T>(keys, {s.batch, s.keys, s.size}),
             v = tensor_of<D, T>(values, {s.batch, s.keys, s.width});
  const auto g = tensor_of<D, T>(numbers(s.batch * s.queries * s.width, 4), {s.batch, s.queries, s.width});
  const auto y = empty<D, T>(g.shape()), sums = empty<D, T>({s.batch, s.queries});
  const auto dq = empty<D, T>(q.shape()), dk = empty<D, T>(k.shape()), dv = empty<D, T>(v.shape());
  backend::run<D, T>(backend::Attention{*y.impl(), *sums.impl(), *q.impl(), *k.impl(), *v.impl(), s.scale, s.causal});
  const auto gradient = [&](const Array* to_q, const Array* to_k, const Array* to_v) {
    backend::run<D, T>(backend::AttentionGradient{to_q, to_k, to_v, *g.impl(), *y.impl(), *sums.impl(), *q.impl(), *k.impl(),
                                                  *v.impl(), s.scale, s.causal});
  };
  gradient(dq.impl(), dk.impl(), dv.impl());
  const std::vector<Values> together{values_of(dq), values_of(dk), values_of(dv)};
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

TEST_CASE("attention is a kernel of the CPU for what it calculates with, and of Cuda for all types but double", "[backend]") {
  CHECK(backend::HasKernel<Cpu, backend::Attention, float>);
  CHECK(backend::HasKernel<Cpu, backend::AttentionGradient, double>);
  CHECK(backend::HasKernel<Cpu, backend::TokenAttention, bfloat16>);
  CHECK(backend::HasKernel<Cuda, backend::Attention, float>);
  CHECK(backend::HasKernel<Cuda, backend::AttentionGradient, float>);
  CHECK(backend::HasKernel<Cuda, backend::Attention, half>);
  CHECK(backend::HasKernel<Cuda, backend::AttentionGradient, bfloat16>);
  CHECK_FALSE(backend::HasKernel<Cuda, backend::Attention, double>);
  CHECK_FALSE(backend::HasKernel<Cpu, backend::Attention, bfloat16>);
}

TEMPLATE_TEST_CASE("attention by blocks of any sizes", "[backend]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type, double tolerance) {
    using T = decltype(type);
    if constexpr (backend::HasKernel<D, backend::Attention, T>)
      for (const auto& [batch, queries, keys, size, width] : std::vector<std::array<Index, 5>>{
               {1, 1, 1, 1, 1},       {2, 12, 32, 16, 32},  {3, 13, 33, 17, 31},  {1, 95, 31, 8, 33},  {2, 96, 96, 3, 5},
               {1, 97, 383, 33, 2},   {1, 200, 384, 4, 64}, {2, 193, 385, 5, 1},  {1, 5, 800, 64, 7},  {1, 500, 6, 2, 3},
               {1, 1000, 40, 4, 4},   {1, 500, 500, 6, 6},  {2, 64, 64, 128, 32}, {1, 65, 63, 97, 128}}) {
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

TEMPLATE_TEST_CASE("attention of large, infinite and undefined scores", "[backend]", TERN_TEST_DEVICES) {
  if constexpr (backend::HasKernel<TestType, backend::Attention, float>) {
    const auto attend = [](const Sizes& s, const Values& q, const Values& k, const Values& v) { return run<TestType, float>(s, q, k, v); };
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
  }
}

TEST_CASE("attention is the same on any number of threads", "[backend]") {
  const Sizes s{3, 1100, 70, 8, 8, 0.3, true};
  const int threads = num_threads();
  set_num_threads(1);
  const auto one = run<Cpu, float>(s);
  set_num_threads(3);
  CHECK(run<Cpu, float>(s) == one);
  set_num_threads(threads);
}

}  // namespace backend_attention
