// libcublasLt: choosing an algorithm, and the product as work on a stream.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "call.hpp"
#include "cublaslt.hpp"
#include "exports.hpp"
#include "heap.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace {

// What an emulated algorithm keeps in cublasLtMatmulAlgo_t: a mark, the workspace it needs, alignments it counts on,
// and which of the algorithms it is. The heuristic does not know their times, and puts the second fastest first.
constexpr std::uint64_t algo_mark = 0x7465726e616c676f;
constexpr std::size_t wanted_workspace = 64 << 10;

constexpr double algo_time[] = {1, 3, 0.5};

cublasLtMatmulAlgo_t make_algo(std::uint64_t which, std::size_t workspace, const std::uint32_t (&alignment)[4]) {
  return {{algo_mark, workspace, alignment[0], alignment[1], alignment[2], alignment[3], which}};
}

// The descriptors together; false, after refuse(), if one does not exist.
bool gather(Product& product, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
            cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  if (is_live(desc) && is_live(a) && is_live(b) && is_live(c) && is_live(d)) {
    product = {*desc, *a, *b, *c, *d};
    return true;
  }
  refuse(CUBLAS_STATUS_INVALID_VALUE, "a descriptor is missing or was destroyed", page::matmul);
  return false;
}

int check_pointer(const char* name, const void* pointer, std::size_t bytes, std::uint64_t alignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!pointer) return refuse(CUBLAS_STATUS_INVALID_VALUE, std::string(name) + " is null", page::matmul);
  if (address % alignment)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED,
                  std::string(name) + " at " + hex(address) + " is not aligned to the " + std::to_string(alignment) +
                      " bytes that the algorithm was chosen for",
                  page::preference);
  const Allocation* a = device_heap().find(address, bytes);
  if (a && !a->doomed) return CUBLAS_STATUS_SUCCESS;
  return refuse(CUBLAS_STATUS_INVALID_VALUE,
                std::string(name) + ": " + std::to_string(bytes) + " bytes at " + hex(address) +
                    " are not inside one device allocation",
                page::matmul);
}

double rate_of(const MatmulDesc& desc, std::uint32_t type) {
  const Settings& s = settings();
  switch (desc.compute_type) {
    case CUBLAS_COMPUTE_64F: return s.float64;
    case CUBLAS_COMPUTE_32I: return s.int8;
    case CUBLAS_COMPUTE_32F_FAST_TF32: return s.tf32;
    default: return type == CUDA_R_32F ? s.float32 : s.float16;
  }
}

// "Tensor Core usage": matrices of 16 bits are multiplied fastest where their lines begin and end at multiples of 16
// bytes.
constexpr double unaligned_slowdown = 4;
double slowdown(const Product& p) {
  if (element_bytes(p.a.type) != 2) return 1;
  for (const MatrixLayout* layout : {&p.a, &p.b, &p.d}) {
    const bool rows = layout->order == CUBLASLT_ORDER_ROW;
    if (layout->ld % 8 || (rows ? layout->cols : layout->rows) % 8) return unaligned_slowdown;
  }
  return 1;
}

// By arithmetic or by memory, whichever takes longer.
std::uint64_t product_ns(const Product& p, const cublasLtMatmulAlgo_t& algo, bool reads_c) {
  const double k = static_cast<double>(p.desc.transa != CUBLAS_OP_N ? p.a.rows : p.a.cols);
  const double operations = 2 * k * static_cast<double>(p.d.rows) * static_cast<double>(p.d.cols) * p.d.batch_count;
  const double arithmetic = slowdown(p) * operations / rate_of(p.desc, p.a.type);
  const double bytes = static_cast<double>(extent(p.a) + extent(p.b) + extent(p.d) + (reads_c ? extent(p.c) : 0));
  return static_cast<std::uint64_t>(
      std::ceil(settings().kernel_ns + algo_time[algo.data[6]] * std::max(arithmetic, bytes / settings().memory_rate)));
}

// The pointers of a call.
struct Pointers {
  const void *alpha, *a, *b, *beta, *c;
  void *d, *workspace;
  std::size_t workspace_bytes;
};

std::size_t bias_extent(const Product& p) {
  const auto strides = static_cast<std::uint64_t>((p.d.batch_count - 1) * p.desc.bias_batch_stride);
  return (strides + p.d.rows) * element_bytes(p.d.type);
}

int check_pointers(const Product& p, const Pointers& at, const cublasLtMatmulAlgo_t& algo, bool reads_c) {
  const std::uint64_t* alignment = algo.data + 2;
  if (const int status = check_pointer("A", at.a, extent(p.a), alignment[0])) return status;
  if (const int status = check_pointer("B", at.b, extent(p.b), alignment[1])) return status;
  if (reads_c)
    if (const int status = check_pointer("C", at.c, extent(p.c), alignment[2])) return status;
  if (const int status = check_pointer("D", at.d, extent(p.d), alignment[3])) return status;
  if (at.workspace_bytes < algo.data[1])
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "the algorithm needs a workspace of " + std::to_string(algo.data[1]) + " bytes", page::matmul);
  if (at.workspace_bytes)
    if (const int status = check_pointer("the workspace", at.workspace, at.workspace_bytes, 16)) return status;
  if (!(p.desc.epilogue & CUBLASLT_EPILOGUE_BIAS)) return CUBLAS_STATUS_SUCCESS;
  return check_pointer("the bias", p.desc.bias, bias_extent(p), element_bytes(p.d.type));
}

char* reach_pointer(const void* pointer, std::size_t bytes, const char* what) {
  return reach(reinterpret_cast<std::uintptr_t>(pointer), bytes, what);
}

// The product, when its turn comes. alpha and beta: as the pointer mode says.
int run(const Product& p, const Pointers& at, const void* alpha, const void* beta, bool reads_c) {
  Operands o{};
  o.a = reach_pointer(at.a, extent(p.a), "cublasLt's A");
  o.b = reach_pointer(at.b, extent(p.b), "cublasLt's B");
  o.d = reach_pointer(at.d, extent(p.d), "cublasLt's D");
  if (!o.a || !o.b || !o.d || !alpha || !beta) return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (reads_c && !(o.c = reach_pointer(at.c, extent(p.c), "cublasLt's C"))) return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (p.desc.epilogue & CUBLASLT_EPILOGUE_BIAS &&
      !(o.bias = reach_pointer(p.desc.bias, bias_extent(p), "cublasLt's bias")))
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (at.workspace_bytes) {
    char* workspace = reach_pointer(at.workspace, at.workspace_bytes, "cublasLt's workspace");
    if (!workspace) return CUDA_ERROR_ILLEGAL_ADDRESS;
    std::memset(workspace, 0xa5, at.workspace_bytes);  // it is cublasLt's to overwrite
  }
  compute_product(p, alpha, beta, o);
  return CUDA_SUCCESS;
}

bool is_zero(const void* beta, int scale_type) {
  static constexpr char zeros[8] = {};
  return !std::memcmp(beta, zeros, element_bytes(static_cast<std::uint32_t>(scale_type)));
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned) {
  EMULATED_CALL(CUBLAS_STATUS_NOT_SUPPORTED);
  *returned = 0;
  if (!is_live(handle)) return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "no such handle", page::matmul_heuristic);
  if (requested < 1 || !is_live(preference))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no results requested, or no preference", page::matmul_heuristic);
  Product product;
  if (!gather(product, desc, a, b, c, d)) return CUBLAS_STATUS_INVALID_VALUE;
  if (const int status = check_product(product)) return status;
  const std::size_t workspace = std::min<std::size_t>(preference->workspace, wanted_workspace);
  for (; *returned < std::min<int>(requested, std::size(algo_time)); ++*returned)
    results[*returned] = {make_algo(static_cast<std::uint64_t>(*returned), workspace, preference->alignment),
                          workspace,
                          CUBLAS_STATUS_SUCCESS,
                          1.0f,
                          {}};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              std::size_t workspace_bytes, CUstream stream) {
  EMULATED_CALL(CUBLAS_STATUS_EXECUTION_FAILED);
  if (!is_live(handle)) return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "no such handle", page::matmul);
  Context* current = current_context();
  if (!current || !current->retained || current->sticky) return CUBLAS_STATUS_EXECUTION_FAILED;
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return CUBLAS_STATUS_EXECUTION_FAILED;
  Product p;
  if (!gather(p, desc, a_layout, b_layout, c_layout, d_layout)) return CUBLAS_STATUS_INVALID_VALUE;
  if ((status = check_product(p))) return status;
  if (!alpha || !beta) return refuse(CUBLAS_STATUS_INVALID_VALUE, "alpha or beta is null", page::matmul);
  const bool on_host = p.desc.pointer_mode == CUBLASLT_POINTER_MODE_HOST;
  const bool reads_c = !on_host || !is_zero(beta, p.desc.scale_type);
  // Without an algorithm one is looked up with the default preferences.
  const cublasLtMatmulAlgo_t chosen = algo ? *algo : make_algo(0, 0, MatmulPreference{}.alignment);
  if (chosen.data[0] != algo_mark || chosen.data[6] >= std::size(algo_time))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "not an algorithm of cublasLtMatmulAlgoGetHeuristic", page::matmul);
  const Pointers at{alpha, a, b, beta, c, d, workspace, workspace_bytes};
  if ((status = check_pointers(p, at, chosen, reads_c))) return status;

  Work work;
  work.engine = Engine::compute;
  work.ns = product_ns(p, chosen, reads_c);
  for (const void* pointer :
       {a, b, reads_c ? c : nullptr, static_cast<const void*>(d), static_cast<const void*>(workspace), p.desc.bias})
    if (const Allocation* found = device_heap().find(reinterpret_cast<std::uintptr_t>(pointer)))
      work.uses.push_back(found->address);
  if (on_host) {  // alpha and beta are read now
    double scales[2] = {};
    const std::size_t bytes = element_bytes(static_cast<std::uint32_t>(p.desc.scale_type));
    std::memcpy(&scales[0], alpha, bytes);
    std::memcpy(&scales[1], beta, bytes);
    work.run = [p, at, al = scales[0], be = scales[1], reads_c] { return run(p, at, &al, &be, reads_c); };
  } else {
    work.run = [p, at, reads_c] {
      const std::size_t bytes = element_bytes(static_cast<std::uint32_t>(p.desc.scale_type));
      return run(p, at, reach_pointer(at.alpha, bytes, "alpha"), reach_pointer(at.beta, bytes, "beta"), reads_c);
    };
  }
  return enqueue(*s, std::move(work)) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
