#include "tern/models/config.hpp"
#include "../io/temporary_folder.hpp"
#include "reference.hpp"

using namespace tern;
using namespace tern_test;

namespace {

auto config_of(const std::string& json) {
  const TemporaryFolder folder;
  folder.put("config.json", json);
  return models::load_config(folder / "");
}
std::string refusal(const std::string& json) {
  const std::string message = error_of([&] { config_of(json); });
  return message.substr(message.find("config.json': ") + 14);
}

}  // namespace

TEST_CASE("the config.json of GPT-2 medium", "[models][config]") {
  const auto o = std::get<models::GPT2Options>(config_of(R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.2, "bos_token_id": 50256, "embd_pdrop": 0.3, "initializer_range": 0.02, "layer_norm_epsilon": 1e-06,
    "model_type": "gpt2", "n_ctx": 1024, "n_embd": 1024, "n_head": 16, "n_inner": null, "n_layer": 24, "n_positions": 512,
    "resid_pdrop": 0.4, "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50258})"));
  CHECK(o.vocab_size == 50258);
  CHECK(o.n_positions == 512);
  CHECK(o.n_embd == 1024);
  CHECK(o.n_layer == 24);
  CHECK(o.n_head == 16);
  CHECK(o.embd_pdrop == 0.3);
  CHECK(o.attn_pdrop == 0.2);
  CHECK(o.resid_pdrop == 0.4);
  CHECK(o.layer_norm_epsilon == 1e-6);
}

TEST_CASE("the config.json of a Llama", "[models][config]") {
  const std::string sizes = R"("model_type": "llama", "vocab_size": 128, "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 3, "num_attention_heads": 8, "max_position_embeddings": 256, "rms_norm_eps": 1e-05)";
  const auto o = std::get<models::LlamaOptions>(config_of("{" + sizes + R"(, "num_key_value_heads": 2, "rope_theta": 500000.0,
    "tie_word_embeddings": true, "hidden_act": "silu", "attention_bias": false, "rope_scaling": null, "head_dim": 8})"));
  CHECK(o.vocab_size == 128);
  CHECK(o.hidden_size == 64);
  CHECK(o.intermediate_size == 96);
  CHECK(o.num_hidden_layers == 3);
  CHECK(o.num_attention_heads == 8);
  CHECK(o.num_key_value_heads == 2);
  CHECK(o.max_position_embeddings == 256);
  CHECK(o.rms_norm_eps == 1e-5);
  CHECK(o.rope_theta == 500000);
  CHECK(o.tie_word_embeddings);
  const auto first = std::get<models::LlamaOptions>(config_of("{" + sizes + R"(, "rope_parameters": {"rope_theta": 7, "rope_type": "default"}})"));
  CHECK(first.num_key_value_heads == 8);
  CHECK(first.rope_theta == 7);
  CHECK_FALSE(first.tie_word_embeddings);
}

TEST_CASE("a model that differs from those here is refused", "[models][config]") {
  CHECK(refusal(R"({"model_type": "mamba"})") == "model_type must be gpt2 or llama, not 'mamba'");
  CHECK(refusal("{}") == "model_type must be gpt2 or llama, not ''");
  CHECK(refusal(R"({"model_type": "gpt2", "activation_function": "relu"})") == "activation_function is relu; only gelu_new is supported");
  CHECK(refusal(R"({"model_type": "gpt2", "n_inner": 5})") == "n_inner is 5; only 3072 is supported");
  CHECK(refusal(R"({"model_type": "gpt2", "n_layer": "12"})") == "n_layer must be a number, not 12");
  CHECK(refusal(R"({"model_type": "llama", "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}})") ==
        "rope_scaling.rope_type is llama3; only default is supported");
  CHECK(refusal(R"({"model_type": "llama", "attention_bias": true})") == "attention_bias is true; only false is supported");
  CHECK(error_of([] { config_of("{\"model_type\": "); }).find("is not valid JSON") != std::string::npos);
  const TemporaryFolder empty;
  CHECK(error_of([&] { models::load_config(empty / ""); }).find("config.json") != std::string::npos);
}
