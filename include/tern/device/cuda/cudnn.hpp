// cuDNN's objects, one layer above its C functions: convolutions, each with the algorithm that was chosen for it.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../core/keyed_cache.hpp"
#include "memory.hpp"
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {
inline constinit std::atomic<bool> convolution_tf32_allowed{true}, convolution_search{false};

/// Error naming the function and the library's own text for the status.
inline void check_cudnn(const char* function, int status) {
  if (status) [[unlikely]]
    fail("cuda", {function, ": ", cudnn().functions.cudnnGetErrorString(status)});
}

#define TERN_CUDNN(function, ...) \
  ::tern::cuda::detail::check_cudnn(#function, ::tern::cuda::cudnn().functions.function(__VA_ARGS__))

[[gnu::noinline, gnu::cold]] inline void note_cudnn(const char* function, int status) {
  if (status) note_failure(function, cudnn().functions.cudnnGetErrorString(status), "");
}

/// A descriptor, released with its owner.
#define TERN_CUDNN_OWNED(Name, Handle, kind)                                                                   \
  struct Name {                                                                                                \
    Handle handle = nullptr;                                                                                   \
    [[gnu::noinline, gnu::cold]] Name() { TERN_CUDNN(cudnnCreate##kind##Descriptor, &handle); }                \
    [[gnu::noinline, gnu::cold]] ~Name() {                                                                     \
      note_cudnn("cudnnDestroy" #kind "Descriptor", cudnn().functions.cudnnDestroy##kind##Descriptor(handle)); \
    }                                                                                                          \
    Name(const Name&) = delete;                                                                                \
    Name& operator=(const Name&) = delete;                                                                     \
    operator Handle() const { return handle; }                                                                 \
  };
TERN_CUDNN_OWNED(OwnedCudnnTensor, CudnnTensor, Tensor)
TERN_CUDNN_OWNED(OwnedCudnnFilter, CudnnFilter, Filter)
TERN_CUDNN_OWNED(OwnedCudnnConvolution, CudnnConvolution, Convolution)
TERN_CUDNN_OWNED(OwnedCudnnActivation, CudnnActivation, Activation)
#undef TERN_CUDNN_OWNED

/// What a convolution computes: y, or the gradient of x or of the weight.
enum class ConvolutionPass : int { forward, data, weight };

/// One pass of a convolution as cuDNN is told of it. Sizes: batch and channels, then those of space.
struct ConvolutionForm {
  ConvolutionPass pass;
  CudnnType type;
  CudnnFormat format;
  bool fused, relu;  // fused: y = x * w + addend + bias, below 0 as 0 with relu
  bool tf32, search;
  int dims, groups;
  int x[5], w[5], y[5], padding[3], stride[3], dilation[3];

  bool operator==(const ConvolutionForm&) const = default;
  std::uint64_t hash() const { return tern::detail::hash_fields(*this); }
};

/// Where a convolution's elements are; the pass's own is written. A fused one has a bias; no addend is null. The addend of a data
/// gradient is what is written itself: it is added to what is there.
struct ConvolutionMemory {
  void *x, *w, *y;
  const void *bias, *addend;
};

/// What a convolution of one form is run with: descriptors, the algorithm, how much workspace that needs.
class ConvolutionPlan {
 public:
  [[gnu::noinline, gnu::cold]] ConvolutionPlan(Cudnn handle, int ordinal, const ConvolutionForm& f,
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
      algorithm_ = cudnn_implicit_precomp_gemm;  // the only one that takes a bias without relu
    else
      choose(handle, ordinal, m);
    if (f.pass == ConvolutionPass::forward)
      TERN_CUDNN(cudnnGetConvolutionForwardWorkspaceSize, handle, x_, w_, convolution_, y_, algorithm_,
                 &workspace_bytes_);
    else if (f.pass == ConvolutionPass::data)
      TERN_CUDNN(cudnnGetConvolutionBackwardDataWorkspaceSize, handle, w_, y_, convolution_, x_, algorithm_,
                 &workspace_bytes_);
    else
      TERN_CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize, handle, x_, y_, convolution_, w_, algorithm_,
                 &workspace_bytes_);
  }

  const ConvolutionForm& key() const { return form_; }

  void run(Cudnn handle, int ordinal, const ConvolutionMemory& m) const {
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
    else if (form_.pass == ConvolutionPass::data)
      TERN_CUDNN(cudnnConvolutionBackwardData, handle, alpha, w_, m.w, y_, m.y, convolution_, algorithm_,
                 workspace.data(), workspace_bytes_, m.addend ? alpha : beta, x_, m.x);
    else
      TERN_CUDNN(cudnnConvolutionBackwardFilter, handle, alpha, x_, m.x, y_, m.y, convolution_, algorithm_,
                 workspace.data(), workspace_bytes_, beta, w_, m.w);
  }

 private:
  static constexpr int most_algorithms = 10;
  static constexpr std::size_t most_workspace = std::size_t(1) << 30;

  void set_math(CudnnMath math) { TERN_CUDNN(cudnnSetConvolutionMathType, convolution_, math); }

  /// The first of cuDNN's own order, or of what a search found fastest, that gives the same bits in every run.
  void choose(Cudnn handle, int ordinal, const ConvolutionMemory& m) {
    CudnnAlgorithm all[most_algorithms];
    int found = 0;
    if (form_.pass == ConvolutionPass::forward)
      TERN_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7, handle, x_, w_, convolution_, y_, most_algorithms, &found,
                 all);
    else if (form_.pass == ConvolutionPass::data)
      TERN_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7, handle, w_, y_, convolution_, x_, most_algorithms, &found,
                 all);
    else
      TERN_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7, handle, x_, y_, convolution_, w_, most_algorithms,
                 &found, all);
    // A search would write over what is added to.
    if (form_.search && (form_.fused || !m.addend)) search(handle, ordinal, m, all, found);
    for (int i = 0; i < found; ++i) {
      if (!usable(all[i])) continue;
      algorithm_ = all[i].algorithm;
      return set_math(all[i].math);
    }
    fail("cuda", {"cuDNN has no deterministic algorithm for this convolution"});
  }

  static bool usable(const CudnnAlgorithm& a) {
    return !a.status && a.determinism == cudnn_deterministic && a.workspace_bytes <= most_workspace;
  }

  /// Lets cuDNN run every algorithm, on the memory that the result is written to afterwards. The host waits.
  void search(Cudnn handle, int ordinal, const ConvolutionMemory& m, CudnnAlgorithm* all, int& found) {
    std::size_t bytes = 0;
    for (int i = 0; i < found; ++i)
      if (usable(all[i])) bytes = std::max(bytes, all[i].workspace_bytes);
    const Scratch workspace(ordinal, bytes);
    if (form_.pass == ConvolutionPass::forward)
      TERN_CUDNN(cudnnFindConvolutionForwardAlgorithmEx, handle, x_, m.x, w_, m.w, convolution_, y_, m.y,
                 most_algorithms, &found, all, workspace.data(), bytes);
    else if (form_.pass == ConvolutionPass::data)
      TERN_CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx, handle, w_, m.w, y_, m.y, convolution_, x_, m.x,
                 most_algorithms, &found, all, workspace.data(), bytes);
    else
      TERN_CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx, handle, x_, m.x, y_, m.y, convolution_, w_, m.w,
                 most_algorithms, &found, all, workspace.data(), bytes);
  }

  const ConvolutionForm form_;
  OwnedCudnnTensor x_, y_, bias_;
  OwnedCudnnFilter w_;
  OwnedCudnnConvolution convolution_;
  OwnedCudnnActivation activation_;
  int algorithm_ = 0;
  std::size_t workspace_bytes_ = 0;
};

inline HandlePool& cudnn_handles() {
  static HandlePool& pool = *new HandlePool(
      []() -> void* {
        Cudnn handle = nullptr;
        TERN_CUDNN(cudnnCreate, &handle);
        return handle;
      },
      [](void* handle) { note_cudnn("cudnnDestroy", cudnn().functions.cudnnDestroy(static_cast<Cudnn>(handle))); });
  return pool;
}

/// A handle for one call, whose work goes to a stream.
class CudnnLease {
 public:
  CudnnLease(int ordinal, Stream stream) : lease_(cudnn_handles(), ordinal), ordinal_(ordinal) {
    TERN_CUDNN(cudnnSetStream, handle(), stream);
  }
  /// An idle handle keeps no stream that ends with its capture.
  ~CudnnLease() {
    if (!capture) return;
    const Stream stream = system().devices[std::size_t(ordinal_)]->compute;
    note_cudnn("cudnnSetStream", cudnn().functions.cudnnSetStream(handle(), stream));
  }
  CudnnLease(const CudnnLease&) = delete;
  CudnnLease& operator=(const CudnnLease&) = delete;
  Cudnn handle() const { return static_cast<Cudnn>(lease_.handle()); }

 private:
  HandleLease lease_;
  int ordinal_;
};

/// The plans for one device.
inline tern::detail::KeyedCache<ConvolutionPlan, ConvolutionForm>& convolution_plans(int ordinal) {
  using Plans = tern::detail::KeyedCache<ConvolutionPlan, ConvolutionForm>;
  static std::vector<Plans>& all = *new std::vector<Plans>(system().devices.size());
  return all[std::size_t(ordinal)];
}

/// Runs a convolution on a device's stream. What is captured is not searched for, as that waits.
[[gnu::noinline]] inline void run_convolution(int ordinal, ConvolutionForm form, const ConvolutionMemory& memory) {
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

}  // namespace detail

/// Lets convolutions of float use TF32, which has 10 bits of mantissa: torch.backends.cudnn.allow_tf32. On at first.
inline void allow_tf32_convolution(bool on) { detail::convolution_tf32_allowed = on; }

/// Lets each convolution's first run time cuDNN's algorithms and keep the fastest, in place of the one that
/// cuDNN's rules name: torch.backends.cudnn.benchmark. Another run may then give other last bits. Off at first.
inline void cudnn_benchmark(bool on) { detail::convolution_search = on; }

}  // namespace tern::cuda
