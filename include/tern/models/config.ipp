// The functions of config.hpp that are not templates.
#pragma once
#include "../io/file.hpp"
#include "../io/json_reader.hpp"
#include "config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

namespace detail {

/// A config.json that is being read.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& path) : path_(path), content_(io::read_file(path, 1 << 24)) {}

  template <class... X>
  [[noreturn]] void refuse(const X&... why) const {
    Error::fail("load_config", {"'", path_, "': ", why...});
  }
  /// Calls f(name, json) for each member, which reads its value, but for those that are null: they are as if they were
  /// missing.
  template <class F>
  void each_member(const F& f) const {
    io::JsonReader json = reader();
    std::string name;
    for (bool first = true; json.next_member(first, name);)
      if (!json.accept_null()) f(name, json);
    json.end();
  }
  /// Whether a member is null, where that is not what a missing one is.
  bool says_null(const std::string& member) const {
    io::JsonReader json = reader();
    std::string name;
    bool found = false;
    for (bool first = true; json.next_member(first, name);)
      if (json.accept_null()) found = found || name == member;
      else json.skip();
    return found;
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
  void require_number(const std::string& name, double got, double wanted) const {
    if (got != wanted) refuse(name, " ", got, " is not supported, only ", wanted);
  }
  void require(const std::string& name, bool got, bool wanted) const {
    if (got != wanted) refuse(name, got ? " true" : " false", " is not supported");
  }

 private:
  io::JsonReader reader() const {
    return {content_.data(), Index(content_.size()), "load_config",
            tern::detail::text({"'", path_, "' is not valid JSON"})};
  }

  std::string path_, content_;
};

TERN_COLD GPT2Options gpt2_options(const ConfigFile& file) {
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
    else if (name == "scale_attn_by_inverse_layer_idx" || name == "add_cross_attention")
      file.require(name, json.truth(), false);
    else json.skip();
  });
  if (n_inner && (n_inner % 4 || n_inner / 4 != o.n_embd))
    file.refuse("n_inner must be 4 n_embd, not ", n_inner, " with n_embd ", o.n_embd);
  return o;
}

/// What a config.json says of rotary positions.
struct RotaryMembers {
  std::string rope_type, type;
  std::optional<double> rope_theta;
  bool has_factor = false, has_length = false, has_low = false, has_high = false;
};

/// Reads rope_scaling or rope_parameters.
TERN_COLD void read_rotary(const ConfigFile& file, io::JsonReader& json, LlamaOptions& o, RotaryMembers& members) {
  RopeScaling& s = o.rope_scaling;
  std::string name;
  for (bool first = true; json.next_member(first, name);) {
    if (json.accept_null()) continue;
    if (name == "rope_type") members.rope_type = json.string();
    else if (name == "type") members.type = json.string();  // of older files
    else if (name == "rope_theta") members.rope_theta = json.number();
    else if (name == "factor") s.factor = json.number(), members.has_factor = true;
    else if (name == "original_max_position_embeddings")
      s.original_max_position_embeddings = json.integer(), members.has_length = true;
    else if (name == "low_freq_factor") s.low_freq_factor = json.number(), members.has_low = true;
    else if (name == "high_freq_factor") s.high_freq_factor = json.number(), members.has_high = true;
    else if (name == "beta_fast") s.beta_fast = json.number();
    else if (name == "beta_slow") s.beta_slow = json.number();
    else if (name == "attention_factor") s.attention_factor = json.number();
    else if (name == "truncate") file.require(tern::detail::text({"rope_scaling: ", name}), json.truth(), true);
    else if (name == "partial_rotary_factor") file.require_number(name, json.number(), 1);
    else if (name == "finetuned" || name == "rope_interleaved") json.skip();
    else file.refuse("rope_scaling: ", name, " is not supported");
  }
}

/// Checks what was read, and gives it the form that the model takes.
TERN_COLD void finish_rotary(const ConfigFile& file, LlamaOptions& o, const RotaryMembers& members) {
  RopeScaling& s = o.rope_scaling;
  std::string type = members.rope_type.empty() ? members.type : members.rope_type;
  if (type.empty()) type = "default";
  o.rope_theta = members.rope_theta.value_or(o.rope_theta);
  file.require("rope_scaling: rope_type", type, {"default", "linear", "llama3", "yarn"});
  if (type == "default") {
    s = {};
    return;
  }
  const auto need = [&](bool has, const char* member) {
    if (!has) file.refuse("rope_scaling of rope_type '", type, "' has no ", member);
  };
  need(members.has_factor, "factor");
  if (!(s.factor >= 1)) file.refuse("rope_scaling: factor must be at least 1, not ", s.factor);
  if (!members.has_length) s.original_max_position_embeddings = o.max_position_embeddings;
  if (s.original_max_position_embeddings < 1)
    file.refuse("rope_scaling: original_max_position_embeddings must be positive");
  if (type == "llama3") {
    need(members.has_low, "low_freq_factor"), need(members.has_high, "high_freq_factor");
    if (!(s.high_freq_factor > s.low_freq_factor))
      file.refuse("rope_scaling: high_freq_factor must be above low_freq_factor, not ", s.high_freq_factor, " with ",
                  s.low_freq_factor);
    s.rope_type = RopeType::llama3;
    return;
  }
  s.rope_type = type == "linear" ? RopeType::linear : RopeType::yarn;
  // The file may have the length of the training, before it was scaled.
  o.max_position_embeddings =
      std::max(o.max_position_embeddings, Index(s.factor * double(s.original_max_position_embeddings)));
}

/// How many layers come before those with a sliding window.
TERN_COLD Index full_layers(const ConfigFile& file, io::JsonReader& json) {
  Index full = 0, all = 0;
  for (bool first = true; json.next_element(first); ++all) {
    const std::string type = json.string();
    file.require("layer_types", type, {"full_attention", "sliding_attention"});
    if (type == "full_attention" && full++ != all)
      file.refuse("layer_types with full_attention after sliding_attention is not supported");
  }
  return full;
}

TERN_COLD LlamaOptions llama_options(const ConfigFile& file, const std::string& model_type) {
  LlamaOptions o;
  const bool is_mistral = model_type == "mistral", is_qwen3 = model_type == "qwen3",
             is_qwen = is_qwen3 || model_type == "qwen2";
  Index key_value_heads = is_mistral ? 8 : is_qwen ? 32 : 0;
  if (is_mistral) o.intermediate_size = 14336, o.max_position_embeddings = 131072;
  if (is_qwen)
    o.vocab_size = 151936, o.intermediate_size = 22016, o.max_position_embeddings = 32768, o.max_window_layers = 28;
  if (is_qwen3) o.head_dim = 128;
  if (file.says_null("num_key_value_heads")) key_value_heads = 0;
  if ((is_mistral || is_qwen) && !file.says_null("sliding_window")) o.sliding_window = 4096;
  o.qkv_bias = model_type == "qwen2", o.qk_norm = is_qwen3;
  bool slides = is_mistral;
  Index original_length = 0;
  RotaryMembers rotary;
  file.each_member([&](const std::string& name, io::JsonReader& json) {
    if (name == "vocab_size") o.vocab_size = json.integer();
    else if (name == "hidden_size") o.hidden_size = json.integer();
    else if (name == "intermediate_size") o.intermediate_size = json.integer();
    else if (name == "num_hidden_layers") o.num_hidden_layers = json.integer();
    else if (name == "num_attention_heads") o.num_attention_heads = json.integer();
    else if (name == "num_key_value_heads") key_value_heads = json.integer();
    else if (name == "head_dim") o.head_dim = json.integer();
    else if (name == "max_position_embeddings") o.max_position_embeddings = json.integer();
    else if (name == "rms_norm_eps") o.rms_norm_eps = json.number();
    else if (name == "rope_theta") o.rope_theta = json.number();
    else if (name == "tie_word_embeddings") o.tie_word_embeddings = json.truth();
    else if (name == "attention_dropout") o.attention_dropout = json.number();
    else if (name == "hidden_act") file.require(name, json.string(), {"silu"});
    else if (name == "attention_bias" && (is_qwen3 || model_type == "llama")) o.qkv_bias = o.o_bias = json.truth();
    else if (name == "mlp_bias" && model_type == "llama") o.mlp_bias = json.truth();
    else if (name == "sliding_window" && (is_mistral || is_qwen)) o.sliding_window = json.integer();
    else if (name == "use_sliding_window" && is_qwen) slides = json.truth();
    else if (name == "max_window_layers" && is_qwen) o.max_window_layers = json.integer();
    else if (name == "partial_rotary_factor") file.require_number(name, json.number(), 1);
    else if (name == "original_max_position_embeddings") original_length = json.integer();
    else if (name == "rope_scaling" || name == "rope_parameters") read_rotary(file, json, o, rotary);
    else json.skip();
  });
  if (is_qwen)
    file.each_member([&](const std::string& name, io::JsonReader& json) {
      if (name == "layer_types") o.max_window_layers = full_layers(file, json);
      else json.skip();
    });
  if (!slides) o.sliding_window = 0;
  if (original_length) o.rope_scaling.original_max_position_embeddings = original_length, rotary.has_length = true;
  finish_rotary(file, o, rotary);
  o.num_key_value_heads = key_value_heads ? key_value_heads : o.num_attention_heads;
  return o;
}

}  // namespace detail

TERN_COLD LanguageModelConfig load_config(const std::string& path, CallSite here) {
  const CallScope scope(here);
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
  file.require("model_type", model_type, {"gpt2", "llama", "mistral", "qwen2", "qwen3"});
  if (model_type == "gpt2") config.options = detail::gpt2_options(file);
  else config.options = detail::llama_options(file, model_type);
  return config;
}

}}}  // namespace tern::models
