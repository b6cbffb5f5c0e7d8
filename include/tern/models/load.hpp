// Weights that others have trained.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../io/safetensors.hpp"
#include "../nn/module.hpp"

namespace tern::inline TERN_BUILD::models {

/// Loads a safetensors file with the names of torchvision's (of Xception timm's) models. Weights of auxiliary heads,
/// which the models here lack, are passed over. Error, and nothing changed, if a name is missing or unexpected, or a
/// shape differs.
[[gnu::noinline, gnu::cold]] inline void load_weights(const nn::AnyModule& model, const std::string& path) {
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
