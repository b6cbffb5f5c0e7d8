// cuBLASLt's objects, one layer above its C functions.
#pragma once
#include "../../core/keyed_cache.hpp"
#include "memory.hpp"
#include "span.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {
extern TERN_API constinit std::atomic<bool> tf32_allowed;

/// Error that names the function and quotes the library's own text for the status.
inline void check_cublaslt(const char* function, int status) {
  if (status) [[unlikely]]
    Error::fail("cuda", {function, ": ", cublaslt().functions.cublasLtGetStatusString(status)});
}

#define TERN_CUBLASLT(function, ...) \
  ::tern::cuda::detail::check_cublaslt(#function, ::tern::cuda::cublaslt().functions.function(__VA_ARGS__))

TERN_API void note_cublaslt(const char* function, int status);

/// Owns one of cuBLASLt's objects and destroys it.
#define TERN_CUBLASLT_OWNED(Name, Handle, destroy)                               \
  struct Name {                                                                  \
    Handle handle = nullptr;                                                     \
    Name() = default;                                                            \
    [[gnu::noinline, gnu::cold]] ~Name() {                                       \
      if (handle) note_cublaslt(#destroy, cublaslt().functions.destroy(handle)); \
    }                                                                            \
    Name(const Name&) = delete;                                                  \
    Name& operator=(const Name&) = delete;                                       \
  };
TERN_CUBLASLT_OWNED(OwnedMatmulDesc, MatmulDesc, cublasLtMatmulDescDestroy)
TERN_CUBLASLT_OWNED(OwnedMatrixLayout, MatrixLayout, cublasLtMatrixLayoutDestroy)
TERN_CUBLASLT_OWNED(OwnedMatmulPreference, MatmulPreference, cublasLtMatmulPreferenceDestroy)
#undef TERN_CUBLASLT_OWNED

/// A column-major product d = epilogue(op(a) op(b) + beta c), where c is d. timed: by the algorithm that was the
/// fastest.
struct MatmulForm {
  CudaType type;
  CublasCompute compute;
  bool transpose_a, transpose_b, bias, accumulate, timed;
  std::uint8_t a_alignment, b_alignment,
      d_alignment;  // the binary logarithms of bytes that divide an address; the bias's counts as d's
  Index m, n, k, batch;
  Index a_leading, b_leading, d_leading, a_stride, b_stride, d_stride;

  Index element_bytes() const { return type == type_64f ? 8 : type == type_32f ? 4 : 2; }
  bool operator==(const MatmulForm&) const = default;
  std::uint64_t hash() const { return tern::detail::hash_fields(*this); }
};

/// The descriptors of a product, and its algorithm with the workspace that it needs: the one that the library's
/// heuristic puts first, or the fastest of those that it proposes. One thread at a time uses a plan.
class TERN_API MatmulPlan {
 public:
  MatmulPlan(CublasLt handle, const MatmulForm& p);

  const MatmulForm& key() const { return form_; }

  void run(CublasLt handle, int ordinal, StreamHandle stream, const void* a, const void* b, void* d, const void* bias);

 private:
  template <class Value>
  void set(MatmulDescAttribute attribute, Value value) {
    TERN_CUBLASLT(cublasLtMatmulDescSetAttribute, desc_.handle, attribute, &value, sizeof value);
  }
  /// Leaves the fastest proposal. They write to d, or, if they would add to it, elsewhere. The host waits.
  void choose(CublasLt handle, int ordinal, StreamHandle stream, const void* a, const void* b, void* d);
  /// Queues the product. Returns the library's status.
  int start(CublasLt handle, StreamHandle stream, const MatmulHeuristic& algorithm, void* workspace, const void* a,
            const void* b, void* d) const;
  void describe(OwnedMatrixLayout& layout, Index rows, Index columns, Index leading, Index stride) const;

  const MatmulForm form_;
  OwnedMatmulDesc desc_;
  OwnedMatrixLayout a_, b_, d_;
  static constexpr int most_proposals = 8;
  MatmulHeuristic proposals_[most_proposals] = {};
  int count_ = 0;
};

TERN_API HandlePool& cublaslt_handles();

/// The plans for one device.
inline tern::detail::KeyedCache<MatmulPlan, MatmulForm>& matmul_plans(int ordinal) {
  using Plans = tern::detail::KeyedCache<MatmulPlan, MatmulForm>;
  static std::vector<Plans>& all = *new std::vector<Plans>(system().devices.size());
  return all[std::size_t(ordinal)];
}

/// Runs a product on the device's stream, in parts if the batch is large.
TERN_API void run_matmul(int ordinal, const MatmulForm& p, const void* a, const void* b, void* d, const void* bias);

}  // namespace detail

/// Lets products of float, attention's among them, use TF32, which has 10 bits of mantissa:
/// torch.backends.cuda.matmul.allow_tf32. Off by default.
inline void allow_tf32_matmul(bool on) { detail::tf32_allowed = on; }

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "cublaslt.ipp"
#endif
