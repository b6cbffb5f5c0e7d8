// The functions of update.hpp that are not templates.
#pragma once
#include "update.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE ParameterList update_parameters(const TracedUpdate& f, const Array* const* arrays) {
  ParameterList parameters;
  parameters.add("Index count", arrays[0]->numel);
  parameters.begin_array("void* arrays");
  for (int k = 0; k < f.arrays; ++k) parameters.add(arrays[k]->data);
  if (f.unless) {
    parameters.begin_array("float* unless");
    for (int k = 0; k < 2; ++k) parameters.add(f.unless[k]->data);
  }
  parameters.add_numbers({&f.program});
  return parameters;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string update_source(const TracedUpdate& f, const Array* const* arrays, unsigned written,
                                                                   const ParameterList& parameters) {
  const char* const type = type_name(f.type);
  std::string out = text({prelude, "namespace tern {\n"}) + parameters.declaration() + R"CUDA(
extern "C" __global__ void update(const Parameters p) {
)CUDA";
  if (f.unless)
    out += text({"  if (*p.unless[0] != 0) {\n    if (first_thread() == 0) *p.unless[1] += 1;\n    return;\n  }\n  const ", type, " v", f.arrays,
                 " = Element<", type, ">::of(*p.unless[1]);\n"});
  out += R"CUDA(  for (Index i = first_thread(); i < p.count; i += all_threads()) {
)CUDA";
  for (int k = 0; k < f.arrays; ++k) {
    const char* const element = type_name(arrays[k]->dtype);
    out += text({"  const ", type, " v", k, " = Element<", type, ">::of(wide(((const ", element, "*)p.arrays[", k, "])[i]));\n"});
  }
  std::vector<int> same;
  out += steps_text(f.program, type, 0, same);
  for (int k = 0; k < f.arrays; ++k) {
    const char* const element = type_name(arrays[k]->dtype);
    if (written >> k & 1)
      out += text({"  ((", element, "*)p.arrays[", k, "])[i] = Element<", element, ">::of(v", same[std::size_t(f.results[k])], ");\n"});
  }
  return out + "  }\n}\n}\n";
}

[[gnu::noinline]] TERN_INLINE void run_update(const TracedUpdate& f, const Array* const* arrays, unsigned written) {
  const int ordinal = common_ordinal(*arrays[0], arrays, f.arrays);
  const Index n = arrays[0]->numel;
  if (n == 0) return;
  std::uint64_t key = mix(mix(f.program.hash(), written), f.unless != nullptr);
  for (int k = 0; k < f.arrays; ++k) key = mix(key, std::uint64_t(f.results[k]) << 8 | std::uint64_t(arrays[k]->dtype));
  key = mix(key, std::uint64_t(f.type));
  const ParameterList parameters = update_parameters(f, arrays);
  const auto source = [&] { return update_source(f, arrays, written, parameters); };
  if (auto* const capture = cuda::detail::capture) [[unlikely]] {
    const int numbers_at = parameters.size() - f.program.number_count();
    return capture->launch({ordinal, key, "update", grid_for(n), parameters.data(), parameters.size(), numbers_at},
                           capture->is_replay() ? std::string() : source());
  }
  cuda::launch(ordinal, key, "update", grid_for(n), parameters.data(), source);
}

}  // namespace tern::backend::cuda_kernels
