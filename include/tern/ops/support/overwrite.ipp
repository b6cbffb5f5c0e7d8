// The functions of overwrite.hpp that are not templates.
#pragma once
#include "overwrite.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD double floating_at(const Array& x, Index i) {
  switch (x.dtype) {
    case DType::float32: return x.as<float>()[i];
    case DType::float64: return x.as<double>()[i];
    case DType::bfloat16: return float(x.as<bfloat16>()[i]);
    case DType::float16: return float(x.as<half>()[i]);
    default: Error::fail("to", {name_of(x.dtype), " is not a floating-point type"});
  }
}

TERN_COLD void set_floating(const Array& x, Index i, double value) {
  switch (x.dtype) {
    case DType::float32: x.as<float>()[i] = float(value); return;
    case DType::float64: x.as<double>()[i] = value; return;
    case DType::bfloat16: x.as<bfloat16>()[i] = bfloat16(float(value)); return;
    case DType::float16: x.as<half>()[i] = half(float(value)); return;
    default: Error::fail("to", {name_of(x.dtype), " is not a floating-point type"});
  }
}

TERN_COLD AnyTensor convert_on_host(const AnyTensor& x, DType type) {
  AnyTensor from = x.cpu();
  if (from.dtype() == type) return from;
  if (!from.impl()->contiguous) from = Tensor<Cpu>(copy_on_host(from.impl()));
  const AnyTensor to = Tensor<Cpu>(new_impl(type, from.impl()->shape_ref()));
  for (Index i = 0; i < to.numel(); ++i) set_floating(*to.impl(), i, floating_at(*from.impl(), i));
  return to;
}

}}}  // namespace tern::detail
