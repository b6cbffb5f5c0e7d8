// The contract: in-place updates of several arrays in one pass. Optimisers use it.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// run<D, T...>: calls f(x0[i], x1[i], …) with references to the elements of contiguous arrays of one shape. An array
/// with const T is only read: f gets its elements by value.
template <class F>
struct Update {
  const F& f;
  const Array* const* arrays;
};
template <class F>
Update(const F&, const Array* const*) -> Update<F>;

}  // namespace tern::backend
