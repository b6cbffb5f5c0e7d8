// Positions in a tensor, and the index types of x.index({...}).
#pragma once
#include <optional>

#include "../device/device.hpp"

namespace tern { inline namespace TERN_BUILD {

template <Device D, Element T = float>
class Tensor;

namespace detail {
/// As a slice's bound: open. As an optional argument: not given.
struct NoneType {
  template <class X>
  constexpr operator std::optional<X>() const {
    return {};
  }
};
struct EllipsisType {};
}  // namespace detail

/// A new dimension of size 1. As a slice's bound: open.
inline constexpr detail::NoneType NewAxis{};
#ifndef None  // a macro of X11's
/// PyTorch's name for it.
inline constexpr detail::NoneType None{};
#endif

/// start:stop:step, as in Python; negative positions count from the end, and a bound may be open: {}, None or
/// Slice::open. Without bounds: everything. The step must be positive.
struct Slice {
  static constexpr std::nullopt_t open = std::nullopt;
  Index start = 0, stop = INT64_MAX, step = 1;  // bounds are clipped to the dimension
  constexpr Slice() {}
  constexpr Slice(Index first) : start(first) {}
  constexpr Slice(std::optional<Index> first, std::optional<Index> end = {}, Index by = 1)
      : start(first.value_or(0)), stop(end.value_or(INT64_MAX)), step(by) {}
};

/// Stands for as many full slices as are missing.
inline constexpr detail::EllipsisType Ellipsis{};

namespace detail {

template <class S>
concept IndexWord = std::same_as<S, Slice> || std::same_as<S, NoneType> || std::same_as<S, EllipsisType>;

// In x[Slice(), 2] the comma would be C++'s operator, and the index 2: braces make a list, x[{Slice(), 2}].
template <IndexWord S, class T>
void operator,(const S&, const T&) = delete;
template <class T, IndexWord S>
void operator,(const T&, const S&) = delete;

/// The offset of the element from the first one. Error that names op unless the index names every dimension and lies
/// inside.
[[gnu::noinline]] inline Index element_offset(const CallSite& op, const Array& a, const Shape& index) {
  if (index.n != a.ndim) Error::fail(op, {"index ", index, " does not name every dimension of ", a.shape_ref()});
  Index offset = 0;
  for (int i = 0; i < index.n; ++i) {
    const Index at = index.d[i] < 0 ? index.d[i] + a.dims[i] : index.d[i];
    if (at < 0 || at >= a.dims[i]) Error::fail(op, {"index ", index, " is outside ", a.shape_ref()});
    offset += at * a.strides[i];
  }
  return offset;
}

}  // namespace detail

using detail::operator, ;  // of a Slice

}}  // namespace tern
