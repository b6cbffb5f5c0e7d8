// The conversions of numbers in files: to every type, from bytes at any address and in either order.
#include "support/catch.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tern/io/stored_type.hpp>

#include "support/errors.hpp"

namespace io_stored_type {
using namespace tern;
using io::StoredType;
using tern_test::error_of;

namespace {

/// The numbers, stored as T, read as type Out; `swapped` stores the highest byte first.
template <class Out, class T>
std::vector<Out> read(const std::vector<T>& numbers, StoredType type, bool swapped = false) {
  std::string bytes(1, '\0');  // so that no number is aligned
  for (const T& x : numbers) {
    char one[sizeof(T)];
    std::memcpy(one, &x, sizeof x);
    for (std::size_t i = 0; i < sizeof x; ++i) bytes += one[swapped ? sizeof x - 1 - i : i];
  }
  const std::unique_ptr<Out[]> out(new Out[numbers.size()]);
  io::detail::read_stored("op", "'x'", type, swapped, bytes.data() + 1, Index(numbers.size()), dtype_of<Out>,
                          reinterpret_cast<char*>(out.get()));
  return std::vector<Out>(out.get(), out.get() + numbers.size());
}

template <class Out, class T>
std::string refusal(T number, StoredType type) {
  return error_of([&] { read<Out>(std::vector<T>{T(0), number}, type); });
}

/// Each number is read, and comes out as static_cast makes it of the number.
template <class Out, class T>
void check(const std::vector<T>& numbers, StoredType type) {
  for (const bool swapped : {false, true}) {
    const auto out = read<Out>(numbers, type, swapped);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      CAPTURE(int(type), i, swapped);
      CHECK(double(out[i]) == double(static_cast<Out>(numbers[i])));
    }
  }
}

template <class T>
void check_integers(StoredType type) {
  const std::vector<T> numbers = {0, 1, std::numeric_limits<T>::max() / 2, std::numeric_limits<T>::lowest(), T(100)};
  check<std::int64_t>(numbers, type);
  check<double>(numbers, type);
  check<float>(numbers, type);
  check<std::uint8_t>(std::vector<T>{0, 1, 100}, type);
  check<bool>(std::vector<T>{0, 1}, type);
}

}  // namespace

TEST_CASE("every stored type is read as every type that holds its numbers") {
  check_integers<std::int8_t>(StoredType::int8);
  check_integers<std::int16_t>(StoredType::int16);
  check_integers<std::int32_t>(StoredType::int32);
  check_integers<std::int64_t>(StoredType::int64);
  check_integers<std::uint8_t>(StoredType::uint8);
  check_integers<std::uint16_t>(StoredType::uint16);
  check_integers<std::uint32_t>(StoredType::uint32);
  check_integers<std::uint64_t>(StoredType::uint64);
  check<float>(std::vector<double>{0.1, -1e30, 1. / 3, std::numeric_limits<double>::infinity()}, StoredType::float64);
  check<double>(std::vector<float>{0.1f, -1e30f}, StoredType::float32);
  check<std::int64_t>(std::vector<double>{-0x1p63, 0x1p62, 3}, StoredType::float64);
  CHECK(read<double>(std::vector<half>{half(1.5f)}, StoredType::float16, true)[0] == 1.5);
  CHECK(float(read<half>(std::vector<bfloat16>{bfloat16(-2.f)}, StoredType::bfloat16)[0]) == -2);
  CHECK(read<double>(std::vector<std::uint64_t>{~std::uint64_t(0)}, StoredType::uint64)[0] == 0x1p64);
  check<float>(std::vector<std::uint8_t>{1, 0}, StoredType::bool_);
}

TEST_CASE("more numbers than a block has are read in order") {
  std::vector<std::int16_t> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(std::int16_t(i * 31 - 15'000));
  check<std::int32_t>(numbers, StoredType::int16);
  std::vector<std::int16_t> late(700, 3);
  late[600] = 256;
  CHECK(error_of([&] { read<std::uint8_t>(late, StoredType::int16); }) ==
        "op: 'x': 256 at position 600 does not fit into uint8");
}

TEST_CASE("a number that the type does not hold is an Error") {
  CHECK(refusal<std::uint8_t>(std::int8_t(-1), StoredType::int8) ==
        "op: 'x': -1 at position 1 does not fit into uint8");
  CHECK(refusal<std::int32_t>(std::uint32_t(1) << 31, StoredType::uint32) ==
        "op: 'x': 2147483648 at position 1 does not fit into int32");
  CHECK(refusal<std::int64_t>(std::uint64_t(1) << 63, StoredType::uint64) ==
        "op: 'x': 9223372036854775808 at position 1 does not fit into int64");
  CHECK(refusal<std::int64_t>(0x1p63, StoredType::float64) ==
        "op: 'x': 9.22337e+18 at position 1 does not fit into int64");
  CHECK(refusal<std::int32_t>(2.5, StoredType::float64) == "op: 'x': 2.5 at position 1 does not fit into int32");
  CHECK(refusal<std::int32_t>(std::numeric_limits<float>::quiet_NaN(), StoredType::float32)
            .ends_with("nan at position 1 does not fit into int32"));
  CHECK(refusal<bool>(std::int32_t(2), StoredType::int32) == "op: 'x': 2 at position 1 does not fit into bool");
  CHECK(refusal<half>(std::int32_t(70'000), StoredType::int32) ==
        "op: 'x': 70000 at position 1 does not fit into float16");
  CHECK(refusal<float>(1e300, StoredType::float64) == "op: 'x': 1e+300 at position 1 does not fit into float32");
  CHECK(refusal<float>(std::uint8_t(2), StoredType::bool_) == "op: 'x': a bool is the byte 2 at position 1");
}

}  // namespace io_stored_type
