// Attention in 16 bits by cuDNN's flash attention.
#pragma once
#include "../../device/cuda/cudnn_attention.hpp"
#include "../attention.hpp"
#include "codegen/source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_API void run_cudnn(const LibraryAttention& op);
TERN_API void run_cudnn(const LibraryAttentionGradient& op);

}  // namespace cuda_kernels

TERN_API bool has_library_attention(On<Cuda>, const Array& q, const Array& v);

template <class T>
  requires detail::is_half_v<T>
void kernel(On<Cuda>, Types<T>, const LibraryAttention& op) {
  cuda_kernels::run_cudnn(op);
}

template <class T>
  requires detail::is_half_v<T>
void kernel(On<Cuda>, Types<T>, const LibraryAttentionGradient& op) {
  cuda_kernels::run_cudnn(op);
}

}}}  // namespace tern::detail::backend

#ifndef TERN_COMPILED
#include "cudnn_attention.ipp"
#endif
