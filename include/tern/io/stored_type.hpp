// The element types of arrays in files, of which tern has not all, and their conversion to those that it has.
#pragma once
#include "../core/dtype.hpp"
#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// An element type in a file. The first ones are those of DType, in its order.
enum class StoredType : std::uint8_t {
  float32,
  float64,
  bfloat16,
  float16,
  int64,
  int32,
  uint8,
  bool_,
  int8,
  int16,
  uint16,
  uint32,
  uint64,
  other  ///< one that cannot be read
};

namespace detail {

/// The properties of an element type in files; where a format has no such type, its name is null.
struct StoredTypeInfo {
  const char *name, *npy, *safetensors;  // PyTorch's name; numpy's without the byte order; that of safetensors
  int bytes;                             // of one element
  DType becomes;  // the first type of tern that holds all its numbers; of uint64 all but the upper half
};

/// Indexed by StoredType.
inline constexpr StoredTypeInfo stored_types[] = {
    {"float32", "f4", "F32", 4, DType::float32},
    {"float64", "f8", "F64", 8, DType::float64},
    {"bfloat16", nullptr, "BF16", 2, DType::bfloat16},
    {"float16", "f2", "F16", 2, DType::float16},
    {"int64", "i8", "I64", 8, DType::int64},
    {"int32", "i4", "I32", 4, DType::int32},
    {"uint8", "u1", "U8", 1, DType::uint8},
    {"bool", "b1", "BOOL", 1, DType::bool_},
    {"int8", "i1", "I8", 1, DType::int32},
    {"int16", "i2", "I16", 2, DType::int32},
    {"uint16", "u2", "U16", 2, DType::int32},
    {"uint32", "u4", "U32", 4, DType::int64},
    {"uint64", "u8", "U64", 8, DType::int64},
};
constexpr const StoredTypeInfo& info_of(StoredType type) { return stored_types[int(type)]; }

/// Converts n elements, highest byte first if `swapped`, to type `to`. Rounds to nearest where `to` is a floating-point
/// type. Error that names op, subject and position if a number is beyond the range of `to`, or is a fraction or NaN
/// where `to` has integers only, or if a bool is any byte but 0 or 1.
TERN_API void read_stored(const char* op, const std::string& subject, StoredType type, bool swapped, const char* from,
                          Index n, DType to, char* out);

}  // namespace detail

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "stored_type.ipp"
#endif
