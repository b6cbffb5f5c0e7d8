// The functions of load.hpp that are not templates.
#pragma once
#include "load.hpp"

namespace tern::inline TERN_BUILD::models {

namespace detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE StateDict load_any(const std::string& path) {
  if (path.ends_with(".json")) return io::load_safetensors_shards(path);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return io::load_safetensors(path);
  const std::string file = path + "/model.safetensors", index = file + ".index.json";
  return io::exists(index) ? io::load_safetensors_shards(index) : io::load_safetensors(file);
}

}  // namespace detail

[[gnu::noinline, gnu::cold]] TERN_INLINE void load_weights(const nn::AnyModule& model, const std::string& path) {
  StateDict dict;
  for (NamedTensor& entry : detail::load_any(path)) {
    bool auxiliary = false;
    for (const char* const head : {"aux1.", "aux2.", "AuxLogits."})
      auxiliary = auxiliary || entry.name.starts_with(head);
    if (!auxiliary) dict.push_back(std::move(entry));
  }
  nn::load_state_dict(model, dict);
}

}  // namespace tern::models
