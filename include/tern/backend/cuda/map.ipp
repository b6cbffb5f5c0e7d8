// The functions of map.hpp that are not templates.
#pragma once
#include "map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE void run_map(const Traced& f, const Array& out, const Array* const* in) {
  const int ordinal = common_ordinal(out, in, f.inputs);
  if (out.numel == 0) return;
  const Elementwise loops(out, in, f.inputs);
  KernelParameters parameters = loops.parameters();
  parameters.add_numbers({&f.program});
  cuda::launch(ordinal, mix(f.hash(), loops.key()), "map", loops.grid(), parameters.data(), [&] {
    std::string value = detail::text({"Element<", type_name(out.dtype), ">::of(f(p"});
    for (int k = 0; k < f.inputs; ++k)
      value += detail::text({", Element<", type_name(f.type), ">::of(promote(x", k, "))"});
    return loops.source(kernel_name("map", {&f.program}), parameters, function_text(f, "f", 0), value + "))");
  });
}

}}}  // namespace tern::detail::backend::cuda_kernels
