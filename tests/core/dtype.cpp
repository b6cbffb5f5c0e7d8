// The table of element types against the C++ types themselves.
#include "tern/core/dtype.hpp"

#include "support/catch.hpp"

namespace core_dtype {
using namespace tern;

TEMPLATE_TEST_CASE("an element type's row is its C++ type's", "[core]", float, double, bfloat16, half, std::int64_t,
                   std::int32_t, std::uint8_t, bool) {
  constexpr DType type = dtype_of<TestType>;
  CHECK(detail::size_of(type) == int(sizeof(TestType)));
  CHECK(detail::is_floating(type) == detail::is_floating_v<TestType>);
}

TEST_CASE("names of element types", "[core]") {
  const std::string names[] = {"float32", "float64", "bfloat16", "float16", "int64", "int32", "uint8", "bool"};
  const std::string in_cpp[] = {"float", "double", "bfloat16", "half", "int64_t", "int32_t", "uint8_t", "bool"};
  const DType types[] = {dtype_of<float>,        dtype_of<double>,       dtype_of<bfloat16>,     dtype_of<half>,
                         dtype_of<std::int64_t>, dtype_of<std::int32_t>, dtype_of<std::uint8_t>, dtype_of<bool>};
  for (int i = 0; i < 8; ++i) {
    CHECK(detail::name_of(types[i]) == names[i]);
    CHECK(detail::cpp_name_of(types[i]) == in_cpp[i]);
  }
}

TEST_CASE("LibTorch's names of element types are constants too", "[core]") {
  static_assert(kFloat == dtype_of<float> && kFloat32 == f32 && kDouble == dtype_of<double> && kFloat64 == f64);
  static_assert(kHalf == dtype_of<half> && kFloat16 == f16 && kBFloat16 == dtype_of<bfloat16>);
  static_assert(kLong == dtype_of<std::int64_t> && kInt64 == i64 && kInt == dtype_of<std::int32_t> && kInt32 == i32);
  static_assert(kByte == dtype_of<std::uint8_t> && kUInt8 == u8 && kBool == dtype_of<bool>);
  CHECK(detail::name_of(kHalf) == std::string("float16"));
}

TEMPLATE_TEST_CASE("a type as a constant is its DType", "[core]", float, double, bfloat16, half, std::int64_t,
                   std::int32_t, std::uint8_t, bool) {
  constexpr auto type = dtype<TestType>;
  static_assert(type == dtype_of<TestType> && dtype_of<TestType> == type && type == dtype<TestType>);
  const DType known_later = type;
  CHECK(known_later == dtype_of<TestType>);
  static_assert((f32 == type) == std::is_same_v<TestType, float>);
  static_assert((f32 != type) == !std::is_same_v<TestType, float>);
  const auto bytes = [&] {
    switch (type) {
      case DType::float64:
      case DType::int64: return 8;
      case DType::float32:
      case DType::int32: return 4;
      case DType::bfloat16:
      case DType::float16: return 2;
      default: return 1;
    }
  };
  CHECK(bytes() == int(sizeof(TestType)));
}

}  // namespace core_dtype
