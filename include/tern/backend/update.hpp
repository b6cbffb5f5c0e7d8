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

/// run<D, T...>: if found is 0, calls f(count of skips, x0[i], x1[i], …) as Update calls f(x0[i], x1[i], …). Else it adds 1 to the
/// count, and f is not called. found and skipped, the count, are one float each, in the memory of the arrays' device.
template <class F>
struct UpdateUnless {
  const F& f;
  const Array* const* arrays;
  const Array& found;
  const Array& skipped;
};
template <class F>
UpdateUnless(const F&, const Array* const*, const Array&, const Array&) -> UpdateUnless<F>;

}  // namespace tern::backend
