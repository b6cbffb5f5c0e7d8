// Order, against std::stable_sort and counting.
#include "tern/ops/sort.hpp"

#include "tern/ops/comparison.hpp"
#include "tern/ops/random.hpp"
#include "tern/ops/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/tensors.hpp"

namespace ops_sort {
using namespace tern;
using namespace tern_test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

/// The positions of x in order: NaN last, equal ones as they stand.
std::vector<double> order_of(const std::vector<double>& x, bool descending) {
  std::vector<double> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](double a, double b) {
    if (descending) std::swap(a, b);
    const double u = x[std::size_t(a)], v = x[std::size_t(b)];
    return u < v || (!std::isnan(u) && std::isnan(v));
  });
  return order;
}

/// Many values with repetitions, no order in them.
std::vector<double> mixed(Index n) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(double(i * 7919 % 1009 % 251) - 100);
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("sort keeps the order of equal elements, and NaN comes last", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // Around the 2048 keys that a block sorts, and more, which are sorted by digits.
  for (Index n : {0, 1, 2, 3, 100, 1023, 1025, 2047, 2049, 5000}) {
    const std::vector<double> x = mixed(n);
    const bool descending = n % 2;
    const std::vector<double> order = order_of(x, descending);
    const auto check = [&](const auto& sorted) {
      CHECK(values_of(sorted.indices) == order);
      const std::vector<double> values = values_of(sorted.values);
      for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == x[std::size_t(order[i])]);
    };
    check(sort(tensor_of<D, float>(x), 0, descending));
    check(sort(tensor_of<D, double>(x), 0, descending));
    check(sort(tensor_of<D, Index>(x), 0, descending));
    check(sort(tensor_of<D, std::int32_t>(x), 0, descending));
    check(sort(tensor_of<D, bfloat16>(x), 0, descending));
    check(sort(tensor_of<D, half>(x), 0, descending));
  }
  const std::vector<double> special{1, not_a_number, -infinity, 0, -0., infinity, -1, not_a_number};
  for (bool descending : {false, true}) {
    CHECK(values_of(sort(tensor_of<D, float>(special), 0, descending).indices) == order_of(special, descending));
    CHECK(values_of(sort(tensor_of<D, half>(special), 0, descending).indices) == order_of(special, descending));
    CHECK(values_of(sort(tensor_of<D, double>(special), 0, descending).indices) == order_of(special, descending));
  }
  const std::vector<double> wide{9e15, -9e15, 9e15 - 1, 1, -1, -9e15 - 1};  // differ in both halves of 64 bits
  CHECK(values_of(sort(tensor_of<D, Index>(wide), 0).indices) == order_of(wide, false));
  CHECK(values_of(sort(tensor_of<D, bool>({1, 0, 1, 0}), 0, true).indices) == std::vector<double>{0, 2, 1, 3});
}

TEMPLATE_TEST_CASE("long rows are sorted as short ones are", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Index rows = 3;
  const auto check = [&](const auto& x, bool descending) {
    const auto [values, indices] = sort(x, 1, descending);
    for (Index row = 0; row < rows; ++row) {
      const std::vector<double> in = values_of(x[row]), order = order_of(in, descending);
      CHECK(values_of(indices[row]) == order);
    }
  };
  for (const Index n : {2049, 4096, 6145}) {
    // All bits of a number differ, from element to element and row to row; some are infinite, zeros of both signs, or
    // NaN.
    std::vector<double> bits, floats, bytes;
    std::uint32_t state = 1;
    for (Index i = 0; i < rows * n; ++i) {
      state = state * 1664525 + 1013904223;
      const auto word = std::int32_t(state);
      bits.push_back(word);
      bytes.push_back(state >> 24);
      const double special[] = {not_a_number, infinity, -infinity, 0, -0.};
      floats.push_back(i % 50 == 7 ? special[i / 50 % 5] : std::ldexp(double(word), i % 40 - 50));
    }
    for (const bool descending : {false, true}) {
      INFO(n << (descending ? ", descending" : ""));
      const detail::Shape shape{rows, n};
      check(tensor_of<D, float>(floats, shape), descending);
      check(tensor_of<D, half>(floats, shape), descending);  // also those too small for its full precision
      check(tensor_of<D, bfloat16>(floats, shape), descending);
      check(tensor_of<D, double>(floats, shape), descending);
      check(tensor_of<D, std::int32_t>(bits, shape), descending);
      check(tensor_of<D, std::uint8_t>(bytes, shape), descending);
      check(tensor_of<D, Index>(bits, shape) * Index(3000000019) + tensor_of<D, Index>(bytes, shape), descending);
    }
  }
  check(zeros<D>({rows, 3000}), false);  // all equal
}

TEMPLATE_TEST_CASE("sorting around the tiles of a pass, and values keep their bits", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // On Cuda a tile has 4096 keys, and a block counts the digits of eight.
  for (const Index n : {4095, 4097, 3 * 4096 + 5, 9 * 4096 + 1}) {
    std::vector<double> x;
    std::uint32_t state = 7;
    for (Index i = 0; i < n; ++i) {
      state = state * 1664525 + 1013904223;
      x.push_back(i % 3 == 0     ? double(i / 300)
                  : i % 100 == 1 ? -0.
                  : i % 100 == 2 ? not_a_number
                                 : std::int32_t(state) * 1e-5);
    }
    for (const bool descending : {false, true}) {
      const auto in = tensor_of<D, float>(x);
      const std::vector<double> kept = values_of(in);  // as floats
      const auto [values, indices] = sort(in, 0, descending);
      const std::vector<double> order = order_of(kept, descending), sorted = values_of(values);
      CHECK((values_of(indices) == order));
      bool same = true;
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        const double expected = kept[std::size_t(order[i])];
        const bool equal = sorted[i] == expected && std::signbit(sorted[i]) == std::signbit(expected);
        same = same && (std::isnan(expected) ? std::isnan(sorted[i]) : equal);
      }
      CHECK(same);
    }
  }
}

TEMPLATE_TEST_CASE("sort, topk and kthvalue along every dimension, in any layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>(mixed(3 * 5 * 7), {3, 5, 7});
  for (int dim = 0; dim < 3; ++dim) {
    for (const auto& layout : layouts(x)) {
      const auto [values, indices] = sort(layout, dim);
      CHECK(values_of(values) == values_of(gather(x, dim, indices)));
      const auto rows = x.transpose(dim, -1).contiguous().view({-1, x.size(dim)});
      const auto found = indices.transpose(dim, -1).contiguous().view({-1, x.size(dim)});
      for (Index row = 0; row < rows.size(0); ++row)
        CHECK(values_of(found[row]) == order_of(values_of(rows[row]), false));
      CHECK(values_of(topk(layout, 2, dim).indices) == values_of(sort(x, dim, true).indices.narrow(dim, 0, 2)));
      CHECK(values_of(topk(layout, 2, dim, false).values) == values_of(values.narrow(dim, 0, 2)));
      CHECK(values_of(kthvalue(layout, 3, dim).indices) == values_of(indices.select(dim, 2)));
      CHECK(kthvalue(layout, 3, dim, true).values.shape() == values.narrow(dim, 2, 1).shape());
    }
  }
  CHECK(values_of(x.topk(2, 1, true, false).values) == values_of(topk(x, 2, 1).values));
  CHECK(topk(x, 0, 1).values.shape() == detail::Shape{3, 0, 7});
}

TEMPLATE_TEST_CASE("one element of a long row is the one that sorting gives", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const auto& x) {
    const auto [values, indices] = sort(x, 1);
    for (Index k : {Index(1), Index(2), x.size(1) / 3, x.size(1) / 2 + 1, x.size(1)}) {
      const auto found = kthvalue(x, k, 1);
      CHECK(values_of(found.indices) == values_of(indices.select(1, k - 1)));
      CHECK(values_of(isnan(found.values)) == values_of(isnan(values.select(1, k - 1))));
    }
    CHECK(values_of(topk(x, 1, 1).indices) == values_of(sort(x, 1, true).indices.narrow(1, 0, 1)));
  };
  manual_seed(3);
  const auto x = randn<D>({2, 9000});
  check(x);
  check(round(x * 2));  // many equal ones
  check(where(gt(x, 1), not_a_number, x));
  check(zeros<D>({1, 9000}));
  check(to_type(x, f64));
  check(randint<D>(-1000, 1000, {2, 9000}));
}

TEMPLATE_TEST_CASE("topk is the beginning of the order, whatever elements are equal", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // On Cuda rows from 512 elements on are selected from by digits, up to 1024 elements.
  for (const Index n : {511, 512, 1000, 3000}) {
    std::vector<double> many, few;
    for (Index i = 0; i < 2 * n; ++i) {
      many.push_back(i % 97 == 3   ? not_a_number
                     : i % 89 == 5 ? infinity
                     : i % 83 == 7 ? -0.
                                   : double(i * 7919 % 100003) / 7 - 5000);
      few.push_back(double(i * 7919 % 1009 % 4) - 1);
    }
    const auto check = [&](const auto& x) {
      for (const Index k : {Index(1), Index(10), n / 4, std::min<Index>(1024, n / 2), std::min<Index>(1025, n)})
        for (const bool largest : {false, true}) {
          INFO(k << " of " << n << (largest ? ", largest" : ""));
          const auto [values, indices] = topk(x, k, 1, largest);
          const auto chosen = gather(x, 1, indices);
          CHECK((values_of(isnan(values)) == values_of(isnan(chosen))));
          CHECK((values_of(where(isnan(values), 0, values)) == values_of(where(isnan(chosen), 0, chosen))));
          for (const Index row : {0, 1}) {
            std::vector<double> order = order_of(values_of(x[row]), largest);
            order.resize(std::size_t(k));
            CHECK((values_of(indices[row]) == order));
          }
        }
    };
    const detail::Shape shape{2, n};
    check(tensor_of<D, float>(many, shape));
    check(tensor_of<D, float>(few, shape));
    check(tensor_of<D, float>(std::vector<double>(std::size_t(2 * n), 1.5), shape));
    if (n != 1000) continue;
    check(tensor_of<D, double>(many, shape));
    check(tensor_of<D, double>(few, shape));
    check(tensor_of<D, half>(many, shape));
    check(tensor_of<D, bfloat16>(few, shape));
    check(tensor_of<D, std::int32_t>(few, shape));
    check(tensor_of<D, Index>(few, shape) * Index(3000000019));
    check(tensor_of<D, bool>(few, shape));
  }
}

TEMPLATE_TEST_CASE("argsort and a 0-d tensor", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({3, 1, 2});
  CHECK(values_of(argsort(x)) == std::vector<double>{1, 2, 0});
  // true is PyTorch's `stable`, and no dimension.
  CHECK(values_of(argsort(x, true, 0, true)) == std::vector<double>{0, 2, 1});
  CHECK(values_of(x.argsort(true)) == std::vector<double>{1, 2, 0});
  CHECK(values_of(sort(x, true, -1, true).values) == std::vector<double>{3, 2, 1});
  CHECK(values_of(x.sort(false).values) == std::vector<double>{1, 2, 3});
  const auto [value, index] = sort(full<D, float>({}, 5));
  CHECK(value.item() == 5);
  CHECK(index.item() == 0);
  CHECK(kthvalue(full<D, float>({}, 5), 1).values.dim() == 0);
}

TEMPLATE_TEST_CASE("searchsorted and bucketize count what is smaller", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const std::vector<double> limits{-1, 0, 0, 2, 5}, values{-2, -1, 0, 1, 5, 6, not_a_number};
  for (bool right : {false, true}) {
    std::vector<double> expected;
    for (double v : values)
      expected.push_back(double(std::count_if(limits.begin(), limits.end(),
                                              [&](double x) { return std::isnan(v) || x < v || (right && x == v); })));
    CHECK(values_of(searchsorted(tensor_of<D>(limits), tensor_of<D>(values), right)) == expected);
    CHECK(values_of(bucketize(tensor_of<D, float>(values), tensor_of<D, float>(limits), right)) == expected);
    const auto x = tensor_of<D>(values), bounds = tensor_of<D>(limits);
    CHECK(values_of(bucketize(x, bounds, {.right = right})) == expected);
    CHECK(values_of(bucketize(x, bounds, false, right)) == expected);
    CHECK(values_of(searchsorted(bounds, x, {.right = right})) == expected);
    CHECK(values_of(searchsorted(bounds, x, true, right)) == expected);
  }
  const auto rows = tensor_of<D>({1, 2, 3, 10, 20, 30}, {2, 3});
  CHECK(values_of(searchsorted(rows, tensor_of<D>({2, 15}, {2, 1}))) == std::vector<double>{1, 1});
  CHECK(searchsorted(rows[1], 25).item() == 2);
  const auto jumbled = tensor_of<D>({3, 1, 2, 20, 30, 10}, {2, 3});
  CHECK(values_of(searchsorted(jumbled, tensor_of<D>({2, 15}, {2, 1}), false, argsort(jumbled))) ==
        std::vector<double>{1, 1});
  CHECK(searchsorted(jumbled[0], 2, true, argsort(jumbled[0])).item() == 2);
  CHECK(error_of([&] { searchsorted(jumbled[0], 2, false, argsort(jumbled)); }) ==
        "searchsorted: a sorter of shape [2, 3] does not fit rows of shape [3]");
}

}  // namespace ops_sort
