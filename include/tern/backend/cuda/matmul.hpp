// Matrix products by cuBLASLt, which counts columns first: c = a b is computed as its transpose, cᵀ = bᵀ aᵀ. Integers have a kernel
// of our own.
#pragma once
#include "../matmul.hpp"
#include "../../device/cuda/cublaslt.hpp"
#include "copy.hpp"
#include "map.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

/// A factor's matrices as cuBLASLt takes them, rows of adjacent elements or columns; copied if they lie otherwise.
class Factor {
 public:
  Factor(const Array& a, Index batch) : array_(matrices(a, batch)), room_(a.ordinal, by_rows() || by_columns() ? 0 : bytes_of(array_)) {
    if (!room_.data()) return;
    Array copy = array_;
    copy.data = room_.data();
    set_contiguous_strides(copy);
    run<Cuda>(Copy{copy, array_});
    array_ = copy;
  }
  const void* data() const { return array_.data; }
  bool transposed() const { return !by_rows(); }
  /// From one row to the next, or from one column.
  Index leading() const { return by_rows() ? std::max(row(), columns()) : std::max(column(), rows()); }
  /// From one matrix to the next; 0 if it is the only one.
  Index stride() const { return array_.dims[0] > 1 ? array_.strides[0] : 0; }

 private:
  /// A batch of one dimension; of one matrix where all are the same.
  static Array matrices(const Array& a, Index batch) {
    Array all = a;
    all.ndim = 3;
    all.strides[0] = batch_stride(a);
    all.dims[0] = all.strides[0] ? batch : 1;
    for (int i = 1; i < 3; ++i) all.dims[i] = a.dims[a.ndim - 3 + i], all.strides[i] = a.strides[a.ndim - 3 + i];
    all.numel = all.dims[0] * all.dims[1] * all.dims[2];
    update_contiguous(all);
    return all;
  }
  Index rows() const { return array_.dims[1]; }
  Index columns() const { return array_.dims[2]; }
  Index row() const { return array_.strides[1]; }
  Index column() const { return array_.strides[2]; }
  bool by_rows() const { return (column() == 1 || columns() == 1) && (row() >= columns() || rows() == 1); }
  bool by_columns() const { return (row() == 1 || rows() == 1) && (column() >= rows() || columns() == 1); }

  Array array_;
  cuda::detail::Scratch room_;
};

/// A product in any floating type.
[[gnu::noinline]] inline void run_matmul(const MatMul& op, const Array* bias) {
  using namespace tern::cuda;
  constexpr CudaType types[] = {type_32f, type_64f, type_16bf, type_16f};
  const Array& c = op.c;
  const Array* const operands[] = {&op.a, &op.b, bias ? bias : &c};
  const int ordinal = common_ordinal(c, operands, 3);
  const Index batch = batch_size(op), m = c.dims[c.ndim - 2], n = c.dims[c.ndim - 1], k = op.a.dims[op.a.ndim - 1];
  const Factor a(op.a, batch), b(op.b, batch);
  const char* const at_bias = bias ? bias->data : nullptr;
  std::uintptr_t addresses = 16;
  for (const void* address : {a.data(), b.data(), static_cast<const void*>(c.data), static_cast<const void*>(at_bias)})
    addresses |= reinterpret_cast<std::uintptr_t>(address);
  const bool tf32 = c.dtype == DType::float32 && cuda::detail::tf32_allowed;
  const cuda::detail::Product product{
      types[int(c.dtype)], c.dtype == DType::float64 ? compute_64f : tf32 ? compute_32f_fast_tf32 : compute_32f,
      b.transposed(), a.transposed(), bias != nullptr, op.accumulate, std::int32_t(addresses & -addresses),
      n, m, k, batch, b.leading(), a.leading(), std::max(c.strides[c.ndim - 2], n),
      b.stride(), a.stride(), batch_stride(c)};
  cuda::detail::run_product(ordinal, product, b.data(), a.data(), c.data, at_bias);
}

}  // namespace cuda_kernels

template <class T>
  requires is_floating_v<T>
void kernel(On<Cuda>, Types<T>, const MatMul& op) {
  if (op.c.numel == 0) return;
  const bool empty_sum = op.a.dims[op.a.ndim - 1] == 0;
  // cuBLASLt adds no bias to a product of doubles, and knows no product of nothing.
  const bool adds_bias = !empty_sum && !std::is_same_v<T, double>;
  if (!empty_sum) cuda_kernels::run_matmul(op, adds_bias ? op.bias : nullptr);
  else if (!op.accumulate) run<Cuda>(Fill<T>{op.c, 0});
  if (!op.bias || adds_bias) return;
  const Array* const terms[] = {&op.c, op.bias};
  run<Cuda, T, T, T>(Map([](auto x, auto y) { return x + y; }, op.c, terms));
}

}  // namespace backend
}  // namespace tern
