// Recurrent layers by cuDNN. rnn_relu is not among them: cuDNN does not say what its relu makes of NaN.
#pragma once
#include "../../device/cuda/cudnn_rnn.hpp"
#include "../recurrence.hpp"
#include "codegen/source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_API void run_layer(const RecurrentLayer& op);
TERN_API void run_layer_gradient(const RecurrentLayerGradient& op);

}  // namespace cuda_kernels

/// Whether cuDNN computes a layer of inputs x. Sequences of different lengths are not captured, because it copies the
/// lengths to the device.
TERN_API bool find_layout(On<Cuda>, const RecurrentSizes& sizes, const Steps& steps, const Array& x,
                          RecurrentLayout& layout);

template <class T>
void kernel(On<Cuda>, Types<T>, const RecurrentLayer& op) {
  cuda_kernels::run_layer(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const RecurrentLayerGradient& op) {
  cuda_kernels::run_layer_gradient(op);
}

}}}  // namespace tern::detail::backend

#ifndef TERN_COMPILED
#include "recurrent_layer.ipp"
#endif
