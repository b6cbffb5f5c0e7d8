// Loads weights that others have trained.
#pragma once
#include "../io/safetensors_shards.hpp"
#include "../nn/module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct LoadOptions {
  /// Layers that stay as they are where the file lacks one of their tensors or has it in another shape: the last layer
  /// of a network for other classes.
  std::vector<std::string> may_differ = {};
};

/// Loads weights with the names of torchvision's models (for Xception, timm's) or Hugging Face's: a safetensors file,
/// an index of several (model.safetensors.index.json), a folder with model.safetensors or such an index, or a
/// checkpoint of train::fit. The prefix of a transformer's body (transformer., model., bert.) may be missing, a
/// LayerNorm's parameters may be gamma and beta. Skipped are what the models here lack: auxiliary and pre-training
/// heads, and buffers that are calculated. So is the lm_head of a model whose logits are computed with its embeddings.
/// Returns which layers stay as they are. Error, and nothing changed, if a name is missing or unexpected, or a shape
/// differs.
TERN_API std::vector<std::string> load_weights(const nn::AnyModule& model, const std::string& path,
                                               const LoadOptions& options = {}, CallSite here = {});

}}}  // namespace tern::models

#ifndef TERN_COMPILED
#include "load.ipp"
#endif
