#include "support/tensors.hpp"

#include "tern/ops/extrema.hpp"
#include "tern/ops/prod.hpp"
#include "tern/ops/reduce.hpp"

namespace backend_reduce {
using namespace tern;
using namespace tern_test;

namespace {

/// Shapes with sizes 0 to 3, around a packet and a tile, rows long enough to be cut, and many rows.
const std::vector<detail::Shape> shapes = {
    {},        {0},       {1},       {2},       {3},        {15},       {16},        {17},         {1030},
    {33000},   {0, 3},    {3, 0},    {1, 17},   {17, 1},    {3, 31},    {31, 3},     {64, 10},     {33, 33},
    {300, 19}, {2, 5000}, {5000, 2}, {129, 65}, {2, 3, 17}, {17, 3, 2}, {5, 40, 33}, {2, 2, 2, 2}, {3, 17, 1, 5}};

template <class T>
Tensor<Cpu, T> numbers(const detail::Shape& shape) {
  const Tensor<Cpu, T> x = empty<Cpu, T>(shape);
  for (Index i = 0; i < x.numel(); ++i)
    x.data()[i] = T(float((i * 37 + 11) % 23) / 8 - (std::is_signed_v<T> || detail::is_floating_v<T> ? 1 : 0));
  return x;
}

template <class T>
Tensor<Naive, T> on_naive(const Tensor<Cpu, T>& x) {
  const Tensor<Naive, T> y = empty<Naive, T>(x.shape());
  const auto dense = contiguous(x);
  for (Index i = 0; i < x.numel(); ++i) y.data()[i] = dense.data()[i];
  return y;
}

/// op over every set of dimensions of every shape and layout gives what the naive device does.
template <class T, class Op>
void check_all(const Op& op, double rtol) {
  for (const detail::Shape& shape : shapes) {
    const Tensor<Cpu, T> base = numbers<T>(shape);
    const Tensor<Naive, T> reference = on_naive(base);
    for (unsigned mask = shape.n ? 1 : 0; mask < (1u << shape.n); ++mask) {
      const detail::Dims dims = detail::masked_dims(mask);
      std::vector<double> expected;
      const std::string refusal = error_of([&] { expected = values_of(op(reference, dims)); });
      for (const Tensor<Cpu, T>& x : layouts(base)) {
        INFO("shape " << detail::text({shape}) << " strides " << detail::text({x.strides()}) << " dims "
                      << detail::text({dims}) << " of " << detail::name_of(dtype_of<T>));
        std::vector<double> actual;
        REQUIRE(error_of([&] { actual = values_of(op(x, dims)); }) == refusal);
        check_close(actual, expected, rtol, rtol);
      }
    }
  }
}

constexpr auto sum_op = [](const auto& x, const detail::Dims& dims) { return sum(x, dims); };
constexpr auto max_op = [](const auto& x, const detail::Dims& dims) { return amax(x, dims); };
constexpr auto min_op = [](const auto& x, const detail::Dims& dims) { return amin(x, dims); };
constexpr auto any_op = [](const auto& x, const detail::Dims& dims) { return any(x, dims); };
constexpr auto all_op = [](const auto& x, const detail::Dims& dims) { return all(x, dims); };

}  // namespace

TEST_CASE("sums over any dimensions of any layout", "[backend]") {
  check_all<float>(sum_op, 1e-5);
  check_all<double>(sum_op, 1e-13);
  check_all<bfloat16>(sum_op, 8e-3);
  check_all<half>(sum_op, 1e-3);
  check_all<std::int64_t>(sum_op, 0);
  check_all<std::int32_t>(sum_op, 0);
  check_all<std::uint8_t>(sum_op, 0);
  check_all<bool>(sum_op, 0);
}

TEST_CASE("extremes, any and all over any dimensions of any layout", "[backend]") {
  check_all<float>(max_op, 0);
  check_all<bfloat16>(min_op, 0);
  check_all<double>(min_op, 0);
  check_all<std::int64_t>(max_op, 0);
  check_all<std::uint8_t>(min_op, 0);
  check_all<bool>(max_op, 0);
  check_all<bool>(all_op, 0);
  check_all<float>(any_op, 0);
  check_all<half>(all_op, 0);
  check_all<std::int32_t>(any_op, 0);
}

TEST_CASE("products", "[backend]") {
  check_all<std::int64_t>([](const auto& x, const detail::Dims& dims) { return prod(x, dims); }, 0);
  check_all<bool>([](const auto& x, const detail::Dims& dims) { return prod(x, dims); }, 0);
}

TEST_CASE("several inputs, one of them broadcast, are mapped and reduced in one pass", "[backend]") {
  const Own product{[](auto a, auto b) { return a * b + 1; }};
  const Own doubled{[](auto v) { return 2 * v; }};
  for (const auto& [a_shape, b_shape] : std::vector<std::pair<detail::Shape, detail::Shape>>{{{5, 40, 33}, {33}},
                                                                                             {{5, 40, 33}, {40, 1}},
                                                                                             {{5, 1, 33}, {40, 33}},
                                                                                             {{1, 40}, {300, 1}},
                                                                                             {{64, 10}, {}},
                                                                                             {{3, 31}, {3, 31}}}) {
    const auto a = numbers<float>(a_shape), b = numbers<float>(b_shape);
    const auto c = on_naive(a), d = on_naive(b);
    for (unsigned mask = 1; mask < (1u << a_shape.n); ++mask) {
      INFO(detail::text({a_shape}) << " with " << detail::text({b_shape}) << ", dimensions "
                                   << detail::text({detail::masked_dims(mask)}));
      const detail::Dims dims = detail::masked_dims(mask);
      const auto expected = detail::reduce<detail::backend::Sum, float, double>({"sum", CallSite::unknown}, product,
                                                                                doubled, dims, true, c, d);
      for (const auto& x : layouts(a)) {
        const auto y = detail::reduce<detail::backend::Sum, float, double>({"sum", CallSite::unknown}, product, doubled,
                                                                           dims, true, x, b);
        REQUIRE(y.shape() == expected.shape());
        check_close(values_of(y), values_of(expected), 1e-5, 1e-4);
      }
    }
  }
}

TEST_CASE("NaN wins every extreme, wherever it stands", "[backend]") {
  for (Index n : {1, 16, 17, 1030, 33000})
    for (Index at : {Index(0), n / 2, n - 1}) {
      auto x = full<Cpu>({n}, -1);
      x.data()[at] = NAN;
      CHECK(std::isnan(amax(x).item()));
      CHECK(std::isnan(amin(x).item()));
      CHECK(argmax(x).item() == at);
      CHECK(argmin(x).item() == at);
    }
}

TEST_CASE("a sum of 16M floats keeps 1e-6, in every direction", "[backend]") {
  const Index side = 4096;
  const auto x = empty<Cpu>({side, side});
  double expected = 0;
  std::vector<double> columns(std::size_t(side), 0), rows(std::size_t(side), 0);
  for (Index i = 0; i < x.numel(); ++i) {
    x.data()[i] = float((i * 2654435761u) % 1000003) / 1000003.f + 0.1f;
    expected += double(x.data()[i]);
    rows[std::size_t(i / side)] += double(x.data()[i]);
    columns[std::size_t(i % side)] += double(x.data()[i]);
  }
  CHECK(std::fabs(double(sum(x).item()) / expected - 1) < 1e-6);
  CHECK(std::fabs(double(sum(x.t()).item()) / expected - 1) < 1e-6);
  CHECK(std::fabs(double(sum(full<Cpu>({side * side}, 0.1)).item()) / (double(0.1f) * double(side * side)) - 1) < 1e-6);
  check_close(values_of(sum(x, {0})), columns, 1e-6, 0);
  check_close(values_of(sum(x, {1})), rows, 1e-6, 0);
}

TEST_CASE("the number of threads does not change a bit of a sum", "[backend]") {
  const int before = get_num_threads();
  for (const detail::Shape& shape :
       std::vector<detail::Shape>{{100003}, {1000, 301}, {301, 1000}, {70000, 3}, {3, 70000}, {20, 301, 40}}) {
    const auto x = spread_tensor<Cpu, float>(shape);
    for (unsigned mask = 1; mask < (1u << shape.n); ++mask) {
      set_num_threads(1);
      const auto one = values_of(sum(x, detail::masked_dims(mask)));
      set_num_threads(3);
      const auto three = values_of(sum(x, detail::masked_dims(mask)));
      set_num_threads(before);
      CHECK(one == three);
    }
  }
}

TEMPLATE_TEST_CASE("positions of extremes are the first, along any dimension", "[backend]", float, double, bfloat16,
                   std::int64_t, std::uint8_t, bool) {
  for (const detail::Shape& shape : shapes) {
    const auto base = numbers<TestType>(shape);
    const auto reference = on_naive(base);
    for (int dim = 0; dim < shape.n; ++dim) {
      if (shape[dim] == 0) continue;
      for (const auto& x : layouts(base)) {
        CHECK(values_of(argmax(x, dim)) == values_of(argmax(reference, dim)));
        CHECK(values_of(argmin(x, dim)) == values_of(argmin(reference, dim)));
      }
    }
  }
}

}  // namespace backend_reduce
