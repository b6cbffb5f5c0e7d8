// Loads weights that others have trained.
#pragma once
#include "../io/safetensors_shards.hpp"
#include "../nn/module.hpp"

namespace tern::inline TERN_BUILD::models {

/// Loads weights with the names of torchvision's models (for Xception, timm's): a safetensors file, an index of several
/// (model.safetensors.index.json), or a folder with model.safetensors or such an index. Weights of auxiliary heads, which
/// the models here lack, are skipped. Error, and nothing changed, if a name is missing or unexpected, or a shape
/// differs.
TERN_API void load_weights(const nn::AnyModule& model, const std::string& path);

}  // namespace tern::models

#ifndef TERN_COMPILED
#include "load.ipp"
#endif
