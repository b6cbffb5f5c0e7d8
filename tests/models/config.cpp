#include <tern/models/config.hpp>

#include "../io/temporary_folder.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

namespace {

/// The files that are published with gpt2 and with Meta-Llama-3-8B.
constexpr const char* gpt2 = R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1,
  "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768,
  "n_head": 12, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "summary_activation": null, "summary_first_dropout": 0.1,
  "summary_proj_to_labels": true, "summary_type": "cls_index", "summary_use_proj": true,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257
})";
constexpr const char* llama = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001,
  "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 8192,
  "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "pretraining_tp": 1,
  "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
  "transformers_version": "4.40.0.dev0", "use_cache": true, "vocab_size": 128256
})";

models::LanguageModelConfig load(const Json& config) {
  const TemporaryFolder folder;
  return models::load_config(folder.put("config.json", config.dump()));
}
/// The options that a file means with other members.
template <class Options>
Options with(const char* file, const Json& other) {
  Json config = Json::parse(file);
  config.update(other);
  return std::get<Options>(load(config).options);
}

/// The refusal of a file with other members.
std::string refusal(const char* file, const Json& other) {
  return error_of([&] { with<models::GPT2Options>(file, other); });
}

}  // namespace

TEST_CASE("config.json of GPT-2", "[models]") {
  const auto config = load(Json::parse(gpt2));
  CHECK(config.eos_token_id == std::vector<Index>{50256});
  const auto o = with<models::GPT2Options>(gpt2, {{"n_layer", 24}, {"n_embd", 1024}, {"n_head", 16}, {"vocab_size", 99}, {"n_positions", 7},
                                                  {"n_inner", 4096}, {"embd_pdrop", 0}, {"attn_pdrop", 0.25}, {"resid_pdrop", 0.5},
                                                  {"layer_norm_epsilon", 1e-6}, {"activation_function", "gelu_pytorch_tanh"}});
  CHECK((o.n_layer == 24 && o.n_embd == 1024 && o.n_head == 16 && o.vocab_size == 99 && o.n_positions == 7));
  CHECK((o.embd_pdrop == 0 && o.attn_pdrop == 0.25 && o.resid_pdrop == 0.5 && o.layer_norm_epsilon == 1e-6));
  const auto same = [](const models::GPT2Options& a, const models::GPT2Options& b) {
    return a.vocab_size == b.vocab_size && a.n_positions == b.n_positions && a.n_embd == b.n_embd && a.n_layer == b.n_layer &&
           a.n_head == b.n_head && a.embd_pdrop == b.embd_pdrop && a.attn_pdrop == b.attn_pdrop && a.resid_pdrop == b.resid_pdrop &&
           a.layer_norm_epsilon == b.layer_norm_epsilon;
  };
  CHECK(same(std::get<models::GPT2Options>(config.options), {}));
  CHECK(same(std::get<models::GPT2Options>(load({{"model_type", "gpt2"}}).options), {}));
}

TEST_CASE("config.json of Llama", "[models]") {
  const auto config = load(Json::parse(llama));
  CHECK(config.eos_token_id == std::vector<Index>{128001});
  const auto o = std::get<models::LlamaOptions>(config.options);
  CHECK((o.vocab_size == 128256 && o.hidden_size == 4096 && o.intermediate_size == 14336 && o.num_hidden_layers == 32));
  CHECK((o.num_attention_heads == 32 && o.num_key_value_heads == 8 && o.max_position_embeddings == 8192));
  CHECK((o.rms_norm_eps == 1e-5 && o.rope_theta == 500000 && !o.tie_word_embeddings));
  const auto plain = std::get<models::LlamaOptions>(load({{"model_type", "llama"}, {"num_attention_heads", 16}}).options);
  CHECK((plain.num_key_value_heads == 16 && plain.vocab_size == 32000 && plain.rope_theta == 10000 && plain.rms_norm_eps == 1e-6));
  const auto later = with<models::LlamaOptions>(llama, {{"rope_theta", nullptr}, {"head_dim", 128}, {"tie_word_embeddings", true},
                                                        {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e6}}}});
  CHECK((later.rope_theta == 1e6 && later.tie_word_embeddings));
  Json chat = Json::parse(llama);
  chat["eos_token_id"] = {128001, 128009};
  CHECK(load(chat).eos_token_id == std::vector<Index>{128001, 128009});
}

TEST_CASE("config.json that asks for what the models do not compute is refused", "[models]") {
  CHECK_THAT(refusal(gpt2, {{"model_type", "mistral"}}), ContainsSubstring("load_config: '") &&
             ContainsSubstring("/config.json': model_type 'mistral' is not supported, only gpt2 or llama"));
  CHECK_THAT(refusal(gpt2, {{"model_type", nullptr}}), ContainsSubstring("model_type '' is not supported, only gpt2 or llama"));
  CHECK_THAT(refusal(gpt2, {{"activation_function", "relu"}}),
             ContainsSubstring("activation_function 'relu' is not supported, only gelu_new or gelu_pytorch_tanh"));
  CHECK_THAT(refusal(gpt2, {{"n_inner", 3000}}), ContainsSubstring("n_inner must be 4 n_embd, not 3000 with n_embd 768"));
  CHECK_THAT(refusal(gpt2, {{"scale_attn_weights", false}}), ContainsSubstring("scale_attn_weights false is not supported"));
  CHECK_THAT(refusal(gpt2, {{"scale_attn_by_inverse_layer_idx", true}}), ContainsSubstring("scale_attn_by_inverse_layer_idx true"));
  CHECK_THAT(refusal(gpt2, {{"tie_word_embeddings", false}}), ContainsSubstring("tie_word_embeddings false is not supported"));
  CHECK_THAT(refusal(gpt2, {{"quantization_config", {{"bits", 4}}}}), ContainsSubstring("quantised weights are not supported"));
  CHECK_THAT(refusal(llama, {{"hidden_act", "gelu"}}), ContainsSubstring("hidden_act 'gelu' is not supported, only silu"));
  CHECK_THAT(refusal(llama, {{"attention_bias", true}}), ContainsSubstring("attention_bias true is not supported"));
  CHECK_THAT(refusal(llama, {{"mlp_bias", true}}), ContainsSubstring("mlp_bias true is not supported"));
  CHECK_THAT(refusal(llama, {{"head_dim", 64}}),
             ContainsSubstring("head_dim must be hidden_size / num_attention_heads, not 64 with 4096 and 32"));
  CHECK_THAT(refusal(llama, {{"rope_scaling", {{"factor", 8.0}, {"rope_type", "llama3"}}}}),
             ContainsSubstring("rope_scaling: rope_type 'llama3' is not supported, only default"));
  CHECK_THAT(refusal(llama, {{"rope_scaling", {{"factor", 2.0}, {"type", "linear"}}}}), ContainsSubstring("rope_scaling: type 'linear'"));
  CHECK_THAT(refusal(gpt2, {{"n_head", "12"}}), ContainsSubstring("is not valid JSON: a number that is not negative is missing"));
}
