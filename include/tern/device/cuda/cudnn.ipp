// The functions of cudnn.hpp that are not templates.
#pragma once
#include "cudnn.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

TERN_INLINE constinit std::atomic<bool> convolution_tf32_allowed{true}, convolution_search{false};

[[gnu::noinline, gnu::cold]] TERN_INLINE void note_cudnn(const char* function, int status) {
  if (status) note_failure(function, cudnn().functions.cudnnGetErrorString(status), "");
}

[[gnu::noinline, gnu::cold]] TERN_INLINE ConvolutionPlan::ConvolutionPlan(Cudnn handle, int ordinal, const ConvolutionForm& f,
                                                                        const ConvolutionMemory& m)
    : form_(f) {
  const auto describe = [&](CudnnTensor tensor, const int* sizes) {
    TERN_CUDNN(cudnnSetTensorNdDescriptorEx, tensor, f.format, f.type, f.dims, sizes);
  };
  describe(x_, f.x);
  describe(y_, f.y);
  const int bias[5] = {1, f.y[1], 1, 1, 1};
  describe(bias_, bias);
  TERN_CUDNN(cudnnSetFilterNdDescriptor, w_, f.type, f.format, f.dims, f.w);
  TERN_CUDNN(cudnnSetConvolutionNdDescriptor, convolution_, f.dims - 2, f.padding, f.stride, f.dilation,
             cudnn_cross_correlation, f.type == cudnn_double ? cudnn_double : cudnn_float);
  TERN_CUDNN(cudnnSetConvolutionGroupCount, convolution_, f.groups);
  TERN_CUDNN(cudnnSetActivationDescriptor, activation_, f.relu ? cudnn_relu : cudnn_identity, cudnn_propagate_nan,
             0.0);
  set_math(f.type == cudnn_double  ? cudnn_default_math
           : f.type != cudnn_float ? cudnn_tensor_op_math
           : f.tf32                ? cudnn_default_math
                                   : cudnn_fma_math);
  if (f.fused)
    algorithm_ = cudnn_implicit_precomp_gemm;  // the only algorithm that takes a bias without relu
  else
    choose(handle, ordinal, m);
  if (f.pass == ConvolutionPass::forward)
    TERN_CUDNN(cudnnGetConvolutionForwardWorkspaceSize, handle, x_, w_, convolution_, y_, algorithm_,
               &workspace_bytes_);
  else if (f.pass == ConvolutionPass::data_gradient)
    TERN_CUDNN(cudnnGetConvolutionBackwardDataWorkspaceSize, handle, w_, y_, convolution_, x_, algorithm_,
               &workspace_bytes_);
  else
    TERN_CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize, handle, x_, y_, convolution_, w_, algorithm_,
               &workspace_bytes_);
}

TERN_INLINE void ConvolutionPlan::run(Cudnn handle, int ordinal, const ConvolutionMemory& m) const {
  const Scratch workspace(ordinal, workspace_bytes_);
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const bool wide = form_.type == cudnn_double;
  const void* const alpha = wide ? static_cast<const void*>(&one_double) : &one;
  const void* const beta = wide ? static_cast<const void*>(&zero_double) : &zero;
  if (form_.fused)
    TERN_CUDNN(cudnnConvolutionBiasActivationForward, handle, alpha, x_, m.x, w_, m.w, convolution_, algorithm_,
               workspace.data(), workspace_bytes_, m.addend ? alpha : beta, y_, m.addend ? m.addend : m.y, bias_,
               m.bias, activation_, y_, m.y);
  else if (form_.pass == ConvolutionPass::forward)
    TERN_CUDNN(cudnnConvolutionForward, handle, alpha, x_, m.x, w_, m.w, convolution_, algorithm_, workspace.data(),
               workspace_bytes_, beta, y_, m.y);
  else if (form_.pass == ConvolutionPass::data_gradient)
    TERN_CUDNN(cudnnConvolutionBackwardData, handle, alpha, w_, m.w, y_, m.y, convolution_, algorithm_,
               workspace.data(), workspace_bytes_, m.addend ? alpha : beta, x_, m.x);
  else
    TERN_CUDNN(cudnnConvolutionBackwardFilter, handle, alpha, x_, m.x, y_, m.y, convolution_, algorithm_,
               workspace.data(), workspace_bytes_, beta, w_, m.w);
}

TERN_INLINE void ConvolutionPlan::choose(Cudnn handle, int ordinal, const ConvolutionMemory& m) {
  CudnnAlgorithm all[most_algorithms];
  int found = 0;
  if (form_.pass == ConvolutionPass::forward)
    TERN_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7, handle, x_, w_, convolution_, y_, most_algorithms, &found,
               all);
  else if (form_.pass == ConvolutionPass::data_gradient)
    TERN_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7, handle, w_, y_, convolution_, x_, most_algorithms, &found,
               all);
  else
    TERN_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7, handle, x_, y_, convolution_, w_, most_algorithms,
               &found, all);
  // A search would overwrite the addend.
  if (form_.search && (form_.fused || !m.addend)) search(handle, ordinal, m, all, found);
  for (int i = 0; i < found; ++i) {
    if (!usable(all[i])) continue;
    algorithm_ = all[i].algorithm;
    return set_math(all[i].math);
  }
  fail("cuda", {"cuDNN has no deterministic algorithm for this convolution"});
}

TERN_INLINE void ConvolutionPlan::search(Cudnn handle, int ordinal, const ConvolutionMemory& m, CudnnAlgorithm* all, int& found) {
  std::size_t bytes = 0;
  for (int i = 0; i < found; ++i)
    if (usable(all[i])) bytes = std::max(bytes, all[i].workspace_bytes);
  const Scratch workspace(ordinal, bytes);
  if (form_.pass == ConvolutionPass::forward)
    TERN_CUDNN(cudnnFindConvolutionForwardAlgorithmEx, handle, x_, m.x, w_, m.w, convolution_, y_, m.y,
               most_algorithms, &found, all, workspace.data(), bytes);
  else if (form_.pass == ConvolutionPass::data_gradient)
    TERN_CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx, handle, w_, m.w, y_, m.y, convolution_, x_, m.x,
               most_algorithms, &found, all, workspace.data(), bytes);
  else
    TERN_CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx, handle, x_, m.x, y_, m.y, convolution_, w_, m.w,
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

[[gnu::noinline]] TERN_INLINE void run_convolution(int ordinal, ConvolutionForm form, const ConvolutionMemory& memory) {
  const DeviceState& state = bind(ordinal);
  const CudnnLease lease(ordinal, state.compute);
  const auto run = [&](const ConvolutionPlan& plan) {
    const Span span(Work::kernel, "convolution", ordinal, state.compute);
    plan.run(lease.handle(), ordinal, memory);
  };
  auto& plans = convolution_plans(ordinal);
  form.search = !form.fused && convolution_search;
  if (form.search && capture) {
    if (const tern::detail::Lease searched(plans, form); searched) return run(*searched);
    form.search = false;
  }
  run(*tern::detail::Lease(plans, form, [&] { return new ConvolutionPlan(lease.handle(), ordinal, form, memory); }));
}

}  // namespace tern::cuda::detail
