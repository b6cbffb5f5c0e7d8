// cuBLASLt's objects, one layer above its C functions.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../core/keyed_cache.hpp"
#include "memory.hpp"
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {
inline constinit std::atomic<bool> tf32_allowed{false};

/// Error naming the function and the library's own text for the status.
inline void check_cublaslt(const char* function, int status) {
  if (status) [[unlikely]] fail("cuda", {function, ": ", cublaslt().functions.cublasLtGetStatusString(status)});
}

#define TERN_CUBLASLT(function, ...) \
  ::tern::cuda::detail::check_cublaslt(#function, ::tern::cuda::cublaslt().functions.function(__VA_ARGS__))

[[gnu::noinline, gnu::cold]] inline void note_cublaslt(const char* function, int status) {
  if (status) note_failure(function, cublaslt().functions.cublasLtGetStatusString(status), "");
}

/// A handle of one of cuBLASLt's objects, released with its owner.
#define TERN_CUBLASLT_OWNED(Name, Handle, destroy)                                        \
  struct Name {                                                                           \
    Handle handle = nullptr;                                                              \
    Name() = default;                                                                     \
    [[gnu::noinline, gnu::cold]] ~Name() {                                                \
      if (handle) note_cublaslt(#destroy, cublaslt().functions.destroy(handle));          \
    }                                                                                     \
    Name(const Name&) = delete;                                                           \
    Name& operator=(const Name&) = delete;                                                \
  };
TERN_CUBLASLT_OWNED(OwnedMatmulDesc, MatmulDesc, cublasLtMatmulDescDestroy)
TERN_CUBLASLT_OWNED(OwnedMatrixLayout, MatrixLayout, cublasLtMatrixLayoutDestroy)
TERN_CUBLASLT_OWNED(OwnedMatmulPreference, MatmulPreference, cublasLtMatmulPreferenceDestroy)
#undef TERN_CUBLASLT_OWNED

/// A column-major product d = epilogue(op(a) op(b) + beta c), c being d.
struct Product {
  CudaType type;
  CublasCompute compute;
  bool transpose_a, transpose_b, bias, accumulate;
  std::int32_t alignment;  // a power of two that divides all addresses
  Index m, n, k, batch;
  Index a_leading, b_leading, d_leading, a_stride, b_stride, d_stride;

  bool operator==(const Product&) const = default;
  std::uint64_t hash() const { return tern::detail::hash_fields(*this); }
};

/// What a product of one form is run with, by one thread at a time: descriptions, the algorithm that the library's own rules choose,
/// and how much workspace that needs.
class ProductPlan {
 public:
  [[gnu::noinline, gnu::cold]] ProductPlan(CublasLt handle, const Product& p) : product_(p) {
    const CudaType scale = p.type == type_64f ? type_64f : type_32f;
    TERN_CUBLASLT(cublasLtMatmulDescCreate, &desc_.handle, p.compute, scale);
    set(desc_transpose_a, std::int32_t(p.transpose_a));
    set(desc_transpose_b, std::int32_t(p.transpose_b));
    set(desc_epilogue, std::uint32_t(p.bias ? epilogue_bias : epilogue_none));
    describe(a_, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.a_leading, p.a_stride);
    describe(b_, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.b_leading, p.b_stride);
    describe(d_, p.m, p.n, p.d_leading, p.d_stride);
    OwnedMatmulPreference preference;
    TERN_CUBLASLT(cublasLtMatmulPreferenceCreate, &preference.handle);
    const std::uint64_t workspace = std::uint64_t(32) << 20;
    const std::uint32_t alignment = p.alignment;
    const auto prefer = [&](MatmulPreferenceAttribute attribute, const auto& value) {
      TERN_CUBLASLT(cublasLtMatmulPreferenceSetAttribute, preference.handle, attribute, &value, sizeof value);
    };
    prefer(preference_workspace_bytes, workspace);
    for (const auto attribute : {preference_alignment_a, preference_alignment_b, preference_alignment_c, preference_alignment_d})
      prefer(attribute, alignment);
    MatmulHeuristic best{};
    int found = 0;
    TERN_CUBLASLT(cublasLtMatmulAlgoGetHeuristic, handle, desc_.handle, a_.handle, b_.handle, d_.handle, d_.handle, preference.handle,
                  1, &best, &found);
    if (!found) fail("cuda", {"cuBLASLt has no algorithm for a product of ", p.m, " x ", p.k, " and ", p.k, " x ", p.n});
    algorithm_ = best.algorithm;
    workspace_bytes_ = best.workspace_bytes;
  }

  const Product& key() const { return product_; }

  void run(CublasLt handle, int ordinal, Stream stream, const void* a, const void* b, void* d, const void* bias) {
    if (bias) set(desc_bias_pointer, bias);
    const Scratch workspace(ordinal, workspace_bytes_);
    const float one = 1, beta = product_.accumulate ? 1 : 0;
    const double one_double = 1, beta_double = beta;
    const bool wide = product_.type == type_64f;
    TERN_CUBLASLT(cublasLtMatmul, handle, desc_.handle, wide ? static_cast<const void*>(&one_double) : &one, a, a_.handle, b,
                  b_.handle, wide ? static_cast<const void*>(&beta_double) : &beta, d, d_.handle, d, d_.handle, &algorithm_,
                  workspace.data(), workspace_bytes_, stream);
  }

 private:
  template <class Value> void set(MatmulDescAttribute attribute, Value value) {
    TERN_CUBLASLT(cublasLtMatmulDescSetAttribute, desc_.handle, attribute, &value, sizeof value);
  }
  void describe(OwnedMatrixLayout& layout, Index rows, Index columns, Index leading, Index stride) const {
    TERN_CUBLASLT(cublasLtMatrixLayoutCreate, &layout.handle, product_.type, std::uint64_t(rows), std::uint64_t(columns), leading);
    const auto count = std::int32_t(product_.batch);
    if (count > 1) {
      TERN_CUBLASLT(cublasLtMatrixLayoutSetAttribute, layout.handle, layout_batch_count, &count, sizeof count);
      TERN_CUBLASLT(cublasLtMatrixLayoutSetAttribute, layout.handle, layout_batch_stride, &stride, sizeof stride);
    }
  }

  const Product product_;
  OwnedMatmulDesc desc_;
  OwnedMatrixLayout a_, b_, d_;
  MatmulAlgo algorithm_;
  std::size_t workspace_bytes_;
};

inline HandlePool& cublaslt_handles() {
  static HandlePool& pool = *new HandlePool(
      []() -> void* {
        CublasLt handle = nullptr;
        TERN_CUBLASLT(cublasLtCreate, &handle);
        return handle;
      },
      [](void* handle) {
        note_cublaslt("cublasLtDestroy", cublaslt().functions.cublasLtDestroy(static_cast<CublasLt>(handle)));
      });
  return pool;
}

/// The plans for one device.
inline tern::detail::KeyedCache<ProductPlan, Product>& product_plans(int ordinal) {
  using Plans = tern::detail::KeyedCache<ProductPlan, Product>;
  static std::vector<Plans>& all = *new std::vector<Plans>(system().devices.size());
  return all[std::size_t(ordinal)];
}

/// Runs a product on a device's stream.
[[gnu::noinline]] inline void run_product(int ordinal, const Product& p, const void* a, const void* b, void* d, const void* bias) {
  const DeviceState& state = bind(ordinal);
  const HandleLease lease(cublaslt_handles(), ordinal);
  const auto handle = static_cast<CublasLt>(lease.handle());
  const tern::detail::Lease plan(product_plans(ordinal), p, [&] { return new ProductPlan(handle, p); });
  const Span span(Work::kernel, "matmul", ordinal, state.compute);
  plan->run(handle, ordinal, state.compute, a, b, d, bias);
}

}  // namespace detail

/// Lets products of float use TF32, which has 10 bits of mantissa: torch.backends.cuda.matmul.allow_tf32. Off at first.
inline void allow_tf32_matmul(bool on) { detail::tf32_allowed = on; }

}  // namespace tern::cuda
