// The contract: in-place updates of several arrays in one pass. Optimisers use it.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T...>: calls f(x0[i], x1[i], …) with references to the elements of contiguous arrays of one shape. An array
/// with const T is only read: f gets its elements by value. This is done for each of several sets of arrays, which
/// stand one after the other; the shapes of two sets may differ.
template <class F>
struct Update {
  const F& f;
  const Array* const* arrays;
  int sets = 1;
};
template <class F>
Update(const F&, const Array* const*, int = 1) -> Update<F>;

/// run<D, T...>: if found is 0, calls f(count of skips, x0[i], x1[i], …) as Update calls f(x0[i], x1[i], …). Else it
/// adds 1 to the count, and f is not called. Each set has its own count in skipped. found and a count are one float
/// each, in the memory of the arrays' device.
template <class F>
struct UpdateUnless {
  const F& f;
  const Array* const* arrays;
  const Array& found;
  const Array* const* skipped;
  int sets = 1;
};
template <class F>
UpdateUnless(const F&, const Array* const*, const Array&, const Array* const*, int = 1) -> UpdateUnless<F>;

}}}  // namespace tern::detail::backend
