// Matrix products by cuBLASLt. Its matrices are column-major, so c = a b is computed as its transpose, cᵀ = bᵀ aᵀ.
// Integers have a kernel of our own.
#pragma once
#include "../matmul.hpp"
#include "../../device/cuda/cublaslt.hpp"
#include "copy.hpp"
#include "map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// 16-bit elements in 16 bytes: what the fast kernels read and write at once. Matrices must begin, and their rows or
/// columns must begin and end, at a multiple of it.
inline constexpr Index aligned_elements = 8;

/// The leading dimension of `lines` rows or columns of `line` elements, which begin `stride` apart. A lone one may have
/// any, so it gets an aligned one.
constexpr Index leading_dimension(Index lines, Index stride, Index line) {
  return lines == 1 ? (line + aligned_elements - 1) / aligned_elements * aligned_elements : std::max(stride, line);
}

/// An operand's matrices in a form that cuBLASLt takes, with adjacent elements in rows or in columns. Copied if they
/// are in neither form.
class TERN_API CublasOperand {
 public:
  CublasOperand(const Array& a, Index batch);
  const void* data() const { return array_.data; }
  bool transposed() const { return !by_rows(); }
  /// The leading dimension: the distance between rows, or between columns.
  Index leading() const {
    return by_rows() ? leading_dimension(rows(), row(), columns()) : leading_dimension(columns(), column(), rows());
  }
  /// The stride between matrices; 0 if there is only one.
  Index stride() const { return array_.dims[0] > 1 ? array_.strides[0] : 0; }

 private:
  /// The operand with a single batch dimension. Its size is 1 if all matrices are the same.
  static Array matrices(const Array& a, Index batch);
  Index rows() const { return array_.dims[1]; }
  Index columns() const { return array_.dims[2]; }
  Index row() const { return array_.strides[1]; }
  Index column() const { return array_.strides[2]; }
  bool by_rows() const { return (column() == 1 || columns() == 1) && (row() >= columns() || rows() == 1); }
  bool by_columns() const { return (row() == 1 || rows() == 1) && (column() >= rows() || columns() == 1); }

  Array array_;
  cuda::detail::Scratch buffer_;
};

/// A product of any floating-point type. A large one of 16 bits whose rows are aligned but not a multiple of
/// aligned_elements long is computed in two parts, so that all but the shorter one can be fast.
TERN_API void run_matmul(const MatMul& op, const Array* bias);

}  // namespace cuda_kernels

template <class T>
  requires detail::is_floating_v<T>
void kernel(On<Cuda>, Types<T>, const MatMul& op) {
  if (op.c.numel == 0) return;
  const bool empty_sum = op.a.dims[op.a.ndim - 1] == 0;
  // cuBLASLt adds no bias to products of doubles, and takes no products without terms.
  const bool adds_bias = !empty_sum && !std::is_same_v<T, double>;
  if (!empty_sum) cuda_kernels::run_matmul(op, adds_bias ? op.bias : nullptr);
  else if (!op.accumulate) run<Cuda>(Fill<T>{op.c, 0});
  if (!op.bias || adds_bias) return;
  const Array* const terms[] = {&op.c, op.bias};
  run<Cuda, T, T, T>(Map([](auto x, auto y) { return x + y; }, op.c, terms));
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "matmul.ipp"
#endif
