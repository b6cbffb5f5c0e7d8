// The functions of update.hpp that are not templates.
#pragma once
#include "update.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE int most_sets(const TracedUpdate& f) {
  const int others = 3 + f.program.number_count(), each = f.arrays + 1 + (f.found != nullptr);
  return std::max(1, (KernelParameters::most - others) / each);
}

TERN_NOINLINE KernelParameters update_parameters(const TracedUpdate& f, const Array* const* arrays,
                                                 const UpdateLaunch& launch, cuda::Grid& grid) {
  Index total = 0;
  for (int set = launch.first; set < launch.last; ++set) total += arrays[set * f.arrays]->numel;
  Chunks chunks(total);

  KernelParameters parameters;
  parameters.add("Index sets", Index(launch.last - launch.first));
  parameters.add("Index chunk", chunks.size);
  const auto for_each_place = [&](const char* field, int per_set, const auto& of_set) {
    parameters.begin_array(field);
    for (int set = launch.first; set < launch.last; ++set) of_set(set);
    for (int i = (launch.last - launch.first) * per_set; i < launch.capacity * per_set; ++i) parameters.add(Index(0));
  };
  for_each_place("Index ends", 1, [&](int set) { parameters.add(chunks.add(arrays[set * f.arrays]->numel)); });
  for_each_place("void* arrays", f.arrays, [&](int set) {
    for (int k = 0; k < f.arrays; ++k) parameters.add(arrays[set * f.arrays + k]->data);
  });
  if (f.found) {
    parameters.add("float* found", f.found->data);
    for_each_place("float* skipped", 1, [&](int set) { parameters.add(f.skipped[set]->data); });
  }
  parameters.add_numbers({&f.program});
  grid = chunks.grid();
  return parameters;
}

TERN_COLD std::string update_source(const TracedUpdate& f, const Array* const* arrays, unsigned written,
                                    const KernelParameters& parameters) {
  const char* const type = type_name(f.type);
  std::string out =
      detail::text({prelude, "namespace tern {\n"}) + parameters.declaration() + words_text + chunks_text + R"CUDA(
extern "C" __global__ void update(const Words<Parameters> words) {
  const Parameters& p = words.get();
  const Chunk chunk(p);
)CUDA";
  if (f.found)
    out +=
        detail::text({"  if (*p.found != 0) {\n    if (chunk.first == 0 && threadIdx.x == 0) *p.skipped[chunk.set] += "
                      "1;\n    return;\n  }\n  const ",
                      type, " v", f.arrays, " = Element<", type, ">::of(*p.skipped[chunk.set]);\n"});
  for (int k = 0; k < f.arrays; ++k) {
    const char* const element = type_name(arrays[k]->dtype);
    out += detail::text(
        {"  ", element, "* const a", k, " = (", element, "*)p.arrays[chunk.set * ", f.arrays, " + ", k, "];\n"});
  }
  out += "  for (Index i = chunk.first + threadIdx.x; i < chunk.last; i += 256) {\n";
  for (int k = 0; k < f.arrays; ++k)
    out += detail::text({"  const ", type, " v", k, " = Element<", type, ">::of(promote(a", k, "[i]));\n"});
  std::vector<int> same;
  out += steps_text(f.program, type, 0, same);
  for (int k = 0; k < f.arrays; ++k)
    if (written >> k & 1)
      out += detail::text({"  a", k, "[i] = Element<", type_name(arrays[k]->dtype), ">::of(v",
                           same[std::size_t(f.results[k])], ");\n"});
  return out + "  }\n}\n}\n";
}

TERN_NOINLINE void run_update(const TracedUpdate& f, const Array* const* arrays, int sets, unsigned written) {
  const int ordinal = common_ordinal(*arrays[0], arrays, sets * f.arrays);
  const int most = most_sets(f), launches = (sets + most - 1) / most, capacity = sets == 1 ? 1 : most;
  std::uint64_t key = mix(mix(f.program.hash(), written), std::uint64_t(capacity) << 1 | (f.found != nullptr));
  for (int k = 0; k < f.arrays; ++k) key = mix(key, std::uint64_t(f.results[k]) << 8 | std::uint64_t(arrays[k]->dtype));
  key = mix(key, std::uint64_t(f.type));
  for (int i = 0; i < launches; ++i) {
    cuda::Grid grid;
    const KernelParameters parameters =
        update_parameters(f, arrays, {sets * i / launches, sets * (i + 1) / launches, capacity}, grid);
    if (grid.blocks == 0) continue;
    const auto source = [&] { return update_source(f, arrays, written, parameters); };
    if (auto* const capture = cuda::detail::capture) [[unlikely]] {
      const int numbers_at = parameters.size() - f.program.number_count();
      capture->launch({ordinal, key, "update", grid, parameters.data(), parameters.size(), numbers_at},
                      capture->is_replay() ? std::string() : source());
    } else {
      cuda::launch(ordinal, key, "update", grid, parameters.data(), source);
    }
  }
}

}}}  // namespace tern::detail::backend::cuda_kernels
