// The contract: elementwise kernels. f is called with whatever the device computes with: packets on the CPU, symbols where source code is
// generated.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// run<D, Out, In...>: out[i] = f(in[0][i], in[1][i], …), inputs broadcast to out's shape.
template <class F>
struct Map {
  const F& f;
  const Array& out;
  const Array* const* in;
};
template <class F>
Map(const F&, const Array&, const Array* const*) -> Map<F>;

/// out[i] = value.
template <class T>
struct Fill {
  const Array& out;
  scalar_t<T> value;
};

}  // namespace tern::backend
