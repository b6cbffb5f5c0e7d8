// Matrix products from their descriptors. Operands are brought to row-major arrays of the accumulator's type first.
#include <cmath>
#include <cstring>
#include <vector>

#include "cublaslt.hpp"
#include "small_floats.hpp"

namespace emulator {

namespace {

using namespace abi;

std::size_t index_of(const MatrixLayout& layout, std::size_t row, std::size_t col) {
  return layout.order == CUBLASLT_ORDER_ROW ? row * layout.ld + col : col * layout.ld + row;
}

template <class T>
T element(const char* data, std::size_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof value, sizeof value);
  return value;
}

template <class A>
A read(std::uint32_t type, const char* data, std::size_t i) {
  switch (type) {
    case CUDA_R_64F: return static_cast<A>(element<double>(data, i));
    case CUDA_R_32F: return static_cast<A>(element<float>(data, i));
    case CUDA_R_16F: return static_cast<A>(half_to_float(element<std::uint16_t>(data, i)));
    case CUDA_R_16BF: return static_cast<A>(bfloat16_to_float(element<std::uint16_t>(data, i)));
    case CUDA_R_32I: return static_cast<A>(element<std::int32_t>(data, i));
    default: return static_cast<A>(element<std::int8_t>(data, i));
  }
}

template <class T>
void put(char* data, std::size_t i, T value) {
  std::memcpy(data + i * sizeof value, &value, sizeof value);
}

template <class A>
void write(std::uint32_t type, char* data, std::size_t i, A value) {
  switch (type) {
    case CUDA_R_64F: put(data, i, static_cast<double>(value)); break;
    case CUDA_R_32F: put(data, i, static_cast<float>(value)); break;
    case CUDA_R_16F: put(data, i, float_to_half(static_cast<float>(value))); break;
    case CUDA_R_16BF: put(data, i, float_to_bfloat16(static_cast<float>(value))); break;
    default: put(data, i, static_cast<std::int32_t>(value)); break;
  }
}

// op(matrix) of one batch as a row-major array.
template <class A>
std::vector<A> gather(const MatrixLayout& layout, bool transposed, const char* data, bool tf32) {
  const std::size_t rows = transposed ? layout.cols : layout.rows, cols = transposed ? layout.rows : layout.cols;
  std::vector<A> out(rows * cols);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) {
      A value = read<A>(layout.type, data, transposed ? index_of(layout, j, i) : index_of(layout, i, j));
      if (tf32) value = static_cast<A>(round_to_tf32(static_cast<float>(value)));
      out[i * cols + j] = value;
    }
  return out;
}

template <class A>
A activate(std::uint32_t epilogue, A x) {
  if (epilogue & CUBLASLT_EPILOGUE_RELU) return x > A(0) ? x : A(0);
  if (!(epilogue & CUBLASLT_EPILOGUE_GELU)) return x;
  // cublasLt's GELU is the approximation by tanh.
  const double d = static_cast<double>(x), inner = 0.7978845608028654 * (d + 0.044715 * d * d * d);
  return static_cast<A>(0.5 * d * (1 + std::tanh(inner)));
}

template <class A>
void compute_batch(const Product& p, A alpha, A beta, const Operands& o) {
  const bool ta = p.desc.transa != CUBLAS_OP_N, tb = p.desc.transb != CUBLAS_OP_N;
  const bool tf32 = p.desc.compute_type == CUBLAS_COMPUTE_32F_FAST_TF32;
  const std::size_t m = p.d.rows, n = p.d.cols, k = ta ? p.a.rows : p.a.cols;
  const std::vector<A> a = gather<A>(p.a, ta, o.a, tf32), b = gather<A>(p.b, tb, o.b, tf32);
  std::vector<A> row(n);
  for (std::size_t i = 0; i < m; ++i) {
    row.assign(n, A(0));
    for (std::size_t l = 0; l < k; ++l) {
      const A x = a[i * k + l];
      const A* y = &b[l * n];
      for (std::size_t j = 0; j < n; ++j) row[j] += x * y[j];
    }
    const A bias = o.bias ? read<A>(p.d.type, o.bias, i) : A(0);
    for (std::size_t j = 0; j < n; ++j) {
      A value = alpha * row[j] + bias;
      if (o.c) value += beta * read<A>(p.c.type, o.c, index_of(p.c, i, j));  // not read where beta is 0
      write(p.d.type, o.d, index_of(p.d, i, j), activate(p.desc.epilogue, value));
    }
  }
}

template <class A>
void compute(const Product& p, const void* alpha, const void* beta, Operands o) {
  const auto scale = [&](const void* from) { return read<A>(p.desc.scale_type, static_cast<const char*>(from), 0); };
  const A al = scale(alpha), be = scale(beta);
  if (be == A(0)) o.c = nullptr;
  const auto step = [](const MatrixLayout& layout) {
    return layout.batch_stride * static_cast<std::int64_t>(element_bytes(layout.type));
  };
  for (std::int32_t batch = 0; batch < p.d.batch_count; ++batch) {
    compute_batch(p, al, be, o);
    o.a += step(p.a);
    o.b += step(p.b);
    o.d += step(p.d);
    if (o.c) o.c += step(p.c);
    if (o.bias) o.bias += p.desc.bias_batch_stride * static_cast<std::int64_t>(element_bytes(p.d.type));
  }
}

}  // namespace

void compute_product(const Product& p, const void* alpha, const void* beta, const Operands& operands) {
  switch (p.desc.compute_type) {
    case CUBLAS_COMPUTE_64F: return compute<double>(p, alpha, beta, operands);
    case CUBLAS_COMPUTE_32I: return compute<std::int32_t>(p, alpha, beta, operands);
    default: return compute<float>(p, alpha, beta, operands);
  }
}

}  // namespace emulator
