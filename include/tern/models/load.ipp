// The functions of load.hpp that are not templates.
#pragma once
#include "../train/checkpoint.hpp"
#include "load.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

namespace detail {

/// The weights in a file, which may be a checkpoint of a training.
TERN_COLD StateDict load_file(const std::string& path) {
  StateDict dict = io::load_safetensors(path);
  for (const NamedTensor& entry : dict)
    if (entry.name == "training") return train::detail::extract(dict, "model.");
  return dict;
}

TERN_COLD StateDict load_any(const std::string& path) {
  if (path.ends_with(".json")) return io::load_safetensors_shards(path);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return load_file(path);
  const std::string file = path + "/model.safetensors", index = file + ".index.json";
  return io::exists(index) ? io::load_safetensors_shards(index) : io::load_safetensors(file);
}

/// What the model calls a tensor that files call `name`.
TERN_COLD std::string own_name(std::string name, const StateDict& own) {
  const auto known = [&](const std::string& candidate) {
    for (const NamedTensor& entry : own)
      if (entry.name == candidate) return true;
    return false;
  };
  if (known(name)) return name;
  constexpr std::string_view scale = "LayerNorm.gamma", shift = "LayerNorm.beta";  // names of TensorFlow's BERT
  if (name.ends_with(scale)) name.replace(name.size() - 5, 5, "weight");
  if (name.ends_with(shift)) name.replace(name.size() - 4, 4, "bias");
  for (const char* const prefix : {"transformer.", "model.", "bert."})
    if (known(prefix + name)) return prefix + name;
  return name;
}

/// Whether files hold a tensor of this name that a model may lack.
TERN_COLD bool is_spare(std::string_view name) {
  for (const std::string_view head : {"aux1.", "aux2.", "AuxLogits.", "cls."})
    if (name.starts_with(head)) return true;
  for (const std::string_view buffer :
       {".attn.bias", ".attn.masked_bias", "rotary_emb.inv_freq", "position_ids", "lm_head.weight"})
    if (name.ends_with(buffer)) return true;
  return false;
}

/// Gives the dict the model's own tensors of a layer, in place of the file's, unless the file's fit. True if it did.
TERN_COLD bool keep_unless_fits(StateDict& dict, const StateDict& own, const std::string& layer) {
  const std::string prefix = layer + '.';
  const auto fits = [&](const NamedTensor& wanted) {
    for (const NamedTensor& entry : dict)
      if (entry.name == wanted.name) return entry.tensor.shape() == wanted.tensor.shape();
    return false;
  };
  bool all_fit = true;
  for (const NamedTensor& wanted : own)
    if (wanted.name.starts_with(prefix)) all_fit = all_fit && fits(wanted);
  if (all_fit) return false;
  std::erase_if(dict, [&](const NamedTensor& entry) { return entry.name.starts_with(prefix); });
  for (const NamedTensor& entry : own)
    if (entry.name.starts_with(prefix)) dict.push_back(entry);
  return true;
}

}  // namespace detail

TERN_COLD std::vector<std::string> load_weights(const nn::AnyModule& model, const std::string& path,
                                                const LoadOptions& options, CallSite here) {
  const CallScope scope(here);
  const StateDict own = nn::state_dict(model);
  StateDict dict;
  for (NamedTensor& entry : detail::load_any(path)) {
    entry.name = detail::own_name(std::move(entry.name), own);
    bool wanted = !detail::is_spare(entry.name);
    for (const NamedTensor& each : own) wanted = wanted || each.name == entry.name;
    if (wanted) dict.push_back(std::move(entry));
  }
  std::vector<std::string> kept;
  for (const std::string& layer : options.may_differ)
    if (detail::keep_unless_fits(dict, own, layer)) kept.push_back(layer);
  nn::load_state_dict(model, dict);
  return kept;
}

}}}  // namespace tern::models
