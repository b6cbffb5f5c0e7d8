// Indices of every kind against what PyTorch answered (recorded/indexing.json); gradients against finite differences.
#include "support/recorded.hpp"

#include <tern/ops/exponential.hpp>
#include <tern/functional/gradcheck.hpp>
#include <tern/ops/indexing.hpp>
#include <tern/ops/power.hpp>
#include <tern/ops/trigonometric.hpp>

namespace ops_indexing {
using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T>
Tensor<D, T> tensor_of(const Json& j) {
  return tern_test::tensor_of<D, T>(numbers_of(j), shape_of(j));
}

template <class D>
detail::IndexList<D> index_of(const Json& entries) {
  detail::IndexList<D> list;
  for (const Json& e : entries) {
    if (e.contains("position")) list.push_back(e["position"].get<Index>());
    if (e.contains("none")) list.push_back(None);
    if (e.contains("ellipsis")) list.push_back(Ellipsis);
    if (e.contains("bool")) list.push_back(e["bool"].get<bool>());
    if (e.contains("positions")) list.push_back(tensor_of<D, Index>(e["positions"]));
    if (e.contains("mask")) list.push_back(tensor_of<D, bool>(e["mask"]));
    if (e.contains("slice")) {
      const Json& s = e["slice"];
      const auto bound = [&](std::size_t k) { return s[k].is_null() ? Slice::open : std::optional(s[k].get<Index>()); };
      list.push_back(Slice(bound(0), bound(1), s[2].get<Index>()));
    }
  }
  return list;
}

template <class D, class T = double>
Tensor<D, T> counting(const detail::Shape& shape) {
  std::vector<double> values;
  for (Index i = 0; i < shape.numel(); ++i) values.push_back(double(i));
  return tern_test::tensor_of<D, T>(values, shape);
}

template <class D, class T>
void check_recorded(bool all_layouts) {
  for (const Json& c : recorded_cases("indexing")) {
    INFO(c.dump());
    const detail::Shape shape = shape_of(c);
    if (shape.numel() > (detail::is_half_v<T> ? 120 : std::is_same_v<T, std::uint8_t> ? 60 : 1000))
      continue;  // all values must be exact
    const detail::IndexList<D> indices = index_of<D>(c["index"]);
    const Tensor<D, T> original = counting<D, T>(shape), x = original.clone();
    for (const Tensor<D, T>& y : all_layouts&& shape.numel() ? layouts(x) : std::vector{x.clone()}) {
      const Tensor<D, T> result = index(y, indices);
      REQUIRE(result.shape() == shape_of(c["result"]));
      REQUIRE(values_of(result) == values_of(tensor_of<D, T>(c["result"])));
      if constexpr (std::is_same_v<T, std::uint8_t>) continue;
      const Tensor<D, T> minus_one = full<D, T>({}, -1), ten = full<D, T>({}, 10);
      index_put_(y, indices, minus_one);
      REQUIRE(values_of(y) == c["put"].get<std::vector<double>>());
      y.copy_(original);
      index_put_(y, indices, ten, true);
      REQUIRE(values_of(y) == c["added"].get<std::vector<double>>());
      y.copy_(original);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("indices of all kinds read and write as PyTorch's do", "[indexing]", TERN_TEST_DEVICES) {
  check_recorded<TestType, double>(true);
  check_recorded<TestType, float>(false);
  check_recorded<TestType, half>(false);
  check_recorded<TestType, std::int64_t>(false);
  check_recorded<TestType, std::uint8_t>(false);
}

TEMPLATE_TEST_CASE("numbers, slices, None and Ellipsis give views, tensors copies", "[indexing]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = counting<D>({3, 4});
  x.index({Slice(1), 2}).fill_(-1);
  CHECK(values_of(x) == std::vector<double>{0, 1, 2, 3, 4, 5, -1, 7, 8, 9, -1, 11});
  x.index({tern_test::tensor_of<D, Index>({0})}).fill_(7);
  CHECK(x[0][0].item() == 0);
  CHECK(x[-1][3].item() == 11);
  const auto before = x.version();
  x.index_put_({Ellipsis, 1}, 5);
  x.index_put_({x > 10}, 0);
  CHECK(values_of(x) == std::vector<double>{0, 5, 2, 3, 4, 5, -1, 7, 8, 5, -1, 0});
  CHECK(x.version() > before);
}

namespace {

/// Python's start:stop:step of 0, 1, …, size - 1.
std::vector<double> sliced(Index size, std::optional<Index> start, std::optional<Index> stop, Index step) {
  std::vector<double> positions;
  const auto from_front = [size](Index at) { return at < 0 ? at + size : at; };
  for (Index i = 0; i < size; ++i) {
    const Index first = start ? std::max<Index>(from_front(*start), 0) : 0;
    if (i >= first && (!stop || i < from_front(*stop)) && (i - first) % step == 0) positions.push_back(double(i));
  }
  return positions;
}

}  // namespace

TEMPLATE_TEST_CASE("slices are Python's: bounds open, negative and beyond the end", "[indexing]", TERN_TEST_DEVICES) {
  using D = TestType;
  std::vector<std::optional<Index>> bounds{Slice::open, INT64_MIN, INT64_MAX};
  for (Index at = -6; at <= 6; ++at) bounds.push_back(at);
  for (const Index size : {0, 1, 4}) {
    const auto x = counting<D>({size, 1});
    for (const auto& start : bounds)
      for (const auto& stop : bounds)
        for (const Index step : {Index(1), Index(2), Index(3), Index(INT64_MAX)}) {
          INFO(size << ": " << (start ? std::to_string(*start) : "") << ':' << (stop ? std::to_string(*stop) : "")
                    << ':' << step);
          const auto expected = sliced(size, start, stop, step);
          REQUIRE(values_of(x.slice(0, {start, stop, step})) == expected);
          REQUIRE(values_of(x.index({Slice(start, stop, step), 0})) == expected);
        }
  }
  const auto x = counting<D>({4});
  CHECK(values_of(x.slice(0, {Slice::open, Slice::open})) == std::vector<double>{0, 1, 2, 3});
  CHECK(values_of(x.slice(0, {Slice::open, -1})) == std::vector<double>{0, 1, 2});
  CHECK(values_of(x.slice(0, {-2, Slice::open})) == std::vector<double>{2, 3});
  CHECK(values_of(x.slice(0, {Slice::open, Slice::open, 2})) == std::vector<double>{0, 2});
  CHECK(values_of(x.slice(0, {2, {}})) == std::vector<double>{2, 3});
  CHECK(values_of(x.slice(0, Slice(Slice::open))) == std::vector<double>{0, 1, 2, 3});
  for (const Index step : {Index(0), Index(-1), Index(INT64_MIN)})
    CHECK(error_of([&] { x.slice(0, {Slice::open, Slice::open, step}); }) ==
          "slice: the step must be positive, not " + std::to_string(step));
}

TEMPLATE_TEST_CASE("an open bound is {}, None or nothing", "[indexing]", TERN_TEST_DEVICES) {
  const auto x = arange<TestType, float>(0, 6);
  const auto check = [&](const Slice& slice, const std::vector<double>& expected) {
    check_close(values_of(x.index({slice})), expected);
  };
  check(Slice({}, 2), {0, 1});
  check(Slice(None, 2), {0, 1});
  check(Slice(4, {}), {4, 5});
  check(Slice(-2, None), {4, 5});
  check(Slice(), {0, 1, 2, 3, 4, 5});
  check(Slice({}, {}, 3), {0, 3});
  check(Slice(None, None, 3), {0, 3});
  check_close(values_of(x.slice(0, 1, 3)), {1, 2});
  check_close(values_of(x.slice(0, {}, {}, 4)), {0, 4});
  check_close(values_of(x.slice(-1, -1, None)), {5});
}

TEMPLATE_TEST_CASE("positions of every kind may count from the end", "[indexing]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto at = [](Index position) { return full<D, Index>({}, position); };
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const auto x = counting<D>({3, 4});
      const double expected = double(4 * i + j);
      CHECK(x[i - 3][j - 4].item() == expected);
      CHECK(x.cpu()(i - 3, j - 4) == expected);
      CHECK(x.select(0, i - 3).select(-1, j - 4).item() == expected);
      CHECK(x.index({i - 3, j - 4}).item() == expected);
      CHECK(x.index({i - 3, at(j - 4)}).item() == expected);
      CHECK(x.index({at(i - 3), at(j)}).item() == expected);
      x.index_put_({at(i), at(j - 4)}, 50);
      CHECK(x.cpu()(i, j) == 50);
      x.index_put_({i - 3, j - 4}, 60);
      CHECK(x.cpu()(i, j) == 60);
      CHECK(sum(x).item() == 66 - expected + 60);  // and nothing else was written
    }
  }
  const auto x = counting<D>({3, 4});
  CHECK(error_of([&] { x[-4]; }) == "select: position -4 is outside a dimension of size 3");
  CHECK(error_of([&] { x.cpu()(0, -5); }) == "operator(): index [0, -5] is outside [3, 4]");
}

TEMPLATE_TEST_CASE("of several values for one place the last counts, and all of them add", "[indexing]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const Index n = 20000;  // more than one thread's share
  std::vector<double> at, values;
  for (Index i = 0; i < n; ++i) at.push_back(double(i * 7919 % 13)), values.push_back(double(i % 1000));
  const auto positions = tern_test::tensor_of<D, Index>(at);
  const auto v = tern_test::tensor_of<D, double>(values);
  std::vector<double> put(13, 0.0), added(13, 0.0);
  for (std::size_t i = 0; i < std::size_t(n); ++i)
    put[std::size_t(at[i])] = values[i], added[std::size_t(at[i])] += values[i];
  const auto x = zeros<D, double>({13}), y = zeros<D, double>({13});
  CHECK(values_of(x.index_put_({positions}, v)) == put);
  CHECK(values_of(y.index_put_({positions}, v, true)) == added);
}

TEMPLATE_TEST_CASE("the sums of an index's gradient are made in float for 16-bit types", "[indexing]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D, bfloat16>({1}).requires_grad_();
  x.index({zeros<D, Index>({1000})}).backward(full<D, bfloat16>({1000}, 1));
  CHECK(values_of(x.grad()) == std::vector<double>{1000});  // bfloat16 sums would stop at 256
}

TEMPLATE_TEST_CASE("gradients of indexing", "[indexing][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto x = spread_tensor<D>({3, 4, 2}).requires_grad_();
  const auto at = tern_test::tensor_of<D, Index>({0, 2, 2, -3}, {2, 2});
  const auto row = tern_test::tensor_of<D, Index>({1, 0});
  const auto mask = tern_test::tensor_of<D, bool>({1, 0, 1, 1});
  const auto read = [&](const X& a) {
    return a.index({Slice(), mask, None, 1}).sum() * a.index({at}).square().sum() +
           a.index({at, Ellipsis, row}).exp().sum();
  };
  CHECK(gradcheck(read, std::tuple{x}));
  CHECK(gradgradcheck(read, std::tuple{x}));
  const auto v = spread_tensor<D>({2, 2, 4}).requires_grad_();
  const auto once = tern_test::tensor_of<D, Index>({1, -3}, {2, 1});
  for (const bool accumulate : {false, true}) {
    const auto write = [&](const X& a, const X& values) {
      const detail::IndexList<D> list{accumulate ? at : once, None, Slice(0, 4), 1};
      return index_put(a.exp(), list, values.index({Slice(), Slice(0, accumulate ? 2 : 1), None}).sin(), accumulate)
          .square();
    };
    CHECK(gradcheck(write, std::tuple{x, v}));
    CHECK(gradgradcheck(write, std::tuple{x, v}));
  }
  const auto in_place = [&](const X& a, const X& values) {
    const X y = a * a;
    y.index_put_({1, Slice(0, 2)}, values.index({0, Slice(), Slice(0, 2)}));
    y.index_put_({Slice(), Slice(), 0}, 3.0, true);
    return y * y;
  };
  CHECK(gradcheck(in_place, std::tuple{x, v}));
}

TEMPLATE_TEST_CASE("a number at a mask is written as a tensor of it is, whatever the mask's shape",
                   "[indexing][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto x = spread_tensor<D>({2, 3}).requires_grad_();
  const auto whole = tern_test::tensor_of<D, bool>({1, 0, 1, 0, 0, 1}, {2, 3});
  const auto rows = tern_test::tensor_of<D, bool>({0, 1});
  for (const auto& mask : {whole, rows, full<D, bool>({2, 3}, false)}) {
    const auto two = full<D, double>({}, 2);
    const auto by_tensor = [&](const X& a) {
      const X y = a * a;
      y.index_put_({mask}, two);
      return y.exp();
    };
    const auto assigned = [&](const X& a) {
      const X y = a * a;
      y[mask] = 2;
      return y.exp();
    };
    const auto put = [&](const X& a) {
      const X y = a * a;
      y.index_put_({mask}, 2);
      return y.exp();
    };
    CHECK(values_of(assigned(x)) == values_of(by_tensor(x)));
    CHECK(values_of(put(x)) == values_of(by_tensor(x)));
    CHECK(gradcheck(assigned, std::tuple{x}));
    CHECK(gradcheck(put, std::tuple{x}));
    CHECK(error_of([&] { x[mask] = 2; }).find("operator=: ") == 0);  // a leaf
  }
  const auto bytes = zeros<D, std::uint8_t>({2, 3});
  CHECK(error_of([&] { bytes[whole] = 300; }).find("operator=: ") == 0);
  CHECK(error_of([&] { bytes.index_put_({whole}, 300); }).find("index_put_: ") == 0);
}

TEMPLATE_TEST_CASE("masked_fill and masked_select", "[indexing]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto x = spread_tensor<D>({3, 4}).requires_grad_();
  const auto mask = tern_test::tensor_of<D, bool>({1, 0, 0, 1});
  const std::vector<double> values = values_of(x);
  std::vector<double> filled = values, chosen;
  for (std::size_t i = 0; i < 12; ++i) {
    if (i % 4 != 0 && i % 4 != 3) continue;
    chosen.push_back(values[i]);
    filled[i] = 5;
  }
  CHECK(values_of(masked_fill(x, mask, 5)) == filled);
  CHECK(values_of(x.masked_fill(mask, 5)) == filled);
  CHECK(values_of(masked_fill(x, mask, full<D, double>({}, 5))) == filled);
  CHECK(values_of(x.masked_select(mask)) == chosen);
  CHECK(values_of(masked_select(full<D, double>({}, 2), mask)) == std::vector<double>{2, 2});
  for (const X& y : layouts(x.detach())) CHECK(values_of(y.masked_fill_(mask, 5)) == filled);
  CHECK(values_of(masked_fill(counting<D, bool>({2}), tern_test::tensor_of<D, bool>({1, 0}), true)) ==
        std::vector<double>{1, 1});
  const auto value = full<D, double>({}, 0.3).requires_grad_();
  const auto fill = [&](const X& a, const X& v) {
    return masked_fill(masked_fill(a, mask, v), eq(mask, false), 2.0).square();
  };
  CHECK(gradcheck(fill, std::tuple{x, value}));
  CHECK(gradgradcheck(fill, std::tuple{x, value}));
  const auto select_masked = [&](const X& a) { return masked_select(a, mask).square(); };
  CHECK(gradcheck(select_masked, std::tuple{x}));
  const auto y = x * 1;
  y.masked_fill_(mask, 0);
  y.sum().backward();
  CHECK(values_of(x.grad()) == std::vector<double>{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0});
}

TEMPLATE_TEST_CASE("masks of every length choose what a loop chooses, aligned or not", "[indexing]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  // On Cuda a tile has 4096 elements, and a window 256 tiles.
  for (const Index n : {1, 15, 16, 17, 4095, 4096, 4097, 3 * 4096 + 5, 257 * 4096 + 3})
    for (const Index start : {0, 3}) {  // an odd one where packs are not aligned
      if (start && n > 100000) continue;
      INFO(n << " from " << start);
      std::vector<double> mask, expected;
      for (Index i = 0; i < n + start; ++i) {
        mask.push_back(i * 7919 % 1009 % 3 == 0 || i / 50 % 40 == 7);
        if (mask.back() && i >= start) expected.push_back(double(i - start));
      }
      const Tensor<D, bool> chosen = narrow(tern_test::tensor_of<D, bool>(mask), 0, start, n);
      CHECK((values_of(arange<D, float>(n).index({chosen})) == expected));
      if (n < 100000)
        CHECK((values_of(arange<D, Index>(2 * n).view({n, 2}).index({chosen}).select(1, 0)) ==
               values_of(to_type(tern_test::tensor_of<D, double>(expected), i64) * Index(2))));
    }
  CHECK(arange<D, float>(5000).index({zeros<D, bool>({5000})}).numel() == 0);
  CHECK((values_of(arange<D, float>(5000).index({ones<D, bool>({5000})})) == values_of(arange<D, float>(5000))));
}

TEMPLATE_TEST_CASE("indices that do not fit are refused", "[indexing][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = counting<D>({3, 4});
  const auto at = [](std::vector<double> values) { return tern_test::tensor_of<D, Index>(values); };
  CHECK(error_of([&] { x.index({3}); }) == "index: position 3 is outside dimension 0 of size 3");
  CHECK(error_of([&] { x.index({Slice(), -5}); }) == "index: position -5 is outside dimension 1 of size 4");
  CHECK(error_of([&] { x.index({0, 4}); }) == "index: position 4 is outside dimension 1 of size 4");
  CHECK(error_of([&] { x.index({None, at({0}), Ellipsis, 4}); }) ==
        "index: position 4 is outside dimension 1 of size 4");
  CHECK(error_of([&] { x.index({at({0, 3})}); }) == "index: index 3 is out of range for a dimension of size 3");
  CHECK(error_of([&] { x.index({at({-4})}); }) == "index: index -4 is out of range for a dimension of size 3");
  CHECK(error_of([&] { x.index({0, 0, 0}); }) == "index: too many indices, 3, for a tensor of shape [3, 4]");
  CHECK(error_of([&] { x.index({Ellipsis, Ellipsis}); }) == "index: only one Ellipsis can stand in an index");
  CHECK(error_of([&] { x.index({at({0, 1}), at({0, 1, 2})}); }) == "index: shapes do not broadcast: [2] and [3]");
  CHECK(error_of([&] { x.index({tern_test::tensor_of<D, bool>({1, 0})}); }) ==
        "index: a mask of shape [2] does not fit dimension 0 of [3, 4]");
  CHECK(error_of([&] { x.index({Tensor<D, Index>()}); }) != "");
  CHECK(error_of([&] { Tensor<D, double>().index({0}); }) != "");
  CHECK(error_of([&] { x.index_put_({at({0})}, counting<D>({3})); }) ==
        "index_put_: values of shape [3] do not broadcast to the indexed shape [1, 4]");
  CHECK(error_of([&] { x.index_put_({at({7})}, 1); }) ==
        "index_put_: index 7 is out of range for a dimension of size 3");
  CHECK(error_of([&] { x.index_put_({0}, Tensor<D, double>()); }) != "");
  CHECK(error_of([&] { x.expand({2, 3, 4}).index_put_({at({0})}, 1); }) != "");
  const auto leaf = counting<D>({3}).requires_grad_();
  CHECK(error_of([&] { leaf.index_put_({at({0})}, 1); }) != "");
  CHECK(error_of([&] { masked_fill(x, tern_test::tensor_of<D, bool>({1, 0}), 1); }) ==
        "masked_fill: shapes do not broadcast: [3, 4] and [2]");
  CHECK(error_of([&] { masked_fill(x, x > 0, counting<D>({1})); }) ==
        "masked_fill: the value must be a 0-d tensor, not of shape [1]");
  CHECK(error_of([&] { masked_fill(Tensor<D, double>(), x > 0, 1); }) != "");
  CHECK(error_of([&] { masked_select(x, Tensor<D, bool>()); }) != "");
  // A value saved for backward must not be overwritten.
  const auto y = counting<D>({3}).requires_grad_() * 1, z = y * y;
  y.index_put_({at({0})}, 1);
  CHECK_THROWS_AS(z.sum().backward(), Error);
}

TEMPLATE_TEST_CASE("masked_scatter puts the source's first elements at the places of a mask", "[ops][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto places = tern_test::tensor_of<D, bool>({1, 0, 1});
  for (const auto& x : layouts(tern_test::tensor_of<D>({0, 1, 2, 3, 4, 5}, {2, 3}))) {
    CHECK(values_of(x.masked_scatter(places, tern_test::tensor_of<D>({9, 8, 7, 6, 5}))) ==
          std::vector<double>{9, 1, 8, 7, 4, 6});
    CHECK(&x.masked_scatter_(x > 3, tern_test::tensor_of<D>({-1, -2}, {2, 1})) == &x);
    CHECK(values_of(x) == std::vector<double>{0, 1, 2, 3, -1, -2});
  }
  CHECK(masked_scatter(full<D>({}, 1), places, ones<D>({2}) * 5).shape() == detail::Shape{3});
  const auto x = spread_tensor<D>({2, 3}).requires_grad_(), source = spread_tensor<D>({5}, 1, 2).requires_grad_();
  const auto f = [&](const auto& a, const auto& b) { return masked_scatter(a * a, places, b * b); };
  CHECK(gradcheck(f, std::tuple{x, source}));
  CHECK(gradgradcheck(f, std::tuple{x, source}));
  CHECK(error_of([&] { masked_scatter(x, places, ones<D, double>({3})); }) ==
        "masked_scatter: a source of 3 elements for 4 places");
  CHECK(error_of([&] { masked_scatter_(x, places, source); }).find("leaf") != std::string::npos);
}

}  // namespace ops_indexing
