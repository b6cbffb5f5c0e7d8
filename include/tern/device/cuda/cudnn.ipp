// The functions of cudnn.hpp that are not templates.
#pragma once
#include "cudnn.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

TERN_INLINE constinit std::atomic<bool> convolution_tf32_allowed{true}, convolution_deterministic{false};

[[gnu::noinline, gnu::cold]] TERN_INLINE void note_cudnn(const char* function, int status) {
  if (status) note_failure(function, cudnn().functions.cudnnGetErrorString(status), "");
}

[[gnu::noinline]] TERN_INLINE bool cudnn_supports(const char* function, int status) {
  constexpr int not_supported_8 = 9, arch_mismatch_8 = 6;  // cuDNN 9 gives 3000 to 3999
  if (status == not_supported_8 || status == arch_mismatch_8 || status / 1000 == 3) return false;
  check_cudnn(function, status);
  return true;
}

/// What cuDNN may round to where an algorithm does not say.
TERN_INLINE CudnnMath math_of(const ConvolutionForm& f) {
  if (f.type == cudnn_double) return cudnn_default_math;
  if (f.type != cudnn_float) return cudnn_tensor_op_math;
  return f.tf32 ? cudnn_default_math : cudnn_fma_math;
}

/// Whether its algorithms are to be timed.
TERN_INLINE bool is_timed(const ConvolutionForm& f) {
  return times_candidates && !f.fused && f.choice == CudnnChoice::deterministic;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE ConvolutionPlan::ConvolutionPlan(Cudnn handle, int ordinal, const ConvolutionForm& f,
                                                                        const ConvolutionMemory& m)
    : form_(f) {
  describe(f);
  if (f.fused && !f.relu)
    algorithms_[count_++] = {cudnn_implicit_precomp_gemm, math_of(f)};  // the only algorithm that takes a bias without relu
  else
    choose(handle, ordinal, m);
  prepare(handle);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void ConvolutionPlan::describe(const ConvolutionForm& f) {
  const auto tensor = [&](CudnnTensor descriptor, const int* sizes) {
    TERN_CUDNN(cudnnSetTensorNdDescriptorEx, descriptor, f.format, f.type, f.dims, sizes);
  };
  tensor(x_, f.x);
  tensor(y_, f.y);
  const int bias[5] = {1, f.y[1], 1, 1, 1};
  tensor(bias_, bias);
  TERN_CUDNN(cudnnSetFilterNdDescriptor, w_, f.type, f.format, f.dims, f.w);
  TERN_CUDNN(cudnnSetConvolutionNdDescriptor, convolution_, f.dims - 2, f.padding, f.stride, f.dilation,
             cudnn_cross_correlation, f.type == cudnn_double ? cudnn_double : cudnn_float);
  TERN_CUDNN(cudnnSetConvolutionGroupCount, convolution_, f.groups);
  TERN_CUDNN(cudnnSetActivationDescriptor, activation_, f.relu ? cudnn_relu : cudnn_identity, cudnn_propagate_nan,
             0.0);
  TERN_CUDNN(cudnnSetConvolutionMathType, convolution_, math_of(f));
}

TERN_INLINE bool ConvolutionPlan::run(Cudnn handle, int ordinal, const ConvolutionMemory& m) {
  while (!is_refused()) {
    const Scratch workspace(ordinal, workspace_bytes_);
    if (start(handle, algorithms_[next_].number, workspace.data(), m)) return true;
    ++next_;
    prepare(handle);
  }
  return false;
}

TERN_INLINE bool ConvolutionPlan::start(Cudnn handle, int algorithm, void* workspace, const ConvolutionMemory& m) const {
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const bool wide = form_.type == cudnn_double;
  const void* const alpha = wide ? static_cast<const void*>(&one_double) : &one;
  const void* const beta = wide ? static_cast<const void*>(&zero_double) : &zero;
  if (form_.fused)
    return TERN_CUDNN_SUPPORTS(cudnnConvolutionBiasActivationForward, handle, alpha, x_, m.x, w_, m.w, convolution_, algorithm,
                               workspace, workspace_bytes_, m.addend ? alpha : beta, y_, m.addend ? m.addend : m.y, bias_,
                               m.bias, activation_, y_, m.y);
  if (form_.pass == ConvolutionPass::forward)
    return TERN_CUDNN_SUPPORTS(cudnnConvolutionForward, handle, alpha, x_, m.x, w_, m.w, convolution_, algorithm, workspace,
                               workspace_bytes_, beta, y_, m.y);
  if (form_.pass == ConvolutionPass::data_gradient)
    return TERN_CUDNN_SUPPORTS(cudnnConvolutionBackwardData, handle, alpha, w_, m.w, y_, m.y, convolution_, algorithm,
                               workspace, workspace_bytes_, m.addend ? alpha : beta, x_, m.x);
  return TERN_CUDNN_SUPPORTS(cudnnConvolutionBackwardFilter, handle, alpha, x_, m.x, y_, m.y, convolution_, algorithm,
                             workspace, workspace_bytes_, beta, w_, m.w);
}

[[gnu::cold]] TERN_INLINE void ConvolutionPlan::prepare(Cudnn handle) {
  for (; !is_refused(); ++next_) {
    TERN_CUDNN(cudnnSetConvolutionMathType, convolution_, algorithms_[next_].math);
    if (ask_workspace(handle, algorithms_[next_].number) && workspace_bytes_ <= most_workspace) return;
  }
}

TERN_INLINE bool ConvolutionPlan::ask_workspace(Cudnn handle, int algorithm) {
  if (form_.pass == ConvolutionPass::forward)
    return TERN_CUDNN_SUPPORTS(cudnnGetConvolutionForwardWorkspaceSize, handle, x_, w_, convolution_, y_, algorithm,
                               &workspace_bytes_);
  if (form_.pass == ConvolutionPass::data_gradient)
    return TERN_CUDNN_SUPPORTS(cudnnGetConvolutionBackwardDataWorkspaceSize, handle, w_, y_, convolution_, x_, algorithm,
                               &workspace_bytes_);
  return TERN_CUDNN_SUPPORTS(cudnnGetConvolutionBackwardFilterWorkspaceSize, handle, x_, y_, convolution_, w_, algorithm,
                             &workspace_bytes_);
}

TERN_INLINE void ConvolutionPlan::choose(Cudnn handle, int ordinal, const ConvolutionMemory& m) {
  CudnnAlgorithm all[most_algorithms];
  int found = 0;
  bool any;
  if (form_.pass == ConvolutionPass::forward)
    any = TERN_CUDNN_SUPPORTS(cudnnGetConvolutionForwardAlgorithm_v7, handle, x_, w_, convolution_, y_, most_algorithms,
                              &found, all);
  else if (form_.pass == ConvolutionPass::data_gradient)
    any = TERN_CUDNN_SUPPORTS(cudnnGetConvolutionBackwardDataAlgorithm_v7, handle, w_, y_, convolution_, x_,
                              most_algorithms, &found, all);
  else
    any = TERN_CUDNN_SUPPORTS(cudnnGetConvolutionBackwardFilterAlgorithm_v7, handle, x_, y_, convolution_, w_,
                              most_algorithms, &found, all);
  // A search would overwrite the addend.
  if (any && form_.choice == CudnnChoice::timed && !m.addend) any = search(handle, ordinal, m, all, found);
  if (!any) return;
  for (int i = 0; i < found; ++i)
    if (usable(all[i])) algorithms_[count_++] = {all[i].algorithm, all[i].math};
}

TERN_INLINE bool ConvolutionPlan::search(Cudnn handle, int ordinal, const ConvolutionMemory& m, CudnnAlgorithm* all, int& found) {
  std::size_t bytes = 0;
  for (int i = 0; i < found; ++i)
    if (usable(all[i])) bytes = std::max(bytes, all[i].workspace_bytes);
  const Scratch workspace(ordinal, bytes);
  if (form_.pass == ConvolutionPass::forward)
    return TERN_CUDNN_SUPPORTS(cudnnFindConvolutionForwardAlgorithmEx, handle, x_, m.x, w_, m.w, convolution_, y_, m.y,
                               most_algorithms, &found, all, workspace.data(), bytes);
  if (form_.pass == ConvolutionPass::data_gradient)
    return TERN_CUDNN_SUPPORTS(cudnnFindConvolutionBackwardDataAlgorithmEx, handle, w_, m.w, y_, m.y, convolution_, x_, m.x,
                               most_algorithms, &found, all, workspace.data(), bytes);
  return TERN_CUDNN_SUPPORTS(cudnnFindConvolutionBackwardFilterAlgorithmEx, handle, x_, m.x, y_, m.y, convolution_, w_, m.w,
                             most_algorithms, &found, all, workspace.data(), bytes);
}

TERN_INLINE HandlePool& cudnn_handles() {
  static HandlePool& pool = *new HandlePool(
      []() -> void* {
        Cudnn handle = nullptr;
        TERN_CUDNN(cudnnCreate, &handle);
        return handle;
      },
      [](void* handle) { note_cudnn("cudnnDestroy", cudnn().functions.cudnnDestroy(static_cast<Cudnn>(handle))); });
  return pool;
}

[[gnu::noinline]] TERN_INLINE bool try_convolution(int ordinal, ConvolutionForm form, const ConvolutionMemory& memory) {
  const DeviceState& state = bind(ordinal);
  const CudnnLease lease(ordinal, state.compute);
  const auto run = [&](ConvolutionPlan& plan) {
    if (plan.is_refused()) return false;
    const Span span(Work::kernel, "convolution", ordinal, state.compute);
    return plan.run(lease.handle(), ordinal, memory);
  };
  auto& plans = convolution_plans(ordinal);
  if (is_timed(form)) {
    ConvolutionForm timed = form;
    timed.choice = CudnnChoice::timed;
    if (!capture) form = timed;
    else if (const tern::detail::Lease known(plans, timed); known) return run(*known);
  }
  return run(*tern::detail::Lease(plans, form, [&] { return new ConvolutionPlan(lease.handle(), ordinal, form, memory); }));
}

TERN_INLINE bool is_refused(int ordinal, ConvolutionForm form) {
  if (is_timed(form) && !capture) form.choice = CudnnChoice::timed;
  const tern::detail::Lease known(convolution_plans(ordinal), form);
  return known && known->is_refused();
}

}  // namespace tern::cuda::detail
