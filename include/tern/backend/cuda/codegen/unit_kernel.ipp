// The functions of unit_kernel.hpp that are not templates.
#pragma once
#include <algorithm>

#include "unit_kernel.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE bool TracedUnit::uses(int input) const {
  for (int i = 0; i < program.size(); ++i)
    for (const std::int16_t argument : program[i].arguments)
      if (argument == input) return true;
  return std::find(results.begin(), results.end(), input) != results.end();
}

TERN_COLD std::string unit_source(const TracedUnit& f, const KernelParameters& parameters,
                                  const std::vector<Planes>& planes, int inputs) {
  const char* const type = type_name(f.type);
  std::string reads, writes;
  std::vector<int> same;
  const std::string steps = steps_text(f.program, type, 0, same);
  for (int k = 0, next = 0; k < int(planes.size()); ++k) {
    const auto& [data, count, shared] = planes[std::size_t(k)];
    if (k == inputs) next = 0;
    for (int plane = 0; plane < count; ++plane, ++next) {
      const std::string number = detail::text({"((", type, "*)p.arrays[", k, "])[(", shared ? "0" : "row", " * ", count,
                                               " + ", plane, ") * p.units + unit]"});
      if (k >= inputs && data)
        writes += "    " + number + detail::text({" = v", same[std::size_t(f.results[std::size_t(next)])], ";\n"});
      if (k < inputs && f.uses(next))
        reads += detail::text({"    const ", type, " v", next, " = ", data ? number : "0", ";\n"});
    }
  }
  return detail::text({prelude, "namespace tern {\n"}) + parameters.declaration() + "extern \"C\" __global__ void " +
         kernel_name("recurrence", {&f.program}) + "(const Parameters p) {\n" +
         "  #pragma unroll 1\n  for (Index i = first_thread(); i < p.count; i += all_threads()) {\n"
         "    const Index row = i / p.units, unit = i - row * p.units;\n" +
         reads + steps + writes + "  }\n}\n}\n";
}

TERN_NOINLINE void run_units(int ordinal, const TracedUnit& f, Index rows, Index units,
                             std::initializer_list<Planes> in, std::initializer_list<Planes> out) {
  if (rows * units == 0) return;
  std::vector<Planes> planes(in);
  planes.insert(planes.end(), out.begin(), out.end());
  std::uint64_t key = mix(f.program.hash(), std::uint64_t(f.type));
  for (const int result : f.results) key = mix(key, std::uint64_t(result));
  KernelParameters parameters;
  parameters.add("Index count", rows * units);
  parameters.add("Index units", units);
  parameters.begin_array("void* arrays");
  for (const Planes& a : planes) key = mix(key, a.data != nullptr), parameters.add(a.data);
  parameters.add_numbers({&f.program});
  cuda::launch(ordinal, key, "recurrence", grid_for(rows * units), parameters.data(),
               [&] { return unit_source(f, parameters, planes, int(in.size())); });
}

}}}  // namespace tern::detail::backend::cuda_kernels
