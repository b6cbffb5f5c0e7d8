// cuDNN's objects, one layer above its C functions: convolutions, each with its chosen algorithm.
#pragma once
#include "../../core/convolution_pass.hpp"
#include "../../core/keyed_cache.hpp"
#include "memory.hpp"
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {
extern TERN_API constinit std::atomic<bool> convolution_tf32_allowed, convolution_deterministic;

/// Error that names the function and quotes the library's own text for the status.
inline void check_cudnn(const char* function, int status) {
  if (status) [[unlikely]]
    fail("cuda", {function, ": ", cudnn().functions.cudnnGetErrorString(status)});
}

#define TERN_CUDNN(function, ...) \
  ::tern::cuda::detail::check_cudnn(#function, ::tern::cuda::cudnn().functions.function(__VA_ARGS__))

TERN_API void note_cudnn(const char* function, int status);

/// Owns a descriptor and destroys it.
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

/// Whether cuDNN did what it was asked. False if it does not support that. Error for any other failure.
TERN_API bool cudnn_supports(const char* function, int status);

#define TERN_CUDNN_SUPPORTS(function, ...) \
  ::tern::cuda::detail::cudnn_supports(#function, ::tern::cuda::cudnn().functions.function(__VA_ARGS__))

/// Which algorithms a convolution may take: deterministic ones in the order of cuDNN's heuristics, deterministic ones in
/// the order of measured times, or all.
enum class CudnnChoice : std::uint8_t { deterministic, timed, any };

/// One pass of a convolution as cuDNN describes it. Sizes are batch, channels, then the spatial sizes.
struct ConvolutionForm {
  ConvolutionPass pass;
  CudnnType type;
  CudnnFormat format;
  bool fused, relu;  // fused: y = x * w + addend + bias, then with relu max(y, 0)
  bool tf32;
  CudnnChoice choice;
  int dims, groups;
  int x[5], w[5], y[5], padding[3], stride[3], dilation[3];

  bool operator==(const ConvolutionForm&) const = default;
  std::uint64_t hash() const { return tern::detail::hash_fields(*this); }
};

/// The addresses of a convolution's elements. The pass writes one of x, weight and y. A fused convolution has a bias;
/// addend may be null. A data gradient's addend is its own target: the gradient is added to it.
struct ConvolutionMemory {
  void *x, *w, *y;
  const void *bias, *addend;
};

/// The descriptors of a convolution, and the algorithms that may compute it, the best first.
class TERN_API ConvolutionPlan {
 public:
  ConvolutionPlan(Cudnn handle, int ordinal, const ConvolutionForm& f, const ConvolutionMemory& m);

  const ConvolutionForm& key() const { return form_; }

  /// True if no algorithm is left.
  bool is_refused() const { return next_ == count_; }

  /// Runs the best algorithm. One that cuDNN does not support after all is not tried again. False if none is left.
  bool run(Cudnn handle, int ordinal, const ConvolutionMemory& m);

 private:
  struct Algorithm {
    int number;
    CudnnMath math;
  };
  static constexpr int most_algorithms = 10;
  static constexpr std::size_t most_workspace = std::size_t(1) << 30;

  void describe(const ConvolutionForm& f);

  /// Lists the algorithms, in cuDNN's own order or in the order of the times that a search measured.
  void choose(Cudnn handle, int ordinal, const ConvolutionMemory& m);

  bool usable(const CudnnAlgorithm& a) const {
    return !a.status && a.workspace_bytes <= most_workspace &&
           (form_.choice == CudnnChoice::any || a.determinism == cudnn_is_deterministic);
  }

  /// Times every algorithm of cuDNN. They write to the result's memory, which is written again afterwards. The host
  /// waits. False if cuDNN supports none.
  bool search(Cudnn handle, int ordinal, const ConvolutionMemory& m, CudnnAlgorithm* all, int& found);

  /// Goes on to the first algorithm from here whose workspace cuDNN can tell.
  void prepare(Cudnn handle);
  bool ask_workspace(Cudnn handle, int algorithm);

  /// Runs one algorithm. False if cuDNN does not support it.
  bool start(Cudnn handle, int algorithm, void* workspace, const ConvolutionMemory& m) const;

  const ConvolutionForm form_;
  OwnedCudnnTensor x_, y_, bias_;
  OwnedCudnnFilter w_;
  OwnedCudnnConvolution convolution_;
  OwnedCudnnActivation activation_;
  Algorithm algorithms_[most_algorithms] = {};
  int count_ = 0, next_ = 0;
  std::size_t workspace_bytes_ = 0;
};

TERN_API HandlePool& cudnn_handles();

/// A handle for one call. Its work goes to the given stream.
class CudnnLease {
 public:
  CudnnLease(int ordinal, StreamHandle stream) : lease_(cudnn_handles(), ordinal), ordinal_(ordinal) {
    TERN_CUDNN(cudnnSetStream, handle(), stream);
  }
  /// Detaches the stream, because it may end with its capture while the handle is idle.
  ~CudnnLease() {
    if (!capture) return;
    const StreamHandle stream = system().devices[std::size_t(ordinal_)]->compute;
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

/// Runs a convolution on the device's stream. False if cuDNN does not support it. A captured convolution is not searched
/// for, because a search waits.
TERN_API bool try_convolution(int ordinal, ConvolutionForm form, const ConvolutionMemory& memory);

/// True if it is known that cuDNN does not support the convolution.
TERN_API bool is_refused(int ordinal, ConvolutionForm form);

}  // namespace detail

/// Lets convolutions of float, and recurrent layers that cuDNN computes, use TF32, which has 10 bits of mantissa:
/// torch.backends.cudnn.allow_tf32. On by default.
inline void allow_tf32_convolution(bool on) { detail::convolution_tf32_allowed = on; }

/// Makes a convolution for which cuDNN has no deterministic algorithm an Error: torch.backends.cudnn.deterministic. An
/// algorithm that is not deterministic is taken only where there is no other, and not at all with it. Off by default.
inline void cudnn_deterministic(bool on) { detail::convolution_deterministic = on; }

}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "cudnn.ipp"
#endif
