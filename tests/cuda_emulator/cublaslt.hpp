// What cublasLt's handles point to, and which products it computes.
#pragma once
#include <cstdint>

#include "abi.hpp"

namespace abi {

struct cublasLtContext {};

struct MatmulDesc {
  std::int32_t compute_type, scale_type;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST, transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::int64_t bias_batch_stride = 0;
  std::int32_t bias_type = -1;  // D's
};

struct MatrixLayout {
  std::uint32_t type;
  std::uint64_t rows, cols;
  std::int64_t ld;
  std::int32_t order = CUBLASLT_ORDER_COL, batch_count = 1;
  std::int64_t batch_stride = 0;
};

struct MatmulPreference {
  std::uint32_t search_mode = 0, reduction_scheme = ~0u;
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C, D
};

}  // namespace abi

namespace emulator {

/// D = alpha op(A) op(B) + beta C, then the epilogue.
struct Product {
  abi::MatmulDesc desc;
  abi::MatrixLayout a, b, c, d;
};

/// Whether cublasLt computes it. Returns a cublasStatus_t, after refuse().
int check_product(const Product& product);

/// Bytes of an element of a type; 0 for a type that is not emulated.
std::size_t element_bytes(std::uint32_t type);
/// Bytes from the first element of a matrix to the end of its last.
std::size_t extent(const abi::MatrixLayout& layout);

/// Where the operands lie, as the emulator reaches them; null where there is none.
struct Operands {
  const char *a, *b, *c, *bias;
  char* d;
};

/// Computes it by plain loops. alpha and beta are in the scale type.
void compute_product(const Product& product, const void* alpha, const void* beta, const Operands& operands);

}  // namespace emulator
