// The functions of matmul.hpp that are not templates.
#pragma once
#include "matmul.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

TERN_INLINE CublasOperand::CublasOperand(const Array& a, Index batch) : array_(matrices(a, batch)), room_(a.ordinal, by_rows() || by_columns() ? 0 : bytes_of(array_)) {
  if (!room_.data()) return;
  Array copy = array_;
  copy.data = room_.data();
  set_contiguous_strides(copy);
  run<Cuda>(Copy{copy, array_});
  array_ = copy;
}

TERN_INLINE Array CublasOperand::matrices(const Array& a, Index batch) {
  Array all = a;
  all.ndim = 3;
  all.strides[0] = batch_stride(a);
  all.dims[0] = all.strides[0] ? batch : 1;
  for (int i = 1; i < 3; ++i) all.dims[i] = a.dims[a.ndim - 3 + i], all.strides[i] = a.strides[a.ndim - 3 + i];
  all.numel = all.dims[0] * all.dims[1] * all.dims[2];
  update_contiguous(all);
  return all;
}

[[gnu::noinline]] TERN_INLINE void run_matmul(const MatMul& op, const Array* bias) {
  using namespace tern::cuda;
  constexpr CudaType types[] = {type_32f, type_64f, type_16bf, type_16f};
  const Array& c = op.c;
  const Array* const operands[] = {&op.a, &op.b, bias ? bias : &c};
  const int ordinal = common_ordinal(c, operands, 3);
  const Index batch = batch_size(op), m = c.dims[c.ndim - 2], n = c.dims[c.ndim - 1], k = op.a.dims[op.a.ndim - 1];
  const CublasOperand a(op.a, batch), b(op.b, batch);
  const char* const at_bias = bias ? bias->data : nullptr;
  std::uintptr_t addresses = 16;
  for (const void* address : {a.data(), b.data(), static_cast<const void*>(c.data), static_cast<const void*>(at_bias)})
    addresses |= reinterpret_cast<std::uintptr_t>(address);
  const bool tf32 = c.dtype == DType::float32 && cuda::detail::tf32_allowed;
  const cuda::detail::MatmulForm form{
      types[int(c.dtype)], c.dtype == DType::float64 ? compute_64f : tf32 ? compute_32f_fast_tf32 : compute_32f,
      b.transposed(), a.transposed(), bias != nullptr, op.accumulate, std::int32_t(addresses & -addresses),
      n, m, k, batch, b.leading(), a.leading(), std::max(c.strides[c.ndim - 2], n),
      b.stride(), a.stride(), batch_stride(c)};
  cuda::detail::run_matmul(ordinal, form, b.data(), a.data(), c.data, at_bias);
}

}  // namespace tern::backend::cuda_kernels
