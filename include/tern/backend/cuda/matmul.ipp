// The functions of matmul.hpp that are not templates.
#pragma once
#include "matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE CublasOperand::CublasOperand(const Array& a, Index batch)
    : array_(matrices(a, batch)), buffer_(a.ordinal, by_rows() || by_columns() ? 0 : bytes_of(array_)) {
  if (!buffer_.data()) return;
  Array copy = array_;
  copy.data = buffer_.data();
  detail::set_contiguous_strides(copy);
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
  detail::update_contiguous(all);
  return all;
}

/// `count` of an array's elements along one of its last two dimensions, from `first` on.
TERN_INLINE Array part_from_last(const Array& a, int from_last, Index first, Index count) {
  const int dim = a.ndim - from_last;
  Array part = a;
  part.data += first * a.strides[dim] * detail::size_of(a.dtype);
  part.numel = a.numel / a.dims[dim] * count;
  part.dims[dim] = count;
  detail::update_contiguous(part);
  return part;
}

/// True if a matrix of 16 bits has adjacent elements in rows, or in columns, and each of these begins at a multiple of
/// 16 bytes.
TERN_INLINE bool has_aligned_lines(const Array& a, bool& by_rows) {
  const Index row = a.strides[a.ndim - 2], column = a.strides[a.ndim - 1];
  by_rows = column == 1;
  return reinterpret_cast<std::uintptr_t>(a.data) % 16 == 0 && (by_rows    ? row
                                                                : row == 1 ? column
                                                                           : 1) %
                                                                       aligned_elements ==
                                                                   0;
}

/// Computes a large product in two parts: the longest that ends at multiples of aligned_elements wherever adjacent
/// elements do, and the rest. False, and nothing is computed, if there is no such part.
TERN_NOINLINE bool run_in_parts(const MatMul& op, const Array* bias) {
  constexpr Index least =
      Index(1) << 30;  // multiply-adds, for which a kernel for unaligned rows takes longer than a second launch
  const Array &a = op.a, &b = op.b, &c = op.c;
  const Index m = c.dims[c.ndim - 2], n = c.dims[c.ndim - 1], k = a.dims[a.ndim - 1];
  bool a_by_rows, b_by_rows, c_by_rows;
  if (detail::size_of(c.dtype) != 2 || batch_size(op) != 1 || m * n * k < least || !has_aligned_lines(a, a_by_rows) ||
      !has_aligned_lines(b, b_by_rows) || !has_aligned_lines(c, c_by_rows))
    return false;
  const auto rest = [](Index size) { return size % aligned_elements; };
  const auto part = [&](const Array& to, const Array& left, const Array& right, const Array* row, bool accumulate) {
    run_matmul({to, left, right, nullptr, accumulate}, row);
  };
  if (const Index columns = rest(n)) {
    for (const auto& [first, count] : {std::pair{Index(0), n - columns}, {n - columns, columns}}) {
      const Array row = bias ? part_from_last(*bias, 1, first, count) : Array{};
      part(part_from_last(c, 1, first, count), a, part_from_last(b, 1, first, count), bias ? &row : nullptr,
           op.accumulate);
    }
  } else if (const Index rows = rest(m); rows && !a_by_rows) {
    for (const auto& [first, count] : {std::pair{Index(0), m - rows}, {m - rows, rows}})
      part(part_from_last(c, 2, first, count), part_from_last(a, 2, first, count), b, bias, op.accumulate);
  } else if (const Index terms = rest(k); terms && (a_by_rows || !b_by_rows)) {
    // The rest comes first: it is small, and so is what rounding it to 16 bits loses.
    part(c, part_from_last(a, 1, k - terms, terms), part_from_last(b, 2, k - terms, terms), nullptr, op.accumulate);
    part(c, part_from_last(a, 1, 0, k - terms), part_from_last(b, 2, 0, k - terms), bias, true);
  } else {
    return false;
  }
  return true;
}

TERN_NOINLINE void run_matmul(const MatMul& op, const Array* bias) {
  using namespace tern::cuda;
  if (run_in_parts(op, bias)) return;
  constexpr CudaType types[] = {type_32f, type_64f, type_16bf, type_16f};
  const Array& c = op.c;
  const Array* const operands[] = {&op.a, &op.b, bias ? bias : &c};
  const int ordinal = common_ordinal(c, operands, 3);
  const Index batch = batch_size(op), m = c.dims[c.ndim - 2], n = c.dims[c.ndim - 1], k = op.a.dims[op.a.ndim - 1];
  const CublasOperand a(op.a, batch), b(op.b, batch);
  const char* const at_bias = bias ? bias->data : nullptr;
  // Kernels count on 256 bytes at most.
  const auto alignment = [](const void* at, const void* and_at = nullptr) {
    return std::uint8_t(
        std::countr_zero(reinterpret_cast<std::uintptr_t>(at) | reinterpret_cast<std::uintptr_t>(and_at) | 256));
  };
  const bool tf32 = c.dtype == DType::float32 && cuda::detail::tf32_allowed;
  const cuda::detail::MatmulForm form{types[int(c.dtype)],
                                      c.dtype == DType::float64 ? compute_64f
                                      : tf32                    ? compute_32f_fast_tf32
                                                                : compute_32f,
                                      b.transposed(),
                                      a.transposed(),
                                      bias != nullptr,
                                      op.accumulate,
                                      false,
                                      alignment(b.data()),
                                      alignment(a.data()),
                                      alignment(c.data, at_bias),
                                      n,
                                      m,
                                      k,
                                      batch,
                                      b.leading(),
                                      a.leading(),
                                      leading_dimension(m, c.strides[c.ndim - 2], n),
                                      b.stride(),
                                      a.stride(),
                                      batch_stride(c)};
  cuda::detail::run_matmul(ordinal, form, b.data(), a.data(), c.data, at_bias);
}

}}}  // namespace tern::detail::backend::cuda_kernels
