// cuDNN's objects, one layer above its C functions: convolutions, each with the algorithm that was chosen for it.
#pragma once
#include "../../core/keyed_cache.hpp"
#include "memory.hpp"
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {
extern TERN_API constinit std::atomic<bool> convolution_tf32_allowed, convolution_search;

/// Error naming the function and the library's own text for the status.
inline void check_cudnn(const char* function, int status) {
  if (status) [[unlikely]]
    fail("cuda", {function, ": ", cudnn().functions.cudnnGetErrorString(status)});
}

#define TERN_CUDNN(function, ...) \
  ::tern::cuda::detail::check_cudnn(#function, ::tern::cuda::cudnn().functions.function(__VA_ARGS__))

TERN_API void note_cudnn(const char* function, int status);

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
class TERN_API ConvolutionPlan {
 public:
  ConvolutionPlan(Cudnn handle, int ordinal, const ConvolutionForm& f, const ConvolutionMemory& m);

  const ConvolutionForm& key() const { return form_; }

  void run(Cudnn handle, int ordinal, const ConvolutionMemory& m) const;

 private:
  static constexpr int most_algorithms = 10;
  static constexpr std::size_t most_workspace = std::size_t(1) << 30;

  void set_math(CudnnMath math) { TERN_CUDNN(cudnnSetConvolutionMathType, convolution_, math); }

  /// The first of cuDNN's own order, or of what a search found fastest, that gives the same bits in every run.
  void choose(Cudnn handle, int ordinal, const ConvolutionMemory& m);

  static bool usable(const CudnnAlgorithm& a) {
    return !a.status && a.determinism == cudnn_deterministic && a.workspace_bytes <= most_workspace;
  }

  /// Lets cuDNN run every algorithm, on the memory that the result is written to afterwards. The host waits.
  void search(Cudnn handle, int ordinal, const ConvolutionMemory& m, CudnnAlgorithm* all, int& found);

  const ConvolutionForm form_;
  OwnedCudnnTensor x_, y_, bias_;
  OwnedCudnnFilter w_;
  OwnedCudnnConvolution convolution_;
  OwnedCudnnActivation activation_;
  int algorithm_ = 0;
  std::size_t workspace_bytes_ = 0;
};

TERN_API HandlePool& cudnn_handles();

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
TERN_API void run_convolution(int ordinal, ConvolutionForm form, const ConvolutionMemory& memory);

}  // namespace detail

/// Lets convolutions of float use TF32, which has 10 bits of mantissa: torch.backends.cudnn.allow_tf32. On at first.
inline void allow_tf32_convolution(bool on) { detail::convolution_tf32_allowed = on; }

/// Lets each convolution's first run time cuDNN's algorithms and keep the fastest, in place of the one that
/// cuDNN's rules name: torch.backends.cudnn.benchmark. Another run may then give other last bits. Off at first.
inline void cudnn_benchmark(bool on) { detail::convolution_search = on; }

}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "cudnn.ipp"
#endif
