#include "support/tensors.hpp"
#include "tern/ops/comparison.hpp"

namespace ops_comparison {
using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T>
void check_comparisons() {
  const auto x = tensor_of<D, T>({0, 1, 2, 1}), y = tensor_of<D, T>({1, 1, 1, 0});
  check_close(values_of(x == y), {0, 1, 0, 0});
  check_close(values_of(x != y), {1, 0, 1, 1});
  check_close(values_of(x < y), {1, 0, 0, 0});
  check_close(values_of(x <= y), {1, 1, 0, 0});
  check_close(values_of(x > y), {0, 0, 1, 1});
  check_close(values_of(x >= y), {0, 1, 1, 1});
  check_close(values_of(x.eq(1)), {0, 1, 0, 1});
  check_close(values_of(x.ne(1)), {1, 0, 1, 0});
  check_close(values_of(x.lt(1)), {1, 0, 0, 0});
  check_close(values_of(x.le(1)), {1, 1, 0, 1});
  check_close(values_of(x.gt(1)), {0, 0, 1, 0});
  check_close(values_of(x.ge(1)), {0, 1, 1, 1});
  check_close(values_of(logical_and(x, y)), {0, 1, 1, 0});
  check_close(values_of(logical_or(x, y)), {1, 1, 1, 1});
  check_close(values_of(logical_xor(x, y)), {1, 0, 0, 1});
  check_close(values_of(logical_not(x)), {1, 0, 0, 0});
  check_close(values_of(x.isnan()), {0, 0, 0, 0});
  check_close(values_of(x.isinf()), {0, 0, 0, 0});
  check_close(values_of(x.isfinite()), {1, 1, 1, 1});
}

template <class D, class T>
void check_bits() {
  const auto x = tensor_of<D, T>({12, 10, 7, 0}), y = tensor_of<D, T>({10, 3, 1, 5});
  check_close(values_of(x & y), {8, 2, 1, 0});
  check_close(values_of(x | y), {14, 11, 7, 5});
  check_close(values_of(x ^ y), {6, 9, 6, 5});
  check_close(values_of(x & T(6)), {4, 2, 6, 0});
  check_close(values_of(x << T(1)), {24, 20, 14, 0});
  check_close(values_of(x >> T(1)), {6, 5, 3, 0});
  check_close(values_of(bitwise_and(~x, x)), {0, 0, 0, 0});
}

}  // namespace

TEMPLATE_TEST_CASE("comparisons of every type", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_comparisons<D, double>();
  check_comparisons<D, float>();
  check_comparisons<D, bfloat16>();
  check_comparisons<D, half>();
  check_comparisons<D, Index>();
  check_comparisons<D, std::int32_t>();
  check_comparisons<D, std::uint8_t>();
}

namespace {

/// x compared with a number of any type, against a comparison of long doubles, which hold both exactly.
template <class D, class T, class N>
void check_number(const Tensor<D, T>& x, const std::vector<T>& elements, N number) {
  INFO(detail::name_of(dtype_of<T>) << " and " << number);
  const auto expect = [&](const Tensor<D, bool>& actual, auto compare) {
    std::vector<double> expected;
    for (const T element : elements) expected.push_back(compare((long double)(element), (long double)(number)));
    check_close(values_of(actual), expected);
  };
  expect(x == number, [](auto a, auto b) { return a == b; });
  expect(x != number, [](auto a, auto b) { return a != b; });
  expect(x < number, [](auto a, auto b) { return a < b; });
  expect(x <= number, [](auto a, auto b) { return a <= b; });
  expect(x > number, [](auto a, auto b) { return a > b; });
  expect(x >= number, [](auto a, auto b) { return a >= b; });
  expect(x.ge(number), [](auto a, auto b) { return a >= b; });
  const Tensor<D, T> written = x.clone();
  expect(written.lt_(number).to(bool_), [](auto a, auto b) { return a < b; });
}

template <class D, class T>
void check_numbers(const std::vector<T>& elements) {
  const Tensor<D, T> x = from_vector<D, T>(elements, Index(elements.size()));
  for (const double number : {7.5,
                              0.5,
                              -0.5,
                              1.0,
                              -0.0,
                              -1.0,
                              254.5,
                              255.0,
                              255.5,
                              300.0,
                              2147483647.5,
                              -2147483648.5,
                              0x1p53 + 2,
                              0x1p63,
                              -0x1p63,
                              0x1.8p63,
                              -0x1.8p63,
                              1e300,
                              double(INFINITY),
                              -double(INFINITY),
                              double(NAN)})
    check_number(x, elements, number);
  for (const Index number :
       {Index(0), Index(1), Index(-1), Index(255), Index(256), Index(1) << 31, INT64_MAX, INT64_MIN})
    check_number(x, elements, number);
  check_number(x, elements, 0.1f);
  check_number(x, elements, UINT64_MAX);
  check_number(x, elements, true);
}

}  // namespace

TEMPLATE_TEST_CASE("integers and bool compare with any number", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_numbers<D, std::uint8_t>({0, 1, 7, 8, 254, 255});
  check_numbers<D, std::int32_t>({INT32_MIN, -1, 0, 1, 7, 8, INT32_MAX});
  check_numbers<D, Index>({INT64_MIN, INT64_MIN + 1, -1, 0, 1, 7, 8, (Index(1) << 53) + 1, INT64_MAX - 1, INT64_MAX});
  const auto mask = tensor<D, bool>({false, true});
  check_close(values_of(mask > 0.5), {0, 1});
  check_close(values_of(mask < 0.5), {1, 0});
  check_close(values_of(mask == 2), {0, 0});
  check_close(values_of(mask <= 1.5), {1, 1});
}

TEMPLATE_TEST_CASE("comparisons with NaN and of bool", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({NAN, INFINITY, -INFINITY, 0});
  check_close(values_of(x == x), {0, 1, 1, 1});
  check_close(values_of(x != x), {1, 0, 0, 0});
  check_close(values_of(x < 1), {0, 0, 1, 1});
  check_close(values_of(isnan(x)), {1, 0, 0, 0});
  check_close(values_of(isinf(x)), {0, 1, 1, 0});
  check_close(values_of(isposinf(x)), {0, 1, 0, 0});
  check_close(values_of(x.isneginf()), {0, 0, 1, 0});
  check_close(values_of(tensor_of<D, Index>({-3, 0, 4}).isposinf()), {0, 0, 0});
  check_close(values_of(isfinite(x)), {0, 0, 0, 1});
  check_close(values_of(logical_not(x)), {0, 0, 0, 1});
  const auto a = tensor_of<D, bool>({0, 0, 1, 1}), b = tensor_of<D, bool>({0, 1, 0, 1});
  check_close(values_of(a == b), {1, 0, 0, 1});
  check_close(values_of(a < b), {0, 1, 0, 0});
  check_close(values_of(a & b), {0, 0, 0, 1});
  check_close(values_of(a | b), {0, 1, 1, 1});
  check_close(values_of(a ^ b), {0, 1, 1, 0});
  check_close(values_of(~a), {1, 1, 0, 0});
}

TEMPLATE_TEST_CASE("bits of integers", "[ops]", TERN_TEST_DEVICES) {
  check_bits<TestType, Index>();
  check_bits<TestType, std::int32_t>();
  check_bits<TestType, std::uint8_t>();
}

TEMPLATE_TEST_CASE("comparisons broadcast, in any layout and size", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (Index n : {0, 1, 2, 3, 15, 16, 17, 33}) {
    const auto x = spread_tensor<D, float>({n});
    const auto found = values_of(x > 0.5);
    const auto values = values_of(x);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(found[i] == (values[i] > 0.5));
  }
  const auto x = spread_tensor<D>({3, 4, 5}), y = spread_tensor<D>({4, 1});
  std::vector<double> expected;
  const auto a = values_of(x), b = values_of(y);
  for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] < b[i / 5 % 4]);
  for (const auto& layout : layouts(x)) check_close(values_of(layout < y), expected);
}

TEMPLATE_TEST_CASE("isclose", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = tensor_of<D>({1, 1, INFINITY, INFINITY, NAN, 0}),
             b = tensor_of<D>({1 + 5e-6, 1.1, INFINITY, -INFINITY, NAN, 1e-9});
  check_close(values_of(isclose(a, b)), {1, 0, 1, 0, 0, 1});
  check_close(values_of(a.isclose(b, 0, 0, true)), {0, 0, 1, 0, 1, 0});
  check_close(values_of(a.isclose(b, 0.2)), {1, 1, 1, 0, 0, 1});
  const auto i = tensor_of<D, Index>({100, 200, -300}), j = tensor_of<D, Index>({101, 200, -330});
  check_close(values_of(isclose(i, j)), {0, 1, 0});
  check_close(values_of(isclose(i, j, 0.1)), {1, 1, 1});
  check_close(values_of(isclose(tensor_of<D, bool>({1, 0}), tensor_of<D, bool>({1, 1}))), {1, 0});
  CHECK(error_of([&] { isclose(a, b, -1); }) == "isclose: tolerances must not be negative: rtol -1, atol 1e-08");
}

TEMPLATE_TEST_CASE("comparisons and logic in place give ones and zeros", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using T = typename decltype(type)::type;
    const auto a = tensor_of<D, T>({0, 1, 2, 1}), b = tensor_of<D, T>({1, 1, 1, 0});
    const auto same = [&](const auto& in_place, const auto& out_of_place) {
      const auto x = a.clone();
      const auto version = x.version();
      CHECK(&in_place(x) == &x);
      CHECK(x.version() > version);
      check_close(values_of(x), values_of(out_of_place));
    };
    same([&](const auto& x) -> auto& { return x.eq_(b); }, a == b);
    same([&](const auto& x) -> auto& { return x.ne_(b); }, a != b);
    same([&](const auto& x) -> auto& { return x.lt_(b); }, a < b);
    same([&](const auto& x) -> auto& { return x.le_(b); }, a <= b);
    same([&](const auto& x) -> auto& { return x.gt_(b); }, a > b);
    same([&](const auto& x) -> auto& { return x.ge_(b); }, a >= b);
    same([&](const auto& x) -> auto& { return x.eq_(1); }, a == 1);
    same([&](const auto& x) -> auto& { return x.ne_(1); }, a != 1);
    same([&](const auto& x) -> auto& { return x.lt_(1); }, a < 1);
    same([&](const auto& x) -> auto& { return x.le_(1); }, a <= 1);
    same([&](const auto& x) -> auto& { return x.gt_(1); }, a > 1);
    same([&](const auto& x) -> auto& { return x.ge_(1); }, a >= 1);
    same([&](const auto& x) -> auto& { return x.logical_and_(b); }, logical_and(a, b));
    same([&](const auto& x) -> auto& { return x.logical_or_(b); }, logical_or(a, b));
    same([&](const auto& x) -> auto& { return x.logical_xor_(b); }, logical_xor(a, b));
    same([&](const auto& x) -> auto& { return x.logical_not_(); }, logical_not(a));
  };
  check(f64), check(bf16), check(i64), check(u8);
  const auto flags = tensor_of<D, bool>({0, 1});
  check_close(values_of(flags.logical_not_()), {1, 0});
  const auto wide = spread_tensor<D>({2, 3}), row = spread_tensor<D>({3});
  CHECK(error_of([&] { row.lt_(wide); }).find("lt_: ") == 0);  // the result would be larger
}

TEMPLATE_TEST_CASE("a comparison in place ends the history of what it overwrites", "[ops][autograd]",
                   TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, 2, 3}).requires_grad_();
  const auto y = x * 2;
  const auto z = y * y;  // it was computed before
  const auto rest = y.clone();
  rest.select(0, 1).ge_(100);  // 0 in the middle
  (rest * tensor_of<TestType>({1, 10, 100})).sum().backward();
  check_close(values_of(x.grad()), {2, 0, 200});
  y.gt_(2);
  CHECK_THROWS_AS(z.sum().backward(), Error);
  CHECK(error_of([&] { x.eq_(1); }).find("eq_: a leaf that requires a gradient") == 0);
}

TEMPLATE_TEST_CASE("a number stands on either side of a comparison", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, 2, 3});
  const auto i = tensor_of<TestType, Index>({1, 2, 3});
  const Index two = 2;  // compiles without a warning of -Wconversion
  CHECK(values_of((two < x) & (x <= two + 1)) == std::vector<double>{0, 0, 1});
  CHECK(values_of(two > x) == std::vector<double>{1, 0, 0});
  CHECK(values_of(two <= x) == std::vector<double>{0, 1, 1});
  CHECK(values_of(two >= x) == std::vector<double>{1, 1, 0});
  CHECK(values_of(two == x) == std::vector<double>{0, 1, 0});
  CHECK(values_of(two != x) == std::vector<double>{1, 0, 1});
  CHECK(values_of(1.5 < i) == std::vector<double>{0, 1, 1});
  CHECK(values_of(2.5 != i) == std::vector<double>{1, 1, 1});
}

TEMPLATE_TEST_CASE("comparisons refuse", "[ops]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = spread_tensor<TestType>({3}), y = spread_tensor<TestType>({2});
  CHECK(error_of([&] { eq(x, y); }) == "eq: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { ne(x, y); }) == "ne: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { lt(x, y); }) == "lt: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { le(x, y); }) == "le: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { gt(x, y); }) == "gt: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { ge(x, y); }) == "ge: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { logical_and(x, y); }) == "logical_and: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { logical_or(x, y); }) == "logical_or: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { logical_xor(x, y); }) == "logical_xor: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { isclose(x, y); }) == "isclose: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { isnan(X()); }) == "isnan: a tensor is undefined");
  CHECK(error_of([&] { isinf(X()); }) == "isinf: a tensor is undefined");
  CHECK(error_of([&] { isfinite(X()); }) == "isfinite: a tensor is undefined");
  CHECK(error_of([&] { logical_not(X()); }) == "logical_not: a tensor is undefined");
  const auto i = tensor_of<TestType, Index>({1, 2, 3}), j = tensor_of<TestType, Index>({1, 2});
  CHECK(error_of([&] { bitwise_and(i, j); }) == "bitwise_and: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { bitwise_or(i, j); }) == "bitwise_or: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { bitwise_xor(i, j); }) == "bitwise_xor: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { bitwise_left_shift(i, j); }) == "bitwise_left_shift: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { bitwise_right_shift(i, j); }) == "bitwise_right_shift: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { bitwise_not(Tensor<TestType, Index>()); }) == "bitwise_not: a tensor is undefined");
}

}  // namespace ops_comparison
