// Which products cublasLt computes: the tables of cublasLtMatmul's documentation, as far as they are emulated.
#include <string>

#include "call.hpp"
#include "cublaslt.hpp"

namespace emulator {

namespace {

using namespace abi;

// A row of the table of supported types.
struct Types {
  int compute, scale, ab, cd;
};
constexpr Types supported[] = {
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I},
};

int check_types(const Product& p) {
  const int compute =
      p.desc.compute_type == CUBLAS_COMPUTE_32F_PEDANTIC ? int{CUBLAS_COMPUTE_32F} : p.desc.compute_type;
  const auto is = [](const MatrixLayout& layout, int type) { return layout.type == static_cast<unsigned>(type); };
  for (const Types& t : supported)
    if (compute == t.compute && p.desc.scale_type == t.scale && is(p.a, t.ab) && is(p.b, t.ab) && is(p.c, t.cd) &&
        is(p.d, t.cd))
      return CUBLAS_STATUS_SUCCESS;
  return refuse(CUBLAS_STATUS_NOT_SUPPORTED,
                "compute type " + std::to_string(p.desc.compute_type) + ", scale type " +
                    std::to_string(p.desc.scale_type) + " with A " + std::to_string(p.a.type) + ", B " +
                    std::to_string(p.b.type) + ", C " + std::to_string(p.c.type) + ", D " + std::to_string(p.d.type),
                page::matmul);
}

int check_layout(const MatrixLayout& layout, const char* name) {
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, std::string(name) + ": only column and row order are emulated",
                  page::matrix_layout);
  const std::uint64_t line = layout.order == CUBLASLT_ORDER_ROW ? layout.cols : layout.rows;
  if (!layout.rows || !layout.cols || layout.ld < static_cast<std::int64_t>(line))
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  std::string(name) + ": " + std::to_string(layout.rows) + " x " + std::to_string(layout.cols) +
                      " with leading dimension " + std::to_string(layout.ld),
                  page::matrix_layout);
  if (layout.batch_count < 1) return refuse(CUBLAS_STATUS_INVALID_VALUE, "no batch", page::matrix_layout);
  // Not in the documentation (reported in tensorflow#44175 and pytorch#73533).
  if (layout.batch_count > 65535)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "a batch of " + std::to_string(layout.batch_count), page::matrix_layout);
  return CUBLAS_STATUS_SUCCESS;
}

int check_shapes(const Product& p) {
  const bool ta = p.desc.transa != CUBLAS_OP_N, tb = p.desc.transb != CUBLAS_OP_N;
  const std::uint64_t m = ta ? p.a.cols : p.a.rows, k = ta ? p.a.rows : p.a.cols;
  const std::uint64_t kb = tb ? p.b.cols : p.b.rows, n = tb ? p.b.rows : p.b.cols;
  if (k != kb || p.c.rows != m || p.c.cols != n || p.d.rows != m || p.d.cols != n)
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "op(A) is " + std::to_string(m) + " x " + std::to_string(k) + ", op(B) " + std::to_string(kb) +
                      " x " + std::to_string(n) + ", D " + std::to_string(p.d.rows) + " x " + std::to_string(p.d.cols),
                  page::matmul);
  if (p.a.batch_count != p.d.batch_count || p.b.batch_count != p.d.batch_count || p.c.batch_count != p.d.batch_count)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "the batch counts differ", page::matrix_layout);
  return CUBLAS_STATUS_SUCCESS;
}

int check_epilogue(const Product& p) {
  switch (p.desc.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS: break;
    default:
      return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "epilogue " + std::to_string(p.desc.epilogue) + " is not emulated",
                    page::epilogue);
  }
  if (p.desc.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_SUCCESS;
  if (p.d.type == CUDA_R_64F || p.d.type == CUDA_R_32I)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "epilogues are for 16- and 32-bit floating point", page::epilogue);
  if (!(p.desc.epilogue & CUBLASLT_EPILOGUE_BIAS)) return CUBLAS_STATUS_SUCCESS;
  // The bias goes along D's rows; there is no kernel for a D in row order (reported in mlx#2569 and luminal#436).
  if (p.d.order == CUBLASLT_ORDER_ROW)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "a bias with D in row order", page::epilogue);
  if (p.desc.bias_type >= 0 && p.desc.bias_type != static_cast<int>(p.d.type))
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "a bias of another type than D", page::matmul_desc);
  return CUBLAS_STATUS_SUCCESS;
}

// "To use IMMA kernels": A transposed, B not, everything a multiple of 4.
int check_integers(const Product& p) {
  if (p.desc.compute_type != CUBLAS_COMPUTE_32I) return CUBLAS_STATUS_SUCCESS;
  const bool columns =
      p.a.order == CUBLASLT_ORDER_COL && p.b.order == CUBLASLT_ORDER_COL && p.d.order == CUBLASLT_ORDER_COL;
  if (!columns || p.desc.transa != CUBLAS_OP_T || p.desc.transb != CUBLAS_OP_N || p.a.ld % 4 || p.b.ld % 4 ||
      p.d.ld % 4 || p.a.rows % 4 || p.d.rows % 4)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED,
                  "8-bit integers need column order, A transposed and not B, and multiples of 4", page::matmul);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

std::size_t element_bytes(std::uint32_t type) {
  switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_8I: return 1;
    default: return 0;
  }
}

std::size_t extent(const abi::MatrixLayout& layout) {
  const bool rows = layout.order == CUBLASLT_ORDER_ROW;
  const std::uint64_t lines = rows ? layout.rows : layout.cols, line = rows ? layout.cols : layout.rows;
  const std::uint64_t one = (lines - 1) * static_cast<std::uint64_t>(layout.ld) + line;
  return element_bytes(layout.type) * (static_cast<std::uint64_t>(layout.batch_count - 1) * layout.batch_stride + one);
}

int check_product(const Product& p) {
  if (p.desc.pointer_mode != CUBLASLT_POINTER_MODE_HOST && p.desc.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "this pointer mode is not emulated", page::matmul_desc);
  const char* names[] = {"A", "B", "C", "D"};
  const MatrixLayout* layouts[] = {&p.a, &p.b, &p.c, &p.d};
  for (int i = 0; i < 4; ++i)
    if (const int status = check_layout(*layouts[i], names[i])) return status;
  if (const int status = check_types(p)) return status;
  if (const int status = check_shapes(p)) return status;
  if (const int status = check_epilogue(p)) return status;
  return check_integers(p);
}

}  // namespace emulator
