// cuDNN's handles and switches.
#pragma once
#include "../../core/keyed_cache.hpp"
#include "handle_pool.hpp"
#include "memory.hpp"
#include "span.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {
extern TERN_API constinit std::atomic<bool> convolution_tf32_allowed, convolution_deterministic;

/// Error that names the function and quotes the library's own text for the status.
inline void check_cudnn(const char* function, int status) {
  if (status) [[unlikely]]
    Error::fail("cuda", {function, ": ", cudnn().functions.cudnnGetErrorString(status)});
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

/// Whether cuDNN did what it was asked. False if it does not support that. Error for any other failure.
TERN_API bool cudnn_supports(const char* function, int status);

#define TERN_CUDNN_SUPPORTS(function, ...) \
  ::tern::cuda::detail::cudnn_supports(#function, ::tern::cuda::cudnn().functions.function(__VA_ARGS__))

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

}  // namespace detail

/// Lets convolutions of float, and recurrent layers that cuDNN computes, use TF32, which has 10 bits of mantissa:
/// torch.backends.cudnn.allow_tf32. On by default.
inline void allow_tf32_convolution(bool on) { detail::convolution_tf32_allowed = on; }

/// Keeps convolutions to kernels that give the same bits in every run: torch.backends.cudnn.deterministic. The gradient
/// of attention in 16 bits gets sums of one order with it, which need memory for all scores. Off by default.
inline void cudnn_deterministic(bool on) { detail::convolution_deterministic = on; }

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "cudnn.ipp"
#endif
