// Matrix products by cuBLASLt, which counts columns first: c = a b is computed as its transpose, cᵀ = bᵀ aᵀ. Integers have a kernel
// of our own.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../matmul.hpp"
#include "../../device/cuda/cublaslt.hpp"
#include "copy.hpp"
#include "map.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

/// One factor as cuBLASLt takes it: rows of adjacent elements `leading` apart, or columns.
struct Factor {
  const void* data;
  bool transposed;
  Index leading, stride;
};

/// The bytes of a row-major copy of a factor that has neither adjacent rows nor adjacent columns; else 0.
inline Index copy_bytes(Index batch, Index rows, Index columns, Index row, Index column, DType type) {
  const bool by_rows = (column == 1 || columns == 1) && (row >= columns || rows == 1);
  const bool by_columns = (row == 1 || rows == 1) && (column >= rows || columns == 1);
  return by_rows || by_columns ? 0 : batch * rows * columns * size_of(type);
}

/// A factor of `rows` x `columns`, copied to `room` if it cannot be taken as it lies.
inline Factor factor(int ordinal, DType type, const void* data, Index batch, Index rows, Index columns, Index row, Index column, Index stride,
                     char* room) {
  if (room) {
    Array from{}, to{};
    from.data = const_cast<char*>(static_cast<const char*>(data));
    from.ndim = 3;
    from.dims[0] = batch, from.dims[1] = rows, from.dims[2] = columns;
    from.numel = batch * rows * columns;
    from.dtype = type;
    from.ordinal = std::uint8_t(ordinal);
    to = from;
    from.strides[0] = stride, from.strides[1] = row, from.strides[2] = column;
    to.data = room;
    set_contiguous_strides(to);
    run<Cuda>(Copy{to, from});
    return {room, false, columns, rows * columns};
  }
  if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) return {data, false, std::max(row, columns), stride};
  return {data, true, std::max(column, rows), stride};
}

/// A product in any floating type, but for its epilogue.
[[gnu::noinline]] inline void run_matmul(DType type, const MatMul<char>& p) {
  using namespace tern::cuda;
  constexpr CudaType types[] = {type_32f, type_64f, type_16bf, type_16f};
  const Index b_batch = p.b_batch ? p.batch : 1, a_batch = p.a_batch ? p.batch : 1;
  const Index a_bytes = copy_bytes(a_batch, p.m, p.k, p.a_row, p.a_col, type), b_bytes = copy_bytes(b_batch, p.k, p.n, p.b_row, p.b_col, type);
  const cuda::detail::Scratch a_room(p.ordinal, std::size_t(a_bytes)), b_room(p.ordinal, std::size_t(b_bytes));
  const Factor a = factor(p.ordinal, type, p.a, a_batch, p.m, p.k, p.a_row, p.a_col, p.a_batch, a_room.data());
  const Factor b = factor(p.ordinal, type, p.b, b_batch, p.k, p.n, p.b_row, p.b_col, p.b_batch, b_room.data());
  std::uintptr_t addresses = 16;
  for (const void* address : {a.data, b.data, static_cast<const void*>(p.c), static_cast<const void*>(p.bias)})
    addresses |= reinterpret_cast<std::uintptr_t>(address);
  const bool tf32 = type == DType::float32 && cuda::detail::tf32_allowed;
  const cuda::detail::Product product{
      types[int(type)], type == DType::float64 ? compute_64f : tf32 ? compute_32f_fast_tf32 : compute_32f,
      b.transposed, a.transposed, p.bias != nullptr, p.accumulate, std::int32_t(addresses & -addresses),
      p.n, p.m, p.k, p.batch, b.leading, a.leading, std::max(p.c_row, p.n),
      p.b_batch ? b.stride : 0, p.a_batch ? a.stride : 0, p.c_batch};
  cuda::detail::run_product(p.ordinal, product, b.data, a.data, p.c, p.bias);
}

/// c as an array of batch x m x n.
template <class T> Array result_of(const MatMul<T>& p) {
  Array c{};
  c.data = reinterpret_cast<char*>(p.c);
  c.ndim = 3;
  c.dims[0] = p.batch, c.dims[1] = p.m, c.dims[2] = p.n;
  c.strides[0] = p.c_batch, c.strides[1] = p.c_row, c.strides[2] = 1;
  c.numel = p.batch * p.m * p.n;
  c.dtype = dtype_of<T>;
  c.ordinal = std::uint8_t(p.ordinal);
  return c;
}

}  // namespace cuda_kernels

template <class T>
  requires is_floating_v<T>
void matmul(Cuda, const MatMul<T>& p) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  const Array c = cuda_kernels::result_of(p);
  const Array* const in[] = {&c};
  // cuBLASLt adds no bias to a product of doubles, and knows no product of nothing.
  const bool plain = p.k > 0 && !std::is_same_v<T, double>;
  if (p.k == 0) {
    if (!p.accumulate) run<Cuda>(Fill<T>{c, 0});
  } else {
    MatMul<char> q{p.batch, p.m, p.n, p.k};
    q.a = reinterpret_cast<const char*>(p.a), q.a_row = p.a_row, q.a_col = p.a_col, q.a_batch = p.a_batch;
    q.b = reinterpret_cast<const char*>(p.b), q.b_row = p.b_row, q.b_col = p.b_col, q.b_batch = p.b_batch;
    q.c = reinterpret_cast<char*>(p.c), q.c_row = p.c_row, q.c_batch = p.c_batch;
    if (plain) q.bias = reinterpret_cast<const char*>(p.bias);
    q.accumulate = p.accumulate, q.ordinal = p.ordinal;
    cuda_kernels::run_matmul(dtype_of<T>, q);
  }
  if (p.bias && !plain) {
    Array bias{};
    bias.data = reinterpret_cast<char*>(const_cast<T*>(p.bias));
    bias.ndim = 1;
    bias.dims[0] = bias.numel = p.n;
    bias.strides[0] = 1;
    bias.dtype = c.dtype;
    bias.ordinal = c.ordinal;
    const Array* const terms[] = {&c, &bias};
    run<Cuda, T, T, T>(Map([](auto x, auto y) { return x + y; }, c, terms));
  }
  // Not cuBLASLt's: its relu loses NaN, its gelu is the approximation by tanh.
  if (p.epilogue == Epilogue::relu) run<Cuda, T, T>(Map([](auto x) { return where(x < 0, 0, x); }, c, in));
  if (p.epilogue == Epilogue::gelu) run<Cuda, T, T>(Map([](auto x) { return x * (0.5 * (1 + erf(x * 0.7071067811865476))); }, c, in));
}

}  // namespace backend
}  // namespace tern
