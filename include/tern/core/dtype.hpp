// Element types.
#pragma once
#include <cstdint>
#include <type_traits>

#include "float16.hpp"

namespace tern { inline namespace TERN_BUILD {

enum class DType : std::uint8_t { float32, float64, bfloat16, float16, int64, int32, uint8, bool_ };

namespace detail {
/// The properties of an element type, for code that does not have its C++ type.
struct DTypeInfo {
  const char* name;  // PyTorch's
  const char* cpp_name;
  int bytes;      // of one element
  bool floating;  // float32, float64, bfloat16 or float16
};

/// Indexed by DType.
inline constexpr DTypeInfo dtype_infos[] = {
    {"float32", "float", 4, true},  {"float64", "double", 8, true}, {"bfloat16", "bfloat16", 2, true},
    {"float16", "half", 2, true},   {"int64", "int64_t", 8, false}, {"int32", "int32_t", 4, false},
    {"uint8", "uint8_t", 1, false}, {"bool", "bool", 1, false},
};
inline constexpr int dtype_count = int(sizeof dtype_infos / sizeof *dtype_infos);

constexpr int size_of(DType type) { return dtype_infos[int(type)].bytes; }
constexpr const char* name_of(DType type) { return dtype_infos[int(type)].name; }
constexpr const char* cpp_name_of(DType type) { return dtype_infos[int(type)].cpp_name; }
constexpr bool is_floating(DType type) { return dtype_infos[int(type)].floating; }

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, bfloat16> || std::is_same_v<T, half>;

/// float, double, bfloat16, half: the types that can require a gradient.
template <class T>
inline constexpr bool is_floating_v = std::is_floating_point_v<T> || is_half_v<T>;

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<half> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::bool_;
};
}  // namespace detail

template <class T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

/// A type a tensor can hold.
template <class T>
concept Element = requires { detail::DTypeOf<T>::value; };

/// An element type that can require a gradient.
template <class T>
concept Floating = Element<T> && detail::is_floating_v<T>;

/// The type that arithmetic on T is done in: float for the 16-bit types, else T itself.
template <class T>
using compute_t = std::conditional_t<detail::is_half_v<T>, float, T>;

namespace detail {
/// The type of a scalar argument of an operation on T.
template <class T>
using scalar_t = std::conditional_t<is_floating_v<T>, double, T>;

/// The type that elements of T are summed in: int64 for integers and bool, else T itself.
template <class T>
using sum_t = std::conditional_t<is_floating_v<T>, T, std::int64_t>;

/// A type as a constant, for x.to(f64). Where a type that is known at run time is wanted, it is its DType.
template <Element T>
struct Type {
  using type = T;
  constexpr operator DType() const { return dtype_of<T>; }
};
}  // namespace detail

/// x.to(dtype<T>) in a template; of a type that is known, the names below.
template <Element T>
inline constexpr detail::Type<T> dtype{};
inline constexpr auto f32 = dtype<float>;
inline constexpr auto f64 = dtype<double>;
inline constexpr auto bf16 = dtype<bfloat16>;
inline constexpr auto f16 = dtype<half>;
inline constexpr auto i64 = dtype<std::int64_t>;
inline constexpr auto i32 = dtype<std::int32_t>;
inline constexpr auto u8 = dtype<std::uint8_t>;
/// bool, numpy's name: boolean is a type of libjpeg's.
inline constexpr auto bool_ = dtype<bool>;

/// @name LibTorch's names of the types
/// @{
inline constexpr auto kFloat = f32;
inline constexpr auto kFloat32 = f32;
inline constexpr auto kDouble = f64;
inline constexpr auto kFloat64 = f64;
inline constexpr auto kBFloat16 = bf16;
inline constexpr auto kHalf = f16;
inline constexpr auto kFloat16 = f16;
inline constexpr auto kLong = i64;
inline constexpr auto kInt64 = i64;
inline constexpr auto kInt = i32;
inline constexpr auto kInt32 = i32;
inline constexpr auto kByte = u8;
inline constexpr auto kUInt8 = u8;
inline constexpr auto kBool = bool_;
/// @}

}}  // namespace tern
