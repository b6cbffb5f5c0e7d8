// The three passes of a convolution.
#pragma once
#include "config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// What a convolution computes: its output, the gradient of its input, or the gradient of its weight.
enum class ConvolutionPass : int { forward, data_gradient, weight_gradient };

}}}  // namespace tern::detail
