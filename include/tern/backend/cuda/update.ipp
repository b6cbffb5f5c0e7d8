// What update.hpp declares and is no template.
#pragma once
#include "update.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string update_source(const TracedUpdate& f, const Array* const* arrays, unsigned written, int words) {
  const char* const type = type_name(f.type);
  std::string out = text({prelude, "namespace tern {\nextern \"C\" __global__ void update(const Words<", words,
                          "> p) {\n  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {\n"});
  for (int k = 0; k < f.arrays; ++k) {
    const char* const element = type_name(arrays[k]->dtype);
    out += text({"  const ", type, " v", k, " = Element<", type, ">::of(wide(p.pointer<", element, ">(", 1 + k, ")[i]));\n"});
  }
  std::vector<int> same;
  out += steps_text(f.program, type, 1 + f.arrays, same);
  for (int k = 0; k < f.arrays; ++k) {
    const char* const element = type_name(arrays[k]->dtype);
    if (written >> k & 1)
      out += text({"  p.pointer<", element, ">(", 1 + k, ")[i] = Element<", element, ">::of(v", same[std::size_t(f.results[k])], ");\n"});
  }
  return out + "  }\n}\n}\n";
}

[[gnu::noinline]] TERN_INLINE void run_update(const TracedUpdate& f, const Array* const* arrays, unsigned written) {
  const int ordinal = common_ordinal(*arrays[0], arrays, f.arrays);
  const Index n = arrays[0]->numel;
  if (n == 0) return;
  Words words;
  std::uint64_t key = mix(f.program.hash(), written);
  words.add(n);
  for (int k = 0; k < f.arrays; ++k) {
    words.add(arrays[k]->data);
    key = mix(key, std::uint64_t(f.results[k]) << 8 | std::uint64_t(arrays[k]->dtype));
  }
  words.add_numbers(f.program);
  key = mix(key, std::uint64_t(f.type));
  const auto source = [&] { return update_source(f, arrays, written, words.size()); };
  if (auto* const capture = cuda::detail::capture) [[unlikely]]
    return capture->launch({ordinal, key, "update", grid_for(n), words.data(), words.size(), 1 + f.arrays},
                           capture->is_replay() ? std::string() : source());
  cuda::launch(ordinal, key, "update", grid_for(n), words.data(), source);
}

}  // namespace tern::backend::cuda_kernels
