// The contract: equidistant numbers.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// out[i] = start + i step, calculated in scalar_t<T>; out is row-major.
template <class T>
struct FillRange {
  const Array& out;
  detail::scalar_t<T> start, step;
};

}}}  // namespace tern::detail::backend
