// unique, bincount and isin against std::map and loops.
#include "tern/ops/counting.hpp"

#include "support/tensors.hpp"

#include <map>

namespace ops_counting {
using namespace tern;
using namespace tern_test;

using Values = std::vector<double>;

namespace {

/// Few different numbers, in no order.
Values repeated(Index n, Index different) {
  Values values;
  for (Index i = 0; i < n; ++i) values.push_back(double(i * 7919 % 1009 % different) - (different > 2 ? 3 : 0));
  return values;
}

template <class D, class T>
void check_unique(Index n, Index different) {
  const auto x = tensor_of<D, T>(repeated(n, different));
  std::map<double, Index> counts;
  for (double v : values_of(x)) ++counts[v];
  const auto [output, inverse, how_often] = unique(x, {.return_inverse = true, .return_counts = true});
  Values keys, numbers;
  for (const auto& [value, count] : counts) keys.push_back(value), numbers.push_back(double(count));
  CHECK(values_of(output) == keys);
  CHECK(values_of(how_often) == numbers);
  CHECK(values_of(index_select(output, 0, inverse)) == values_of(x));
  CHECK(values_of(x.unique()) == keys);
}

}  // namespace

TEMPLATE_TEST_CASE("unique gives each element once, in order", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (Index n : {1, 2, 100, 3000}) {
    check_unique<D, float>(n, 50);
    check_unique<D, double>(n, 1);
    check_unique<D, bfloat16>(n, 20);
    check_unique<D, Index>(n, 1000);
    check_unique<D, std::int32_t>(n, 3);
    check_unique<D, bool>(n, 2);
  }
  const auto x = tensor_of<D, float>({NAN, 1, NAN, -0., 0, 1}, {2, 3});
  const auto found = unique(x, {.return_inverse = true, .return_counts = true});
  check_close(values_of(found.output), {0, 1, NAN, NAN});  // NaN differs from NaN
  CHECK(values_of(found.inverse_indices) == Values{2, 1, 3, 0, 0, 1});
  CHECK(found.inverse_indices.shape() == x.shape());
  CHECK(values_of(found.counts) == Values{2, 2, 1, 1});
  const auto positional = unique(x, true, false, true);
  CHECK(values_of(positional.counts) == Values{2, 2, 1, 1});
  CHECK_FALSE(positional.inverse_indices.defined());
  CHECK(values_of(std::get<2>(unique(x, {.return_counts = true}))) == Values{2, 2, 1, 1});
  const auto [elements, numbers, counts] = positional;
  CHECK((elements.numel() == 4 && !numbers.defined() && counts.numel() == 4));
  CHECK_FALSE(unique(x, UniqueOptions{}).counts.defined());
  CHECK_FALSE(unique(x, UniqueOptions{}).inverse_indices.defined());
  const auto nothing = unique(zeros<D>({0, 3}), {.return_inverse = true, .return_counts = true});
  CHECK(nothing.output.shape() == detail::Shape{0});
  CHECK(nothing.inverse_indices.shape() == detail::Shape{0, 3});
  CHECK(nothing.counts.shape() == detail::Shape{0});
  const auto one = unique(full<D>({}, 5), {.return_inverse = true, .return_counts = true});
  CHECK(values_of(one.output) == Values{5});
  CHECK(one.inverse_indices.shape() == detail::Shape{});
  CHECK(values_of(one.counts) == Values{1});
  CHECK_FALSE(unique(ones<D>({2}).requires_grad_()).requires_grad());
}

TEMPLATE_TEST_CASE("unique positions of a dimension", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 0, 5, 1, 2, 0, 4, -1, 9}, {5, 2});
  for (const auto& layout : layouts(x)) {
    const auto rows = unique(layout, {.return_inverse = true, .return_counts = true, .dim = 0});
    CHECK(values_of(rows.output) == Values{-1, 9, 0, 4, 0, 5, 1, 2});
    CHECK(rows.output.shape() == detail::Shape{4, 2});
    CHECK(values_of(rows.inverse_indices) == Values{3, 2, 3, 1, 0});
    CHECK(values_of(rows.counts) == Values{1, 1, 1, 2});
    const auto columns = unique(layout.t(), {.return_inverse = true, .dim = -1});
    CHECK(values_of(columns.output.t()) == values_of(rows.output));
    CHECK(values_of(columns.inverse_indices) == values_of(rows.inverse_indices));
  }
  const auto block = tensor_of<D>({1, 2, 1, 2, 3, 4, 3, 4}, {2, 2, 2});
  CHECK(values_of(unique(block, {.dim = 1}).output) == Values{1, 2, 3, 4});
  CHECK(unique(block, {.dim = 1}).output.shape() == detail::Shape{2, 1, 2});
  CHECK(unique(zeros<D>({0, 2}), {.dim = 0}).output.shape() == detail::Shape{0, 2});
}

TEMPLATE_TEST_CASE("isin looks every element up", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using T = typename decltype(type)::type;
    for (const auto& x : layouts(tensor_of<D, T>({4, 1, 7, 4, 0, 9}, {2, 3}))) {
      CHECK(values_of(isin(x, tensor_of<D, T>({9, 4, 4, 2}, {2, 2}))) == Values{1, 0, 0, 1, 0, 1});
      CHECK(values_of(isin(x, tensor_of<D, T>({9, 4}), true)) == Values{0, 1, 1, 0, 1, 0});
      CHECK(values_of(isin(x, 4)) == Values{1, 0, 0, 1, 0, 0});
      CHECK(values_of(isin(x, 4, true)) == Values{0, 1, 1, 0, 1, 1});
      CHECK(values_of(isin(9, x)) == Values{1});
      CHECK(values_of(isin(9, x, true)) == Values{0});
      CHECK(values_of(isin(x, zeros<D, T>({0}))) == Values(6, 0));
      CHECK(values_of(isin(x, zeros<D, T>({0}), true)) == Values(6, 1));
    }
  };
  check(f64), check(f32), check(bf16), check(f16), check(i64), check(i32), check(u8);
  CHECK(values_of(isin(tensor_of<D, bool>({1, 0}), tensor_of<D, bool>({1, 1}))) == Values{1, 0});
  CHECK(values_of(isin(tensor_of<D, float>({NAN, 0, -0., 1}), tensor_of<D, float>({NAN, 0, -1}))) ==
        Values{0, 1, 1, 0});
  CHECK(isin(full<D>({}, 3), full<D>({}, 3)).item());
  CHECK(isin(zeros<D>({0, 2}), ones<D>({2})).shape() == detail::Shape{0, 2});
}

TEMPLATE_TEST_CASE("bincount counts numbers and sums weights", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using I = typename decltype(type)::type;
    Values numbers, weights, counts(30), sums(30);
    for (Index i = 0; i < 1000; ++i) {
      numbers.push_back(double(i * 7919 % 1009 % 23));
      weights.push_back(double(i % 11) - 4);
      ++counts[std::size_t(numbers.back())];
      sums[std::size_t(numbers.back())] += weights.back();
    }
    for (const auto& x : layouts(tensor_of<D, I>(numbers))) {
      CHECK(values_of(bincount(x)) == Values(counts.begin(), counts.begin() + 23));
      CHECK(values_of(x.bincount(30)) == counts);
      const auto in_float = bincount(x, tensor_of<D, float>(weights), 30);
      static_assert(std::is_same_v<decltype(in_float), const Tensor<D, float>>);
      CHECK(values_of(in_float) == sums);
      const auto of_integers = x.bincount(tensor_of<D, std::int32_t>(weights), 30);
      static_assert(std::is_same_v<decltype(of_integers), const Tensor<D, double>>);
      CHECK(values_of(of_integers) == sums);
    }
  };
  check(i64);
  check(i32);
  check(u8);
  CHECK(values_of(bincount(zeros<D, Index>({0}), 2)) == Values{0, 0});
  const auto x = tensor_of<D, Index>({1, 3, 1});
  CHECK(values_of(bincount(x, {}, 6)) == Values{0, 2, 0, 1, 0, 0});
  CHECK(values_of(bincount(x, None, 6)) == Values{0, 2, 0, 1, 0, 0});
  CHECK(values_of(x.bincount({}, 2)) == Values{0, 2, 0, 1});
  CHECK(bincount(zeros<D, Index>({0})).shape() == detail::Shape{0});
}

TEMPLATE_TEST_CASE("what cannot be counted is refused", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D, Index>({1, 2});
  CHECK(error_of([&] { bincount(tensor_of<D, Index>({1, -1})); }) == "bincount: the numbers must not be negative: -1");
  CHECK(error_of([&] { bincount(x, -1); }) == "bincount: minlength must not be negative: -1");
  CHECK(error_of([&] { bincount(x.view({1, 2})); }) == "bincount: a vector of numbers is needed, not [1, 2]");
  CHECK(error_of([&] { bincount(x, ones<D>({3})); }) == "bincount: weights of shape [3] for numbers of shape [2]");
  CHECK(error_of([&] { bincount(x, ones<D>({})); }) == "bincount: the weights must be a vector, not []");
  CHECK(error_of([&] { bincount(Tensor<D, Index>()); }) == "bincount: a tensor is undefined");
  CHECK(error_of([&] { unique(full<D>({}, 1), {.dim = 0}); }) == "unique: a 0-d tensor has no dimension 0");
  CHECK(error_of([&] { unique(zeros<D>({2, 0}), {.dim = 0}); }) ==
        "unique: positions of dimension 0 of [2, 0] have no elements");
  CHECK(error_of([&] { unique(x, {.dim = 1}); }) == "unique: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { unique(Tensor<D>()); }) == "unique: a tensor is undefined");
}

TEMPLATE_TEST_CASE("histc counts intervals", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    for (const auto& x : layouts(tensor_of<D, typename decltype(type)::type>({1, 5, 2, 4, 3, 9}, {2, 3}))) {
      CHECK(values_of(x.histc(4)) == Values{2, 2, 1, 1});
      CHECK(values_of(histc(x, 3, 1, 4)) == Values{1, 1, 2});
      CHECK(values_of(histc(x, 2, 20, 30)) == Values{0, 0});
    }
  };
  check(f64), check(f32), check(bf16), check(f16);
  CHECK(values_of(histc(tensor_of<D, float>({NAN, 1, INFINITY}), 2, 0, 2)) == Values{0, 1});
  CHECK(values_of(histc(full<D>({3}, 7), 2)) == Values{0, 3});
  CHECK(values_of(histc(zeros<D>({0}), 2)) == Values{0, 0});
  CHECK(error_of([&] { histc(ones<D>({2}), 2, 3, 1); }) == "histc: no intervals between 3 and 1");
  CHECK(error_of([&] { histc(full<D>({2}, NAN), 2); }).find("histc: no intervals between ") == 0);
}

}  // namespace ops_counting
