// Elements as another floating-point type, where the types are known at run time only: weights and states from files.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "any_tensor.hpp"

namespace tern::inline TERN_BUILD::detail {

/// Element i of floating-point elements; every type's values are doubles.
[[gnu::noinline, gnu::cold]] inline double floating_at(const Array& x, Index i) {
  switch (x.dtype) {
    case DType::float32: return x.as<float>()[i];
    case DType::float64: return x.as<double>()[i];
    case DType::bfloat16: return float(x.as<bfloat16>()[i]);
    case DType::float16: return float(x.as<half>()[i]);
    default: fail("to", {name_of(x.dtype), " is not a floating-point type"});
  }
}

[[gnu::noinline, gnu::cold]] inline void set_floating(const Array& x, Index i, double value) {
  switch (x.dtype) {
    case DType::float32: x.as<float>()[i] = float(value); return;
    case DType::float64: x.as<double>()[i] = value; return;
    case DType::bfloat16: x.as<bfloat16>()[i] = bfloat16(float(value)); return;
    case DType::float16: x.as<half>()[i] = half(float(value)); return;
    default: fail("to", {name_of(x.dtype), " is not a floating-point type"});
  }
}

/// x in host memory with elements of another floating-point type; x itself where it is that already.
[[gnu::noinline, gnu::cold]] inline AnyTensor convert_on_host(const AnyTensor& x, DType type) {
  AnyTensor from = x.cpu();
  if (from.dtype() == type) return from;
  if (!from.impl()->contiguous) from = Tensor<Cpu>(copy_on_host(from.impl()));
  const AnyTensor to = Tensor<Cpu>(new_impl(type, from.impl()->shape_ref()));
  for (Index i = 0; i < to.numel(); ++i) set_floating(*to.impl(), i, floating_at(*from.impl(), i));
  return to;
}

}  // namespace tern::detail
