// Equidistant numbers.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../range.hpp"
#include "../../../core/config.hpp"
#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {

/// out[i] = start + i step.
template <class T>
void fill_range(Cpu, scalar_t<T> start, scalar_t<T> step, const Array& out) {
  T* const to = out.as<T>();
  parallel_for(out.numel, Index(1) << 16, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) to[i] = T(compute_t<T>(start + scalar_t<T>(i) * step));
  });
}

}  // namespace backend
}  // namespace tern
