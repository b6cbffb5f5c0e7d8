// The functions of cublaslt.hpp that are not templates.
#pragma once
#include <cmath>

#include "cublaslt.hpp"
#include "milliseconds.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE constinit std::atomic<bool> tf32_allowed{false};

TERN_COLD void note_cublaslt(const char* function, int status) {
  if (status) note_failure(function, cublaslt().functions.cublasLtGetStatusString(status), "");
}

TERN_COLD MatmulPlan::MatmulPlan(CublasLt handle, const MatmulForm& p) : form_(p) {
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
  for (const auto attribute : {preference_alignment_c, preference_alignment_d})
    prefer(attribute, std::uint32_t(1) << p.d_alignment);
  TERN_CUBLASLT(cublasLtMatmulAlgoGetHeuristic, handle, desc_.handle, a_.handle, b_.handle, d_.handle, d_.handle,
                preference.handle, p.timed ? most_proposals : 1, proposals_, &count_);
  if (!count_)
    Error::fail("cuda", {"cuBLASLt has no algorithm for a product of ", p.m, " x ", p.k, " and ", p.k, " x ", p.n});
}

TERN_INLINE void MatmulPlan::run(CublasLt handle, int ordinal, StreamHandle stream, const void* a, const void* b,
                                 void* d, const void* bias) {
  if (bias) set(desc_bias_pointer, bias);
  if (count_ > 1) choose(handle, ordinal, stream, a, b, d);
  const Scratch workspace(ordinal, proposals_[0].workspace_bytes);
  check_cublaslt("cublasLtMatmul", start(handle, stream, proposals_[0], workspace.data(), a, b, d));
}

TERN_COLD void MatmulPlan::choose(CublasLt handle, int ordinal, StreamHandle stream, const void* a, const void* b,
                                  void* d) {
  std::size_t bytes = 0;
  for (int i = 0; i < count_; ++i) bytes = std::max(bytes, proposals_[i].workspace_bytes);
  const Scratch workspace(ordinal, bytes);
  const Index elements = (form_.batch - 1) * form_.d_stride + (form_.n - 1) * form_.d_leading + form_.m;
  const Scratch elsewhere(ordinal, form_.accumulate ? std::size_t(elements * form_.element_bytes()) : 0);
  void* const to = form_.accumulate ? elsewhere.data() : d;
  int best = 0;
  float least = HUGE_VALF;
  for (int i = 0; i < count_; ++i) {
    const auto run = [&] { return start(handle, stream, proposals_[i], workspace.data(), a, b, to); };
    if (run()) continue;  // not supported after all; it has loaded its kernel otherwise
    const float time = milliseconds_of(ordinal, [&] {
      for (int k = 0; k < 5; ++k) run();
    });
    if (time < least) least = time, best = i;
  }
  proposals_[0] = proposals_[best];
  count_ = 1;
}

TERN_INLINE int MatmulPlan::start(CublasLt handle, StreamHandle stream, const MatmulHeuristic& algorithm,
                                  void* workspace, const void* a, const void* b, void* d) const {
  const float one = 1, beta = form_.accumulate ? 1 : 0;
  const double one_double = 1, beta_double = beta;
  const bool is_double = form_.type == type_64f;
  return cublaslt().functions.cublasLtMatmul(
      handle, desc_.handle, is_double ? static_cast<const void*>(&one_double) : &one, a, a_.handle, b, b_.handle,
      is_double ? static_cast<const void*>(&beta_double) : &beta, d, d_.handle, d, d_.handle, &algorithm.algorithm,
      workspace, algorithm.workspace_bytes, stream);
}

TERN_INLINE void MatmulPlan::describe(OwnedMatrixLayout& layout, Index rows, Index columns, Index leading,
                                      Index stride) const {
  TERN_CUBLASLT(cublasLtMatrixLayoutCreate, &layout.handle, form_.type, std::uint64_t(rows), std::uint64_t(columns),
                leading);
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

TERN_NOINLINE void run_matmul(int ordinal, const MatmulForm& p, const void* a, const void* b, void* d,
                              const void* bias) {
  // Kernels that count a batch by the grid's third size take fewer than 65,536. As a multiple of 256, this keeps
  // alignment.
  constexpr Index most = 65280;
  const DeviceState& state = bind(ordinal);
  const HandleLease lease(cublaslt_handles(), ordinal);
  const auto handle = static_cast<CublasLt>(lease.handle());
  const Index bytes = p.element_bytes();
  auto& plans = matmul_plans(ordinal);
  for (Index first = 0; first < p.batch; first += most) {
    MatmulForm part = p;
    part.batch = std::min(most, p.batch - first);
    const auto from = [&](const void* matrices, Index stride) {
      return static_cast<const char*>(matrices) + first * stride * bytes;
    };
    part.timed = times_candidates;
    if (part.timed && capture) part.timed = bool(tern::detail::Lease(plans, part));  // timed before
    const tern::detail::Lease plan(plans, part, [&] { return new MatmulPlan(handle, part); });
    const Span span(tern::detail::Work::kernel, "matmul", ordinal, state.compute);
    plan->run(handle, ordinal, state.compute, from(a, p.a_stride), from(b, p.b_stride),
              const_cast<char*>(from(d, p.d_stride)), bias);
  }
}

}}}  // namespace tern::cuda::detail
