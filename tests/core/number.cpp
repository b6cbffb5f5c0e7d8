// Numbers beside tensors: what an element type holds, and the ops that refuse the rest.
#include "support/tensors.hpp"
#include "tern/ops/ops.hpp"

#include <cmath>

namespace core_number {
using namespace tern;
using namespace tern_test;
using Rounding = detail::Number::Rounding;

namespace {

constexpr DType integers[] = {DType::int64, DType::int32, DType::uint8, DType::bool_};

/// The error of each call, which must name op and number.
template <class F>
void check_refused(const std::string& op, const std::string& number, const F& f) {
  INFO(op << " of " << number);
  CHECK(error_of(f).find(op + ": the number " + number + " ") == 0);
}

/// Every op that takes a number as an element, on a tensor that does not hold it.
template <class D, class T, class N>
void check_elements(N number, const std::string& printed) {
  const auto x = ones<D, T>({2, 2});
  const auto mask = ones<D, bool>({2, 2});
  const auto at = zeros<D, Index>({2});
  check_refused("full", printed, [&] { full<D, T>({2}, number); });
  check_refused("full_like", printed, [&] { full_like(x, number); });
  check_refused("scalar_tensor", printed, [&] { scalar_tensor<D, T>(number); });
  check_refused("fill_", printed, [&] { x.fill_(number); });
  check_refused("fill_", printed, [&] { x[0] = number; });
  check_refused("masked_fill", printed, [&] { x.masked_fill(mask, number); });
  check_refused("masked_fill_", printed, [&] { x.masked_fill_(mask, number); });
  check_refused("index_fill", printed, [&] { x.index_fill(0, at, number); });
  check_refused("index_put_", printed, [&] { x.index_put_({at}, number); });
  check_refused("scatter", printed, [&] { x.scatter(0, at.view({2, 1}), number); });
  check_refused("pad", printed, [&] { pad(x, {1, 1}, PadMode::constant, number); });
  CHECK(values_of(x) == std::vector<double>(4, 1));
}

/// The same for numbers that only tensors of integers refuse.
template <class D, class T, class N>
void check_operands(N number, const std::string& printed) {
  const auto x = ones<D, T>({2});
  const auto mask = ones<D, bool>({2});
  check_refused("where", printed, [&] { where(mask, x, number); });
  check_refused("where", printed, [&] { where(mask, number, x); });
  check_refused("clamp", printed, [&] { x.clamp(0, number); });
  check_refused("clamp", printed, [&] { x.clamp(number, {}); });
  check_refused("clamp_", printed, [&] { x.clamp_(0, number); });
  check_refused("clamp", printed, [&] { x.clamp_min(number); });
  check_refused("clamp", printed, [&] { x.clamp_max(number); });
}

/// Arithmetic with an integer that T does not hold.
template <class D, class T>
void check_arithmetic(Index number) {
  const auto x = ones<D, T>({2});
  const std::string printed = std::to_string(number);
  check_refused("add", printed, [&] { x + number; });
  check_refused("add", printed, [&] { number + x; });
  check_refused("add", printed, [&] { x.add(x, number); });
  check_refused("sub", printed, [&] { x - number; });
  check_refused("sub", printed, [&] { x.sub(x, number); });
  check_refused("rsub", printed, [&] { number - x; });
  check_refused("mul", printed, [&] { x* number; });
  check_refused("remainder", printed, [&] { x % number; });
  check_refused("fmod", printed, [&] { fmod(x, number); });
  check_refused("floor_divide", printed, [&] { floor_divide(x, number); });
  check_refused("bitwise_and", printed, [&] { x & number; });
  check_refused("addcmul", printed, [&] { addcmul(x, x, x, number); });
  check_refused("add_", printed, [&] { x += number; });
  check_refused("add_", printed, [&] { x.add_(x, number); });
  check_refused("sub_", printed, [&] { x -= number; });
  check_refused("mul_", printed, [&] { x *= number; });
  check_refused("fmod_", printed, [&] { x.fmod_(number); });
  check_refused("addcmul_", printed, [&] { x.addcmul_(x, x, number); });
  CHECK(values_of(x) == std::vector<double>(2, 1));
}

}  // namespace

TEST_CASE("a number is an integer of a type, or rounds to one", "[core]") {
  Index n;
  for (const DType type : integers)
    for (const Rounding r : {Rounding::none, Rounding::down, Rounding::up}) {
      CHECK((detail::Number(1).round_to(type, r, n) && n == 1));
      CHECK((detail::Number(true).round_to(type, r, n) && n == 1));
      CHECK((detail::Number(1.0).round_to(type, r, n) && n == 1));
      CHECK((detail::Number(-0.0).round_to(type, r, n) && n == 0));
      CHECK((detail::Number(half(1)).round_to(type, r, n) && n == 1));
      for (const double out : {double(NAN), double(INFINITY), -double(INFINITY), 0x1p63, -0x1.8p63, 1e300})
        CHECK_FALSE(detail::Number(out).round_to(type, r, n));
      CHECK_FALSE(detail::Number(UINT64_MAX).round_to(type, r, n));
    }
  CHECK((detail::Number(-0x1p63).round_to(DType::int64, Rounding::none, n) && n == INT64_MIN));
  CHECK((detail::Number(INT64_MAX).round_to(DType::int64, Rounding::none, n) && n == INT64_MAX));
  CHECK_FALSE(detail::Number(2).round_to(DType::bool_, Rounding::none, n));
  CHECK_FALSE(detail::Number(-1).round_to(DType::uint8, Rounding::none, n));
  CHECK_FALSE(detail::Number(256).round_to(DType::uint8, Rounding::none, n));
  CHECK_FALSE(detail::Number(Index(1) << 31).round_to(DType::int32, Rounding::none, n));
  for (double x = -3; x <= 3; x += 0.25) {
    CHECK(detail::Number(x).round_to(DType::int64, Rounding::none, n) == (std::floor(x) == x));
    CHECK((detail::Number(x).round_to(DType::int64, Rounding::down, n) && double(n) == std::floor(x)));
    CHECK((detail::Number(x).round_to(DType::int64, Rounding::up, n) && double(n) == std::ceil(x)));
  }
}

TEMPLATE_TEST_CASE("an op refuses a number that its tensor does not hold", "[core][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_elements<D, std::uint8_t>(300, "300");
  check_elements<D, std::uint8_t>(-1, "-1");
  check_elements<D, std::int32_t>(Index(1) << 31, "2147483648");
  check_elements<D, Index>(NAN, std::to_string(NAN));
  check_elements<D, Index>(-INFINITY, "-inf");
  check_elements<D, Index>(2.5, "2.5");
  check_elements<D, bool>(2, "2");
  check_elements<D, half>(1e9, "1e+09");
  check_elements<D, float>(-1e300, "-1e+300");
  check_operands<D, std::uint8_t>(256, "256");
  check_operands<D, Index>(INFINITY, "inf");
  check_operands<D, std::int32_t>(0.5, "0.5");
  check_arithmetic<D, std::uint8_t>(300);
  check_arithmetic<D, std::int32_t>(-(Index(1) << 40));
  CHECK(error_of([] { full<D, std::uint8_t>({2}, 300); }) ==
        "full: the number 300 does not fit a tensor of uint8, which holds integers from 0 to 255");
  CHECK(error_of([] { full<D, half>({2}, 65505); }) == "full: the number 65505 is too large for a tensor of float16");
}

TEMPLATE_TEST_CASE("an op takes every number that its tensor holds", "[core]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(values_of(full<D, std::uint8_t>({2}, 255.0)) == std::vector<double>{255, 255});
  CHECK(values_of(full<D, Index>({1}, -0x1p63)) == std::vector<double>{-0x1p63});
  CHECK(values_of(full<D, bool>({1}, 1)) == std::vector<double>{1});
  CHECK(values_of(full<D, half>({2}, -65504)) == std::vector<double>{-65504, -65504});
  CHECK(values_of(full<D>({1}, INFINITY)) == std::vector<double>{INFINITY});
  CHECK(std::isnan(values_of(full<D, half>({1}, NAN))[0]));
  const auto bytes = tensor<D, std::uint8_t>({0, 100, 255});
  CHECK(values_of(bytes.clamp(1, 254.0)) == std::vector<double>{1, 100, 254});
  CHECK(values_of(bytes - 1) == std::vector<double>{255, 99, 254});
  CHECK(values_of(bytes.sub(bytes, 2)) == std::vector<double>{0, 156, 1});
  CHECK(values_of(tensor<D, Index>({1, 2}) - INT64_MIN) == std::vector<double>{-0x1p63, -0x1p63});
  CHECK(values_of(10 - tensor<D, std::int32_t>({1, 2}) * 3u) == std::vector<double>{7, 4});
}

// A user's file with this warning divides by x.size(0) as any other does.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wconversion"
TEMPLATE_TEST_CASE("what converts to a double is a number in arithmetic with floats, a count without a warning",
                   "[core]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = full<D, double>({2}, 12);
  Index count = 4;
  std::uint64_t many = 4;
  const std::vector<bool> flags{true};
  enum { three = 3 };
  const auto is = [](const auto& y, double v) { return values_of(y) == std::vector<double>{v, v}; };
  CHECK((is(x + count, 16) && is(count - x, -8) && is(count * x, 48) && is(x / many, 3) && is(x % 5u, 2)));
  CHECK((is(x.add(count, CallSite()), 16) && is(x.pow(2 * count).sqrt().sqrt(), 144) && is(x.clone().div_(count), 3)));
  CHECK((is(x * flags[0], 12) && is(x / three, 4) && is(x * half(0.5f), 6) && is(x * bfloat16(0.5f), 6)));
}
#pragma GCC diagnostic pop

}  // namespace core_number
