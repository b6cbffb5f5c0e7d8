// The functions of load.hpp that are not templates.
#pragma once
#include "load.hpp"

namespace tern::inline TERN_BUILD::models {

[[gnu::noinline, gnu::cold]] TERN_INLINE void load_weights(const nn::AnyModule& model, const std::string& path) {
  StateDict dict;
  for (NamedTensor& entry : io::load_safetensors(path)) {
    bool auxiliary = false;
    for (const char* const head : {"aux1.", "aux2.", "AuxLogits."})
      auxiliary = auxiliary || entry.name.starts_with(head);
    if (!auxiliary) dict.push_back(std::move(entry));
  }
  nn::load_state_dict(model, dict);
}

}  // namespace tern::models
