// The functions of config.hpp that are not templates.
#pragma once
#include "../io/file.hpp"
#include "../io/json_reader.hpp"
#include "config.hpp"

namespace tern::inline TERN_BUILD::models {

namespace detail {

/// A config.json that is being read.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& path) : path_(path), content_(io::read_file(path, 1 << 24)) {}

  template <class... X>
  [[noreturn]] void refuse(const X&... why) const {
    fail("load_config", {"'", path_, "': ", why...});
  }
  /// Calls f(name, json) for each member, which reads its value, but for those that are null: they are as if they were missing.
  template <class F>
  void each_member(const F& f) const {
    io::JsonReader json(content_.data(), Index(content_.size()), "load_config", tern::detail::text({"'", path_, "' is not valid JSON"}));
    std::string name;
    for (bool first = true; json.next_member(first, name);)
      if (!json.accept_null()) f(name, json);
    json.end();
  }
  /// What changes the model must be what it has.
  void require(const std::string& name, const std::string& got, std::initializer_list<const char*> offered) const {
    std::string list;
    for (const char* const each : offered) {
      if (got == each) return;
      list += tern::detail::text({list.empty() ? "" : " or ", each});
    }
    refuse(name, " '", got, "' is not supported, only ", list);
  }
  void require(const std::string& name, bool got, bool wanted) const {
    if (got != wanted) refuse(name, got ? " true" : " false", " is not supported");
  }

 private:
  std::string path_, content_;
};

[[gnu::noinline, gnu::cold]] TERN_INLINE GPT2Options gpt2_options(const ConfigFile& file) {
  GPT2Options o;
  Index n_inner = 0;
  file.each_member([&](const std::string& name, io::JsonReader& json) {
    if (name == "vocab_size") o.vocab_size = json.integer();
    else if (name == "n_positions") o.n_positions = json.integer();
    else if (name == "n_embd") o.n_embd = json.integer();
    else if (name == "n_layer") o.n_layer = json.integer();
    else if (name == "n_head") o.n_head = json.integer();
    else if (name == "n_inner") n_inner = json.integer();
    else if (name == "embd_pdrop") o.embd_pdrop = json.number();
    else if (name == "attn_pdrop") o.attn_pdrop = json.number();
    else if (name == "resid_pdrop") o.resid_pdrop = json.number();
    else if (name == "layer_norm_epsilon") o.layer_norm_epsilon = json.number();
    else if (name == "activation_function") file.require(name, json.string(), {"gelu_new", "gelu_pytorch_tanh"});
    else if (name == "scale_attn_weights" || name == "tie_word_embeddings") file.require(name, json.truth(), true);
    else if (name == "scale_attn_by_inverse_layer_idx" || name == "add_cross_attention") file.require(name, json.truth(), false);
    else json.skip();
  });
  if (n_inner && (n_inner % 4 || n_inner / 4 != o.n_embd)) file.refuse("n_inner must be 4 n_embd, not ", n_inner, " with n_embd ", o.n_embd);
  return o;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE LlamaOptions llama_options(const ConfigFile& file) {
  LlamaOptions o;
  Index key_value_heads = 0, head_dim = 0;
  file.each_member([&](const std::string& name, io::JsonReader& json) {
    if (name == "vocab_size") o.vocab_size = json.integer();
    else if (name == "hidden_size") o.hidden_size = json.integer();
    else if (name == "intermediate_size") o.intermediate_size = json.integer();
    else if (name == "num_hidden_layers") o.num_hidden_layers = json.integer();
    else if (name == "num_attention_heads") o.num_attention_heads = json.integer();
    else if (name == "num_key_value_heads") key_value_heads = json.integer();
    else if (name == "head_dim") head_dim = json.integer();
    else if (name == "max_position_embeddings") o.max_position_embeddings = json.integer();
    else if (name == "rms_norm_eps") o.rms_norm_eps = json.number();
    else if (name == "rope_theta") o.rope_theta = json.number();
    else if (name == "tie_word_embeddings") o.tie_word_embeddings = json.truth();
    else if (name == "hidden_act") file.require(name, json.string(), {"silu"});
    else if (name == "attention_bias" || name == "mlp_bias") file.require(name, json.truth(), false);
    else if (name == "rope_scaling" || name == "rope_parameters") {
      std::string inner;
      for (bool first = true; json.next_member(first, inner);)
        if (inner == "rope_type" || inner == "type") file.require(tern::detail::text({name, ": ", inner}), json.string(), {"default"});
        else if (inner == "rope_theta") o.rope_theta = json.number();
        else json.skip();
    } else json.skip();
  });
  o.num_key_value_heads = key_value_heads ? key_value_heads : o.num_attention_heads;
  if (head_dim && (o.num_attention_heads < 1 || head_dim != o.hidden_size / o.num_attention_heads))
    file.refuse("head_dim must be hidden_size / num_attention_heads, not ", head_dim, " with ", o.hidden_size, " and ",
                o.num_attention_heads);
  return o;
}

}  // namespace detail

[[gnu::noinline, gnu::cold]] TERN_INLINE LanguageModelConfig load_config(const std::string& path) {
  const detail::ConfigFile file(path);
  LanguageModelConfig config;
  std::string model_type;
  file.each_member([&](const std::string& name, io::JsonReader& json) {
    if (name == "model_type") model_type = json.string();
    else if (name == "quantization_config") file.refuse("quantised weights are not supported");
    else if (name == "eos_token_id" && json.peek() == '[')
      for (bool first = true; json.next_element(first);) config.eos_token_id.push_back(json.integer());
    else if (name == "eos_token_id") config.eos_token_id.push_back(json.integer());
    else json.skip();
  });
  file.require("model_type", model_type, {"gpt2", "llama"});
  if (model_type == "gpt2") config.options = detail::gpt2_options(file);
  else config.options = detail::llama_options(file);
  return config;
}

}  // namespace tern::models
