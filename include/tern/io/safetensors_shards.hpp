// Tensors in several safetensors files, as large models come.
#pragma once
#include "safetensors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// The tensors of several files beside each other, which an index names: model.safetensors.index.json, an object whose
/// member weight_map has the file of each tensor. Error that names the index if it is damaged, a name in it is no
/// file's name, or a tensor is not in its file.
TERN_API StateDict load_safetensors_shards(const std::string& index, CallSite here = {});

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "safetensors_shards.ipp"
#endif
