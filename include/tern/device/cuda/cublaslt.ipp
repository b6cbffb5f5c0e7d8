// The functions of cublaslt.hpp that are not templates.
#pragma once
#include "cublaslt.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

TERN_INLINE constinit std::atomic<bool> tf32_allowed{false};

[[gnu::noinline, gnu::cold]] TERN_INLINE void note_cublaslt(const char* function, int status) {
  if (status) note_failure(function, cublaslt().functions.cublasLtGetStatusString(status), "");
}

[[gnu::noinline, gnu::cold]] TERN_INLINE MatmulPlan::MatmulPlan(CublasLt handle, const MatmulForm& p) : form_(p) {
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
  const auto prefer = [&](MatmulPreferenceAttribute attribute, const auto& value) {
    TERN_CUBLASLT(cublasLtMatmulPreferenceSetAttribute, preference.handle, attribute, &value, sizeof value);
  };
  prefer(preference_workspace_bytes, workspace);
  prefer(preference_alignment_a, std::uint32_t(1) << p.a_alignment);
  prefer(preference_alignment_b, std::uint32_t(1) << p.b_alignment);
  for (const auto attribute : {preference_alignment_c, preference_alignment_d}) prefer(attribute, std::uint32_t(1) << p.d_alignment);
  MatmulHeuristic best{};
  int found = 0;
  TERN_CUBLASLT(cublasLtMatmulAlgoGetHeuristic, handle, desc_.handle, a_.handle, b_.handle, d_.handle, d_.handle, preference.handle,
                1, &best, &found);
  if (!found) fail("cuda", {"cuBLASLt has no algorithm for a product of ", p.m, " x ", p.k, " and ", p.k, " x ", p.n});
  algorithm_ = best.algorithm;
  workspace_bytes_ = best.workspace_bytes;
}

TERN_INLINE void MatmulPlan::run(CublasLt handle, int ordinal, StreamHandle stream, const void* a, const void* b, void* d, const void* bias) {
  if (bias) set(desc_bias_pointer, bias);
  const Scratch workspace(ordinal, workspace_bytes_);
  const float one = 1, beta = form_.accumulate ? 1 : 0;
  const double one_double = 1, beta_double = beta;
  const bool wide = form_.type == type_64f;
  TERN_CUBLASLT(cublasLtMatmul, handle, desc_.handle, wide ? static_cast<const void*>(&one_double) : &one, a, a_.handle, b,
                b_.handle, wide ? static_cast<const void*>(&beta_double) : &beta, d, d_.handle, d, d_.handle, &algorithm_,
                workspace.data(), workspace_bytes_, stream);
}

TERN_INLINE void MatmulPlan::describe(OwnedMatrixLayout& layout, Index rows, Index columns, Index leading, Index stride) const {
  TERN_CUBLASLT(cublasLtMatrixLayoutCreate, &layout.handle, form_.type, std::uint64_t(rows), std::uint64_t(columns), leading);
  const auto count = std::int32_t(form_.batch);
  if (count > 1) {
    TERN_CUBLASLT(cublasLtMatrixLayoutSetAttribute, layout.handle, layout_batch_count, &count, sizeof count);
    TERN_CUBLASLT(cublasLtMatrixLayoutSetAttribute, layout.handle, layout_batch_stride, &stride, sizeof stride);
  }
}

TERN_INLINE HandlePool& cublaslt_handles() {
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

[[gnu::noinline]] TERN_INLINE void run_matmul(int ordinal, const MatmulForm& p, const void* a, const void* b, void* d, const void* bias) {
  // Kernels that count a batch by the grid's third size take fewer than 65,536. As a multiple of 256, this keeps alignment.
  constexpr Index most = 65280;
  const DeviceState& state = bind(ordinal);
  const HandleLease lease(cublaslt_handles(), ordinal);
  const auto handle = static_cast<CublasLt>(lease.handle());
  const Index bytes = p.type == type_64f ? 8 : p.type == type_32f ? 4 : 2;
  for (Index first = 0; first < p.batch; first += most) {
    MatmulForm part = p;
    part.batch = std::min(most, p.batch - first);
    const auto from = [&](const void* matrices, Index stride) { return static_cast<const char*>(matrices) + first * stride * bytes; };
    const tern::detail::Lease plan(matmul_plans(ordinal), part, [&] { return new MatmulPlan(handle, part); });
    const Span span(Work::kernel, "matmul", ordinal, state.compute);
    plan->run(handle, ordinal, state.compute, from(a, p.a_stride), from(b, p.b_stride), const_cast<char*>(from(d, p.d_stride)), bias);
  }
}

}  // namespace tern::cuda::detail
