// The functions of config.hpp that are not templates.
#pragma once
#include "../io/file.hpp"
#include "../io/json_reader.hpp"
#include "config.hpp"

namespace tern::inline TERN_BUILD::models {

namespace detail {

/// The members of a config.json. A member b of an object a is called a.b.
class Config {
 public:
  explicit Config(const std::string& path) : path_(path) {
    const std::string content = io::read_file(path, 1 << 24);
    io::JsonReader json(content.data(), Index(content.size()), "load_config", text({"'", path, "' is not valid JSON"}));
    read_object(json, "");
    json.end();
  }

  void read(const char* name, Index& value) const {
    if (const Member* const m = find(name)) value = Index(number(*m));
  }
  void read(const char* name, double& value) const {
    if (const Member* const m = find(name)) value = number(*m);
  }
  void read(const char* name, bool& value) const {
    if (const Member* const m = find(name)) value = m->word == "true";
  }
  std::string word(const char* name) const {
    const Member* const m = find(name);
    return m ? m->word : "";
  }
  /// Error if the member has another value.
  void must_be(const char* name, const char* value) const {
    const Member* const m = find(name);
    if (m && m->word != value) refuse({name, " is ", m->word, "; only ", value, " is supported"});
  }
  void must_be(const char* name, Index value) const {
    const Member* const m = find(name);
    if (m && number(*m) != double(value)) refuse({name, " is ", m->number, "; only ", value, " is supported"});
  }
  [[noreturn]] void refuse(std::initializer_list<Piece> reason) const {
    fail("load_config", {"'", path_, "': ", text(reason)});
  }

 private:
  struct Member {
    std::string name, word;  // a number has no word
    double number;
  };

  void read_object(io::JsonReader& json, const std::string& prefix) {
    std::string name;
    for (bool first = true; json.next_member(first, name);) {
      const char next = json.peek();
      if (json.accept_null()) continue;
      if (next == '{') read_object(json, prefix + name + '.');
      else if (next == '[') json.skip();
      else if (next == '"') members_.push_back({prefix + name, json.string(), 0});
      else if (next == 't' || next == 'f') members_.push_back({prefix + name, json.boolean() ? "true" : "false", 0});
      else members_.push_back({prefix + name, "", json.number()});
    }
  }
  /// null if there is no such member.
  const Member* find(std::string_view name) const {
    for (const Member& m : members_)
      if (m.name == name) return &m;
    return nullptr;
  }
  double number(const Member& m) const {
    if (!m.word.empty()) refuse({m.name, " must be a number, not ", m.word});
    return m.number;
  }

  std::string path_;
  std::vector<Member> members_;
};

[[gnu::noinline, gnu::cold]] TERN_INLINE GPT2Options gpt2_options(const Config& config) {
  GPT2Options o;
  config.read("vocab_size", o.vocab_size), config.read("n_positions", o.n_positions);
  config.read("n_embd", o.n_embd), config.read("n_layer", o.n_layer), config.read("n_head", o.n_head);
  config.read("embd_pdrop", o.embd_pdrop), config.read("attn_pdrop", o.attn_pdrop), config.read("resid_pdrop", o.resid_pdrop);
  config.read("layer_norm_epsilon", o.layer_norm_epsilon);
  config.must_be("activation_function", "gelu_new");
  config.must_be("n_inner", 4 * o.n_embd);
  config.must_be("scale_attn_weights", "true");
  config.must_be("scale_attn_by_inverse_layer_idx", "false");
  config.must_be("tie_word_embeddings", "true");
  return o;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE LlamaOptions llama_options(const Config& config) {
  LlamaOptions o;
  config.read("vocab_size", o.vocab_size), config.read("hidden_size", o.hidden_size);
  config.read("intermediate_size", o.intermediate_size), config.read("num_hidden_layers", o.num_hidden_layers);
  config.read("num_attention_heads", o.num_attention_heads);
  o.num_key_value_heads = o.num_attention_heads;
  config.read("num_key_value_heads", o.num_key_value_heads);
  config.read("max_position_embeddings", o.max_position_embeddings), config.read("rms_norm_eps", o.rms_norm_eps);
  config.read("rope_theta", o.rope_theta), config.read("rope_parameters.rope_theta", o.rope_theta);
  config.read("tie_word_embeddings", o.tie_word_embeddings);
  config.must_be("hidden_act", "silu");
  config.must_be("attention_bias", "false");
  config.must_be("mlp_bias", "false");
  if (o.num_attention_heads > 0) config.must_be("head_dim", o.hidden_size / o.num_attention_heads);
  for (const char* const kind : {"rope_scaling.type", "rope_scaling.rope_type", "rope_parameters.rope_type"})
    config.must_be(kind, "default");
  return o;
}

}  // namespace detail

[[gnu::noinline, gnu::cold]] TERN_INLINE std::variant<GPT2Options, LlamaOptions> load_config(const std::string& folder) {
  const detail::Config config(folder + "/config.json");
  const std::string type = config.word("model_type");
  if (type == "gpt2") return detail::gpt2_options(config);
  if (type == "llama") return detail::llama_options(config);
  config.refuse({"model_type must be gpt2 or llama, not '", type, "'"});
}

}  // namespace tern::models
