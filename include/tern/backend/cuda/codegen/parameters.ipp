// The functions of parameters.hpp that are not templates.
#pragma once
#include "parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend::cuda_kernels {

TERN_NOINLINE void launch_with(int ordinal, const Kernel& kernel, std::initializer_list<DType> types, cuda::Grid grid,
                               const std::uint64_t* parameters) {
  cuda::launch(ordinal, typed_key(kernel, types), kernel.name, grid, parameters,
               [&] { return typed_source(kernel, types); });
}

}}}  // namespace tern::backend::cuda_kernels
