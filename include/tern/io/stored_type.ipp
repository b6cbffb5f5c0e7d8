// The functions of stored_type.hpp that are not templates.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "stored_type.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io::detail {

/// f(Type<T>) for the element type.
template <class F>
void with_dtype(DType type, const F& f) {
  switch (type) {
    case DType::float32: return f(f32);
    case DType::float64: return f(f64);
    case DType::bfloat16: return f(bf16);
    case DType::float16: return f(f16);
    case DType::int64: return f(i64);
    case DType::int32: return f(i32);
    case DType::uint8: return f(u8);
    case DType::bool_: return f(bool_);
  }
}

/// Reads elements of type In, at any address.
template <class In, class Wide>
void widen(const char* from, Index n, Wide* out) {
  for (Index i = 0; i < n; ++i, from += sizeof(In)) {
    In x;
    std::memcpy(&x, from, sizeof x);
    if constexpr (tern::detail::is_half_v<In>) out[i] = Wide(float(x));
    else out[i] = Wide(x);
  }
}

/// True if Out has the number, or for a floating-point type one near it.
template <class Out, class Wide>
bool narrow(Wide x, Out& out) {
  if constexpr (tern::detail::is_floating_v<Out>) {
    if constexpr (tern::detail::is_half_v<Out>) out = Out(float(x));
    else out = Out(x);
    return !std::isinf(double(out)) || std::isinf(double(x));
  } else {
    constexpr auto least = std::numeric_limits<Out>::lowest(), most = std::numeric_limits<Out>::max();
    if constexpr (std::is_same_v<Wide, double>) {
      constexpr double beyond =
          2 * double(most / 2 + 1);  // a power of two, where double(most) of int64 would be rounded up
      if (!(x >= double(least) && x < beyond && x == std::trunc(x))) return false;
    } else if (x < Index(least) || x > Index(most)) {
      return false;
    }
    out = Out(x);
    return true;
  }
}

/// Swaps the bytes of n elements.
TERN_INLINE void swap_bytes(char* data, Index n, int size) {
  for (Index i = 0; i < n; ++i, data += size)
    for (int k = 0; k < size / 2; ++k) std::swap(data[k], data[size - 1 - k]);
}

/// The conversion of one array, in blocks that stay in the cache: bytes become int64 or double, and these become `to`.
struct StoredConversion {
  const char* op;
  const std::string& subject;
  StoredType type;
  DType to;

  static constexpr Index block = 256;

  template <class Wide>
  [[gnu::noinline, gnu::cold]] void convert(const char* from, Index n, Index first, char* out) const {
    Wide wide[block];
    widen_any(from, n, wide);
    with_dtype(to, [&]<class Out>(tern::detail::Type<Out>) {
      for (Index i = 0; i < n; ++i) {
        Out x;
        if (!narrow(wide[i], x)) refuse(tern::detail::text({wide[i]}), first + i);
        std::memcpy(out + i * Index(sizeof x), &x, sizeof x);
      }
    });
  }

  [[noreturn, gnu::cold]] void refuse(const std::string& number, Index at) const {
    Error::fail(op, {subject, ": ", number, " at position ", at, " does not fit into ", tern::detail::name_of(to)});
  }

 private:
  [[gnu::noinline, gnu::cold]] void widen_any(const char* from, Index n, double* out) const {
    switch (type) {
      case StoredType::float32: return widen<float>(from, n, out);
      case StoredType::bfloat16: return widen<bfloat16>(from, n, out);
      case StoredType::float16: return widen<half>(from, n, out);
      case StoredType::uint64: return widen<std::uint64_t>(from, n, out);
      default: return widen<double>(from, n, out);
    }
  }
  [[gnu::noinline, gnu::cold]] void widen_any(const char* from, Index n, Index* out) const {
    switch (type) {
      case StoredType::int8: return widen<std::int8_t>(from, n, out);
      case StoredType::int16: return widen<std::int16_t>(from, n, out);
      case StoredType::uint16: return widen<std::uint16_t>(from, n, out);
      case StoredType::int32: return widen<std::int32_t>(from, n, out);
      case StoredType::uint32: return widen<std::uint32_t>(from, n, out);
      case StoredType::uint8:
      case StoredType::bool_: return widen<std::uint8_t>(from, n, out);
      default: return widen<Index>(from, n, out);
    }
  }
};

TERN_COLD void read_stored(const char* op, const std::string& subject, StoredType type, bool swapped, const char* from,
                           Index n, DType to, char* out) {
  const StoredConversion conversion{op, subject, type, to};
  const int size = info_of(type).bytes;
  if (type == StoredType::bool_)
    for (Index i = 0; i < n; ++i)
      if (from[i] & ~1)
        Error::fail(op,
                    {subject, ": a bool is the byte ", int(static_cast<unsigned char>(from[i])), " at position ", i});
  if (int(type) == int(to)) {
    if (n) std::memcpy(out, from, std::size_t(n * size));
    if (swapped) swap_bytes(out, n, size);
    return;
  }
  const bool is_floating_type = int(type) < tern::detail::dtype_count && tern::detail::is_floating(DType(int(type)));
  char turned[StoredConversion::block * 8];
  for (Index first = 0; first < n; first += StoredConversion::block) {
    const Index count = n - first < StoredConversion::block ? n - first : StoredConversion::block;
    const char* block = from + first * size;
    if (swapped) {
      std::memcpy(turned, block, std::size_t(count * size));
      swap_bytes(turned, count, size);
      block = turned;
    }
    char* const to_block = out + first * tern::detail::size_of(to);
    if (is_floating_type || (type == StoredType::uint64 && tern::detail::is_floating(to))) {
      conversion.convert<double>(block, count, first, to_block);
      continue;
    }
    for (Index i = 0; type == StoredType::uint64 && i < count; ++i) {
      std::uint64_t x;
      std::memcpy(&x, block + 8 * i, sizeof x);
      if (x >> 63) conversion.refuse(std::to_string(x), first + i);
    }
    conversion.convert<Index>(block, count, first, to_block);
  }
}

}}}  // namespace tern::io::detail
