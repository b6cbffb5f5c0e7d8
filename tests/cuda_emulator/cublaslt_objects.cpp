// libcublasLt: handles and descriptors.
#include <cstring>

#include "call.hpp"
#include "cublaslt.hpp"
#include "exports.hpp"
#include "own_version.hpp"
#include "settings.hpp"

using namespace emulator;
using namespace abi;

namespace {

int no_such_object() {
  return refuse(CUBLAS_STATUS_INVALID_VALUE, "no such object, or it was destroyed", page::matmul);
}

// Sets an attribute whose value has the size of the field.
template <class T>
int set(T& field, const void* value, std::size_t size, const char* page) {
  if (!value || size != sizeof field)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "the attribute has " + std::to_string(sizeof field) + " bytes", page);
  std::memcpy(&field, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

int unknown_attribute(int attribute, const char* page) {
  return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "attribute " + std::to_string(attribute) + " is not emulated", page);
}

template <class T>
int destroy(T* object) {
  if (!is_live(object)) return no_such_object();
  remove_live(object);
  delete object;
  return CUBLAS_STATUS_SUCCESS;
}

const char* status_name(cublasStatus_t status) {
#define STATUS_NAME(name, value) \
  if (status == (value)) return #name;
  STATUS_NAME(CUBLAS_STATUS_SUCCESS, 0)
  STATUS_NAME(CUBLAS_STATUS_NOT_INITIALIZED, 1)
  STATUS_NAME(CUBLAS_STATUS_ALLOC_FAILED, 3)
  STATUS_NAME(CUBLAS_STATUS_INVALID_VALUE, 7)
  STATUS_NAME(CUBLAS_STATUS_ARCH_MISMATCH, 8)
  STATUS_NAME(CUBLAS_STATUS_EXECUTION_FAILED, 13)
  STATUS_NAME(CUBLAS_STATUS_INTERNAL_ERROR, 14)
  STATUS_NAME(CUBLAS_STATUS_NOT_SUPPORTED, 15)
#undef STATUS_NAME
  return "CUBLAS_STATUS unknown";
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return static_cast<std::size_t>(own_cuda_version()) * 10000; }
const char* cublasLtGetStatusName(cublasStatus_t status) { return status_name(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return status_name(status); }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  EMULATED_CALL(CUBLAS_STATUS_ALLOC_FAILED);
  const Context* current = current_context();
  if (!state().initialised || !current || !current->retained)
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "the thread has no current context", page::matmul);
  if (own_cuda_version() > static_cast<int>(settings().driver) / 1000)
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "of a later CUDA than the driver's", page::compatibility);
  open_library("cublasLt");
  *handle = new cublasLtContext;
  add_live("cublasLt", *handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  EMULATED_CALL(CUBLAS_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(handle));
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, int compute_type, int scale_type) {
  EMULATED_CALL(CUBLAS_STATUS_ALLOC_FAILED);
  *desc = new MatmulDesc{compute_type, scale_type};
  add_live("matmul desc", *desc);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  EMULATED_CALL(CUBLAS_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(desc));
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, int attribute, const void* value,
                                              std::size_t size) {
  EMULATED_CALL(CUBLAS_STATUS_INTERNAL_ERROR);
  if (!is_live(desc)) return no_such_object();
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return set(desc->compute_type, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return set(desc->scale_type, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return set(desc->pointer_mode, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(desc->transa, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(desc->transb, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(desc->epilogue, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(desc->bias, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return set(desc->bias_batch_stride, value, size, page::matmul_desc);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return set(desc->bias_type, value, size, page::matmul_desc);
    default: return unknown_attribute(attribute, page::matmul_desc);
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, int type, std::uint64_t rows,
                                          std::uint64_t cols, std::int64_t ld) {
  EMULATED_CALL(CUBLAS_STATUS_ALLOC_FAILED);
  *layout = new MatrixLayout{static_cast<std::uint32_t>(type), rows, cols, ld};
  add_live("matrix layout", *layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  EMULATED_CALL(CUBLAS_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(layout));
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, int attribute, const void* value,
                                                std::size_t size) {
  EMULATED_CALL(CUBLAS_STATUS_INTERNAL_ERROR);
  if (!is_live(layout)) return no_such_object();
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return set(layout->type, value, size, page::matrix_layout);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return set(layout->order, value, size, page::matrix_layout);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return set(layout->rows, value, size, page::matrix_layout);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return set(layout->cols, value, size, page::matrix_layout);
    case CUBLASLT_MATRIX_LAYOUT_LD: return set(layout->ld, value, size, page::matrix_layout);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(layout->batch_count, value, size, page::matrix_layout);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return set(layout->batch_stride, value, size, page::matrix_layout);
    default: return unknown_attribute(attribute, page::matrix_layout);
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  EMULATED_CALL(CUBLAS_STATUS_ALLOC_FAILED);
  *preference = new MatmulPreference;
  add_live("preference", *preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  EMULATED_CALL(CUBLAS_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(preference));
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, int attribute,
                                                    const void* value, std::size_t size) {
  EMULATED_CALL(CUBLAS_STATUS_INTERNAL_ERROR);
  if (!is_live(preference)) return no_such_object();
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE: return set(preference->search_mode, value, size, page::preference);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return set(preference->reduction_scheme, value, size, page::preference);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return set(preference->workspace, value, size, page::preference);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, size,
                 page::preference);
    default: return unknown_attribute(attribute, page::preference);
  }
}

}  // extern "C"
