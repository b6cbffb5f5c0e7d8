// The functions of parameters.hpp that are not templates.
#pragma once
#include "parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_COLD std::string typed_source(const Kernel& kernel, std::initializer_list<DType> types) {
  std::string out = detail::text({prelude, "namespace tern {\n"});
  int k = 0;
  for (const DType type : types) {
    out += detail::text({"typedef ", type_name(type), " T", k, ";\ntypedef Compute<T", k, ">::type C", k, ";\n"});
    ++k;
  }
  for (const char* const shared : kernel.uses)
    if (shared) out += shared;
  return out + kernel.text + "}\n";
}

TERN_NOINLINE void launch_with(int ordinal, const Kernel& kernel, std::initializer_list<DType> types, cuda::Grid grid,
                               const std::uint64_t* parameters) {
  cuda::launch(ordinal, typed_key(kernel, types), kernel.name, grid, parameters,
               [&] { return typed_source(kernel, types); });
}

}}}  // namespace tern::detail::backend::cuda_kernels
