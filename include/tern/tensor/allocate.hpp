// Allocation of a device's tensors.
#pragma once
#include <algorithm>

#include "../device/device.hpp"
#include "impl.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A new dense tensor on the device. Its elements are not initialised.
template <HostDevice D>
TensorImpl* allocate(DType dtype, ShapeRef shape, int) {
  return new_impl(dtype, shape);
}
template <Device D>
  requires(!HostDevice<D>)
[[gnu::noinline]] TensorImpl* allocate(DType dtype, ShapeRef shape, int ordinal) {
  const std::size_t bytes = std::size_t(new_numel(shape, dtype)) * std::size_t(size_of(dtype));
  const DeviceMemory memory = DeviceTraits<D>::allocate(ordinal, bytes);
  TensorImpl* const p = new_external(dtype, shape, memory.data, memory.deleter, memory.context);
  p->ordinal = std::uint8_t(ordinal);
  return p;
}

/// The distance between rows of so many elements in the result of a product, or in a gradient that products read. On a
/// device whose products want it (DeviceTraits<D>::product_row), rows of 1,024 16-bit elements or more are padded.
template <Device D, class T>
constexpr Index row_pitch(Index columns) {
  if constexpr (is_half_v<T> && requires { DeviceTraits<D>::product_row; }) {
    constexpr Index step = DeviceTraits<D>::product_row;
    if (columns >= 1024) return (columns + step - 1) / step * step;
  }
  return columns;
}

/// A new tensor for such rows. It is not contiguous where they are padded.
template <Device D, class T>
TensorImpl* allocate_rows(ShapeRef shape, int ordinal) {
  const Index columns = shape.n ? shape.d[shape.n - 1] : 0, pitch = row_pitch<D, T>(columns);
  if (pitch == columns) return allocate<D>(dtype_of<T>, shape, ordinal);
  Index padded[max_dims];
  std::copy_n(shape.d, shape.n, padded);
  padded[shape.n - 1] = pitch;
  return without_last_columns(allocate<D>(dtype_of<T>, {padded, shape.n}, ordinal), columns);
}

}}}  // namespace tern::detail
