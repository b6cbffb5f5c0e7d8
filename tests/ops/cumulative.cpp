// Running sums, products and extremes, against loops in double.
#include "tern/ops/cumulative.hpp"
#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"
#include "tern/ops/shape.hpp"

namespace ops_cumulative {
using namespace tern;
using namespace tern_test;

namespace {

/// f(before, x) along dim of row-major values.
template <class F>
std::vector<double> running(std::vector<double> x, const detail::Shape& shape, int dim, F f) {
  Index stride = 1;
  for (int i = dim + 1; i < shape.n; ++i) stride *= shape[i];
  for (Index i = 0; i < Index(x.size()); ++i)
    if (i / stride % shape[dim] != 0) x[std::size_t(i)] = f(x[std::size_t(i - stride)], x[std::size_t(i)]);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("running sums and products along every dimension, in any layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // Around the strips of 64 neighbours and the blocks of 1024 elements that the kernels work in.
  for (const detail::Shape& shape : {detail::Shape{3, 4, 5}, detail::Shape{2, 65}, detail::Shape{65, 2},
                                     detail::Shape{1}, detail::Shape{2, 1025}, detail::Shape{2, 0, 3}}) {
    const auto x = spread_tensor<D>(shape, 0.9, 1.1);
    for (int dim = 0; dim < shape.n; ++dim) {
      for (const auto& layout : layouts(x)) {
        check_close(values_of(cumsum(layout, dim)),
                    running(values_of(x), shape, dim, [](double s, double v) { return s + v; }));
        check_close(values_of(cumprod(layout, dim - shape.n)),
                    running(values_of(x), shape, dim, [](double s, double v) { return s * v; }));
      }
    }
  }
}

TEMPLATE_TEST_CASE("running sums of integers and booleans are int64", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Tensor<D, Index> counts = cumsum(tensor_of<D, bool>({1, 0, 1, 1}), 0);
  CHECK(values_of(counts) == std::vector<double>{1, 1, 2, 3});
  CHECK(values_of(cumprod(tensor_of<D, std::uint8_t>({100, 100, 100}), 0)) == std::vector<double>{100, 1e4, 1e6});
  CHECK(values_of(cumsum(full<D, float>({}, 3), -1)) == std::vector<double>{3});
}

TEMPLATE_TEST_CASE("a running sum of a million floats keeps their precision", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto sums = cumsum(full<D, float>({1 << 20}, 0.1), 0);
  CHECK(sums[-1].item() == Approx((1 << 20) * double(0.1f)).epsilon(1e-6));
}

TEMPLATE_TEST_CASE("running sums of rows of floats, around whole packets, from both ends", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const Index n : {1, 3, 7, 8, 9, 16, 17, 31, 64, 1003}) {
    const auto x = spread_tensor<D, float>({3, n});
    check_close(values_of(cumsum(x, 1)), running(values_of(x), {3, n}, 1, [](double s, double v) { return s + v; }),
                1e-6, 1e-6);
    // The gradient sums from the end.
    auto y = spread_tensor<D, float>({3, n});
    cumsum(y.requires_grad_(), 1).backward(x);
    check_close(values_of(flip(y.grad(), {1})),
                running(values_of(flip(x, {1})), {3, n}, 1, [](double s, double v) { return s + v; }), 1e-6, 1e-6);
  }
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto ends = values_of(cumsum(tensor_of<D, float>({1, 2, inf, 3, 4, 5, 6, 7, 8, 9, -inf, 1}), 0));
  CHECK(std::vector(ends.begin(), ends.begin() + 2) == std::vector<double>{1, 3});
  for (std::size_t i = 2; i < ends.size(); ++i) CHECK((i < 10 ? ends[i] == inf : std::isnan(ends[i])));
  CHECK(values_of(cumsum(tensor_of<D, float>({1, 2, 3, 4, 5, nan, 7, 8, 9}), 0))[4] == 15);
}

TEMPLATE_TEST_CASE("the gradient of a running product is right where factors are zero", "[ops][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto product = [](const auto& x) { return cumprod(x, 1); };
  auto x = tensor_of<D>({2, 0, 3, 4, 0, 5, 0, 7, 1, -2, 3, 4}, {3, 4});
  CHECK(gradcheck(product, std::tuple{x.requires_grad_()}));
  CHECK(gradgradcheck(product, std::tuple{x}));
}

TEST_CASE("a running sum in bfloat16 is rounded once an element", "[ops]") {
  const auto sums = cumsum(full<Cpu, bfloat16>({1000}, 0.125), 0);
  CHECK(float(sums[-1].item()) == 125);
}

TEMPLATE_TEST_CASE("running sums and recurrences of every length, around tiles and windows of tiles", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  // On Cuda a tile of a lone row has 4096 elements, one of 3 columns 1024, and one of 33 columns 128; windows have 128,
  // 64 and 8 tiles.
  const std::pair<detail::Shape, int> cases[] = {
      {{1}, 0},          {{31}, 0},           {{4095}, 0},           {{4096}, 0},
      {{4097}, 0},       {{3 * 4096 + 5}, 0}, {{257 * 4096 + 3}, 0}, {{3, 4100}, 1},
      {{700, 10}, 1},    {{127, 33}, 0},      {{128, 33}, 0},        {{1153, 33}, 0},
      {{2, 3000, 3}, 1}, {{90, 7, 50}, 1}};
  for (const auto& [shape, dim] : cases) {
    INFO(shape << " along " << dim);
    const Index n = shape[dim], numel = shape.numel();
    Index inner = 1;
    for (int i = dim + 1; i < shape.n; ++i) inner *= shape[i];
    // Whole numbers: their sums are exact in whatever order.
    std::vector<double> whole, gates, sums, recurrences;
    for (Index i = 0; i < numel; ++i) {
      whole.push_back(double(i * 7919 % 1009 % 7 - 3));
      gates.push_back(double(i * 104729 % 1013 % 100) / 100);
    }
    for (const bool reverse : {false, true}) {
      sums = recurrences = whole;
      for (Index i = 0; i < numel; ++i) {
        const Index at = reverse ? numel - 1 - i : i, before = reverse ? at + inner : at - inner;
        if (at / inner % n == (reverse ? n - 1 : 0)) continue;
        sums[std::size_t(at)] += sums[std::size_t(before)];
        recurrences[std::size_t(at)] += gates[std::size_t(at)] * recurrences[std::size_t(before)];
      }
      const auto x = tensor_of<D, float>(whole, shape), gate = tensor_of<D, float>(gates, shape);
      CHECK((values_of(detail::scanned(detail::backend::Scan::sum, x, {}, dim, reverse)) == sums));
      if (numel > 100000) continue;
      CHECK((values_of(detail::scanned(detail::backend::Scan::sum, to_type(x, i64), {}, dim, reverse)) == sums));
      check_close(values_of(detail::scanned(detail::backend::Scan::recurrence, x, gate, dim, reverse)), recurrences,
                  1e-5, 1e-5);
      if (numel < 10000) {
        CHECK((values_of(detail::scanned(detail::backend::Scan::sum, to_type(x, f64), {}, dim, reverse)) == sums));
        check_close(values_of(detail::scanned(detail::backend::Scan::recurrence, to_type(x, f64), to_type(gate, f64),
                                              dim, reverse)),
                    recurrences, 1e-5, 1e-5);
        check_close(values_of(detail::scanned(detail::backend::Scan::sum, to_type(x, f16), {}, dim, reverse)), sums,
                    1e-2, 1e-2);
      }
    }
  }
}

TEMPLATE_TEST_CASE("running sums and products give the same bits every time, as a slice and as a copy", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({9, 9001}, 0.998, 1.003);
  const auto rows = narrow(x, 0, 1, 8);
  const auto sums = values_of(cumsum(rows, 1)), products = values_of(cumprod(rows, 1));
  for (int time = 0; time < 3; ++time) {
    CHECK((values_of(cumsum(contiguous(rows), 1)) == sums));
    CHECK((values_of(cumprod(contiguous(rows), 1)) == products));
  }
}

TEMPLATE_TEST_CASE("running extremes and their positions, around tiles, with ties and NaN", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const std::pair<detail::Shape, int> cases[] = {{{1}, 0},        {{3, 4, 5}, 1},      {{4097}, 0},
                                                 {{2, 0, 3}, 1},  {{3 * 4096 + 5}, 0}, {{700, 10}, 1},
                                                 {{1153, 33}, 0}, {{2, 3000, 3}, 1},   {{2, 1025}, -1}};
  for (const auto& [shape, along] : cases) {
    INFO(shape << " along " << along);
    const int dim = along < 0 ? along + shape.n : along;
    Index inner = 1;
    for (int i = dim + 1; i < shape.n; ++i) inner *= shape[i];
    std::vector<double> x;
    for (Index i = 0; i < shape.numel(); ++i)
      x.push_back(i % 1999 == 1700 ? NAN : double(i * 7919 % 1009 % 7 + i / 300));
    for (const bool largest : {true, false}) {
      std::vector<double> values = x, positions(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const Index place = Index(i) / inner % shape[dim];
        positions[i] = double(place);
        if (place == 0) continue;
        const std::size_t before = i - std::size_t(inner);
        const bool takes = std::isnan(x[i]) ||
                           (!std::isnan(values[before]) && (largest ? x[i] >= values[before] : x[i] <= values[before]));
        if (!takes) values[i] = values[before], positions[i] = positions[before];
      }
      for (const auto& layout : layouts(tensor_of<D>(x, shape))) {
        const auto [best, at] = largest ? cummax(layout, along) : cummin(layout, along);
        CHECK((values_of(at) == positions));
        const auto got = values_of(best);
        bool same = got.size() == values.size();
        for (std::size_t i = 0; same && i < got.size(); ++i)
          same = got[i] == values[i] || (std::isnan(got[i]) && std::isnan(values[i]));
        CHECK(same);
      }
    }
  }
}

TEMPLATE_TEST_CASE("running extremes of every element type", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    const auto [values, at] = tensor_of<D, typename decltype(type)::type>({3, 1, 3, 2, 5, 5}, {2, 3}).cummax(1);
    CHECK(values_of(values) == std::vector<double>{3, 3, 3, 2, 5, 5});
    CHECK(values_of(at) == std::vector<double>{0, 0, 2, 0, 1, 2});
  };
  check(f64), check(f32), check(bf16), check(f16), check(i64), check(i32), check(u8);
  CHECK(values_of(cummin(tensor_of<D, bool>({1, 0, 1}), 0).values) == std::vector<double>{1, 0, 0});
  CHECK(values_of(
            cummax(from_vector<D, Index>(std::vector<Index>{INT64_MIN, INT64_MAX, INT64_MAX - 1}, {3}), 0).indices) ==
        std::vector<double>{0, 1, 1});
  const auto number = cummax(full<D>({}, 4), -1);
  CHECK((number.values.item() == 4 && number.indices.item() == 0));
}

TEMPLATE_TEST_CASE("running log-sums do not overflow, and begin at -infinity", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& x : layouts(spread_tensor<D>({3, 4, 5}, -3, 40)))
    check_close(values_of(logcumsumexp(x, 1)), values_of(cumsum(x.exp(), 1).log()));
  CHECK(values_of(tensor_of<D>({-inf, -inf, 0, 1000, -1000, inf, 1}).logcumsumexp(0)) ==
        std::vector<double>{-inf, -inf, 0, 1000, 1000, inf, inf});
  CHECK(values_of(logcumsumexp(tensor_of<D>({-1000, -1000}), 0))[1] == Approx(-1000 + std::log(2)));
  CHECK(std::isnan(values_of(logcumsumexp(tensor_of<D>({1, NAN, 2}), 0))[2]));
}

TEMPLATE_TEST_CASE("differences, repeated, and with what comes before and after", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& x : layouts(tensor_of<D>({1, 4, 9, 2, 2, 8}, {2, 3}))) {
    CHECK(values_of(x.diff()) == std::vector<double>{3, 5, 0, 6});
    CHECK(values_of(diff(x, 2)) == std::vector<double>{2, 6});
    CHECK(values_of(diff(x, 1, 0)) == std::vector<double>{1, -2, -1});
    CHECK(values_of(diff(x, 1, 1, zeros<D, double>({2, 1}), x)) ==
          std::vector<double>{1, 3, 5, -8, 3, 5, 2, 0, 6, -6, 0, 6});
    CHECK(diff(x, INT64_MAX, 0).shape() == detail::Shape{0, 3});
    CHECK(values_of(diff(x, 0)) == values_of(x));
  }
  CHECK(values_of(diff(tensor_of<D, bool>({1, 0, 0, 1}))) == std::vector<double>{1, 0, 1});
  CHECK(values_of(diff(tensor_of<D, Index>({5, 3}))) == std::vector<double>{-2});
}

TEMPLATE_TEST_CASE("gradients of running extremes, log-sums and differences", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4}, -2, 2).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  };
  check([](const auto& a) { return cummax(a * a, 1).values; });
  check([](const auto& a) { return cummin(a * a, 0).values; });
  check([](const auto& a) { return logcumsumexp(a * a, 1); });
  check([](const auto& a) { return diff(a * a, 2, 1, a); });
  auto y = tensor_of<D>({2, 2, 1, 3}).requires_grad_();
  cummax(y, 0).values.sum().backward();
  CHECK(values_of(y.grad()) == std::vector<double>{1, 2, 0, 1});
  check_rounded_once_in_16_bits([](const auto& a) { return logcumsumexp(a, 1); }, spread_tensor<D>({2, 40}, -1, 1));
}

TEMPLATE_TEST_CASE("scans and differences refuse what does not fit", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 3});
  CHECK(error_of([&] { cummax(x, 2); }) == "cummax: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { logcumsumexp(x, 2); }) == "logcumsumexp: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { diff(x, -1); }) == "diff: n must not be negative: -1");
  CHECK(error_of([&] { diff(full<D>({}, 1)); }) == "diff: a 0-d tensor has no dimension to take differences along");
  CHECK(error_of([&] { diff(x, 1, 1, ones<D>({3, 1})); }).find("diff: ") == 0);
}

TEMPLATE_TEST_CASE("vander has the powers of each element, the highest first", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({0, 2, -3}).requires_grad_();
  check_close(values_of(vander(x)), {0, 0, 1, 4, 2, 1, 9, -3, 1});
  check_close(values_of(vander(x, 4, true)), {1, 0, 0, 0, 1, 2, 4, 8, 1, -3, 9, -27});
  check_close(values_of(linalg::vander(x.view({3, 1}), 3)), {1, 0, 0, 1, 2, 4, 1, -3, 9});
  CHECK(vander(x, 0).shape() == detail::Shape{3, 0});
  CHECK(linalg::vander(x.view({3, 1})).shape() == detail::Shape{3, 1, 1});
  const auto whole = tensor_of<D, Index>({2, 3});
  CHECK(vander(whole, 40)[1][0].item() == 4052555153018976267);  // 3^39
  const auto f = [](const auto& v) { return vander(v, 4); };
  CHECK(gradcheck(f, std::tuple{x}));
  CHECK(gradgradcheck(f, std::tuple{x}));
  vander(x, 3).sum().backward();
  check_close(values_of(x.grad()), {1, 5, -5});  // 2 x + 1, also at 0
  CHECK(error_of([&] { vander(x.view({3, 1})); }) == "vander: a vector is needed, not [3, 1]");
  CHECK(error_of([&] { vander(x, -1); }) == "vander: n must not be negative: -1");
  CHECK(error_of([&] { linalg::vander(x, 1); }) == "vander: n must be greater than 1, not 1");
  CHECK(error_of([&] { linalg::vander(x[0]); }) == "vander: at least one dimension is needed, not []");
}

TEMPLATE_TEST_CASE("running sums of integers wrap around", "[ops]", TERN_TEST_DEVICES) {
  const auto most = std::numeric_limits<Index>::max();
  const auto x = full<TestType, Index>({2}, most);
  CHECK(x.cumsum(0).cpu()(1) == -2);
  CHECK(x.cumprod(0).cpu()(1) == 1);
}

}  // namespace ops_cumulative
