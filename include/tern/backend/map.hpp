// The contract: elementwise kernels. A device calls f with its own operands: the CPU with packets, a device that
// generates source code with symbols.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, Out, In...>: out[i] = f(in[0][i], in[1][i], …). The inputs are broadcast to out's shape.
template <class F>
struct Map {
  const F& f;
  const Array& out;
  const Array* const* in;
};
template <class F>
Map(const F&, const Array&, const Array* const*) -> Map<F>;

/// run<D, T...>, with a T for each input: out[i] = f(in[0][i], in[1][i], …), and derivatives[k][i] = the derivative of
/// f by in[k][i], where derivatives[k] is not null. All arrays have one shape and order, without gaps. A device need
/// not implement it; then the derivatives are calculated one by one when they are needed.
template <class F>
struct MapWithDerivatives {
  const F& f;
  const Array& out;
  const Array* const* derivatives;
  const Array* const* in;
};

/// out[i] = value.
template <class T>
struct Fill {
  const Array& out;
  detail::scalar_t<T> value;
};

}}}  // namespace tern::detail::backend
