// Equidistant numbers.
#pragma once
#include "../../range.hpp"
#include "../../../core/config.hpp"
#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<>, const FillRange<T>& op) {
  T* const to = op.out.template as<T>();
  const detail::scalar_t<T> start = op.start, step = op.step;
  detail::parallel_for(op.out.numel, Index(1) << 16, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      if constexpr (std::is_integral_v<T>) to[i] = T(std::uint64_t(start) + std::uint64_t(i) * std::uint64_t(step));
      else to[i] = T(compute_t<T>(start + detail::scalar_t<T>(i) * step));
  });
}

}  // namespace detail::backend
}}  // namespace tern
