// Elements as another floating-point type, where the types are known at run time only: weights and states from files.
#pragma once
#include "any_tensor.hpp"

namespace tern::detail {

template <class F>
void with_floating(DType type, const F& f) {
  switch (type) {
    case DType::float32: return f(Type<float>{});
    case DType::float64: return f(Type<double>{});
    case DType::bfloat16: return f(Type<bfloat16>{});
    case DType::float16: return f(Type<half>{});
    default: fail("to", {name_of(type), " is not a floating-point type"});
  }
}

/// x in host memory with elements of another floating-point type; x itself where it is that already.
[[gnu::noinline, gnu::cold]] inline AnyTensor convert_on_host(const AnyTensor& x, DType type) {
  AnyTensor from = x.cpu();
  if (from.dtype() == type) return from;
  if (!from.impl()->contiguous) from = Tensor<Cpu>(copy_on_host(from.impl()));
  const AnyTensor to = Tensor<Cpu>(new_impl(type, from.impl()->shape_ref()));
  with_floating(from.dtype(), [&]<class T>(Type<T>) {
    with_floating(type, [&]<class U>(Type<U>) {
      for (Index i = 0; i < to.numel(); ++i) to.impl()->as<U>()[i] = U(compute_t<U>(compute_t<T>(from.impl()->as<T>()[i])));
    });
  });
  return to;
}

}  // namespace tern::detail
