#include <tern/models/config.hpp>

#include "../io/temporary_folder.hpp"
#include "reference.hpp"
#include "support/recorded.hpp"

#include <tern/models/generate.hpp>

using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

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
  const auto o = with<models::GPT2Options>(gpt2, {{"n_layer", 24},
                                                  {"n_embd", 1024},
                                                  {"n_head", 16},
                                                  {"vocab_size", 99},
                                                  {"n_positions", 7},
                                                  {"n_inner", 4096},
                                                  {"embd_pdrop", 0},
                                                  {"attn_pdrop", 0.25},
                                                  {"resid_pdrop", 0.5},
                                                  {"layer_norm_epsilon", 1e-6},
                                                  {"activation_function", "gelu_pytorch_tanh"}});
  CHECK((o.n_layer == 24 && o.n_embd == 1024 && o.n_head == 16 && o.vocab_size == 99 && o.n_positions == 7));
  CHECK((o.embd_pdrop == 0 && o.attn_pdrop == 0.25 && o.resid_pdrop == 0.5 && o.layer_norm_epsilon == 1e-6));
  const auto same = [](const models::GPT2Options& a, const models::GPT2Options& b) {
    return a.vocab_size == b.vocab_size && a.n_positions == b.n_positions && a.n_embd == b.n_embd &&
           a.n_layer == b.n_layer && a.n_head == b.n_head && a.embd_pdrop == b.embd_pdrop &&
           a.attn_pdrop == b.attn_pdrop && a.resid_pdrop == b.resid_pdrop &&
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
  const auto plain =
      std::get<models::LlamaOptions>(load({{"model_type", "llama"}, {"num_attention_heads", 16}}).options);
  CHECK((plain.num_key_value_heads == 16 && plain.vocab_size == 32000 && plain.rope_theta == 10000 &&
         plain.rms_norm_eps == 1e-6));
  const auto later =
      with<models::LlamaOptions>(llama, {{"rope_theta", nullptr},
                                         {"head_dim", 128},
                                         {"tie_word_embeddings", true},
                                         {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e6}}}});
  CHECK((later.rope_theta == 1e6 && later.tie_word_embeddings && later.head_dim == 128));
  Json chat = Json::parse(llama);
  chat["eos_token_id"] = {128001, 128009};
  CHECK(load(chat).eos_token_id == std::vector<Index>{128001, 128009});
}

TEST_CASE("networks that a config.json describes compute what transformers does", "[models]") {
  using D = ModelDevice;
  const Json cases = recorded_cases("language_models");
  const auto numbers = cases[0]["tokens"].get<std::vector<double>>();
  const auto count = Index(numbers.size());
  const auto tokens = tensor_of<D, Index>(numbers, {1, count});
  for (std::size_t k = 1; k < cases.size(); ++k) {
    const Json& row = cases[k];
    INFO(row["name"].get<std::string>());
    models::LlamaForCausalLM<D> net(std::get<models::LlamaOptions>(load(row["config"]).options));
    StateDict dict;
    std::vector<std::string> names;
    for (const NamedTensor& entry : net.state_dict()) {
      dict.push_back({entry.name, formula_tensor<float>(entry.name, entry.tensor.shape())});
      names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    REQUIRE(names == row["parameters"].get<std::vector<std::string>>());
    net.load_state_dict(dict, false);
    net.eval();
    const InferenceMode inference;
    const auto logits = net(tokens);
    // A logit near 0 is a difference of large terms: it is held against the logits' root mean square.
    const double typical = row["norm"].get<double>() / std::sqrt(double(logits.numel()));
    const Index places[] = {0, 11, count - 1};
    for (std::size_t i = 0; i < 3; ++i)
      check_close(values_of(logits.select(1, places[i])), row["logits"][i].get<std::vector<double>>(), 0,
                  1e-4 * typical);
    CHECK(close(values_of(norm(logits))[0], row["norm"].get<double>(), 1e-5, 0));

    const auto after = row["after"].get<std::vector<double>>();
    const auto text = models::generate(net, tokens, {.max_new_tokens = Index(after.size()), .temperature = 0});
    CHECK(values_of(text.narrow(1, count, Index(after.size()))) == after);
    auto cache = net.new_cache(1, count);
    for (Index at = 0; const Index part :
                       {Index(5), Index(1), Index(30), Index(1), Index(11)}) {  // within a window, and across its end
      const auto next = net.next_logits(tokens.narrow(1, at, part), cache);
      at += part;
      check_close(values_of(next), values_of(logits.select(1, at - 1)), 0, 1e-4 * typical);
    }
  }
}

TEST_CASE("what a config.json does not say is as in transformers", "[models]") {
  const auto of = [](const Json& config) { return std::get<models::LlamaOptions>(load(config).options); };
  const auto mistral = of({{"model_type", "mistral"}}),
             everywhere = of({{"model_type", "mistral"}, {"sliding_window", nullptr}});
  CHECK((mistral.intermediate_size == 14336 && mistral.num_key_value_heads == 8 &&
         mistral.max_position_embeddings == 131072));
  CHECK((mistral.sliding_window == 4096 && everywhere.sliding_window == 0 && !mistral.qkv_bias &&
         mistral.vocab_size == 32000));
  CHECK(of({{"model_type", "mistral"}, {"num_key_value_heads", nullptr}}).num_key_value_heads == 32);
  const auto qwen2 = of({{"model_type", "qwen2"}, {"num_attention_heads", 64}}), qwen3 = of({{"model_type", "qwen3"}});
  CHECK((qwen2.vocab_size == 151936 && qwen2.intermediate_size == 22016 && qwen2.num_key_value_heads == 32 &&
         qwen2.max_position_embeddings == 32768));
  CHECK((qwen2.qkv_bias && !qwen2.o_bias && !qwen2.qk_norm && qwen2.sliding_window == 0 && qwen2.head_dim == 0));
  CHECK((!qwen3.qkv_bias && qwen3.qk_norm && qwen3.head_dim == 128 && qwen3.sliding_window == 0));
  const auto window = of({{"model_type", "qwen2"}, {"use_sliding_window", true}});
  CHECK((window.sliding_window == 4096 && window.max_window_layers == 28));
  const Json types{"full_attention", "full_attention", "sliding_attention"};
  CHECK(of({{"model_type", "qwen3"}, {"use_sliding_window", true}, {"layer_types", types}, {"max_window_layers", 28}})
            .max_window_layers == 2);
  // Files of YaRN and of linear scaling have the length of the training.
  const Json yarn{{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32768}};
  CHECK(of({{"model_type", "qwen2"}, {"rope_scaling", yarn}}).max_position_embeddings == 131072);
  const Json llama3{{"rope_type", "llama3"},
                    {"factor", 8.0},
                    {"low_freq_factor", 1.0},
                    {"high_freq_factor", 4.0},
                    {"original_max_position_embeddings", 8192}};
  const auto scaled =
      with<models::LlamaOptions>(llama, {{"rope_scaling", llama3}, {"max_position_embeddings", 131072}});
  CHECK((scaled.max_position_embeddings == 131072 && scaled.rope_scaling.rope_type == models::RopeType::llama3));
  CHECK((scaled.rope_scaling.factor == 8 && scaled.rope_scaling.original_max_position_embeddings == 8192 &&
         scaled.rope_theta == 500000));
  // rope_parameters' theta counts, wherever it stands.
  CHECK(with<models::LlamaOptions>(llama, {{"rope_parameters", {{"rope_theta", 7.0}}}}).rope_theta == 7);
}

TEST_CASE("config.json that asks for what the models do not compute is refused", "[models]") {
  CHECK_THAT(
      refusal(gpt2, {{"model_type", "gemma"}}),
      ContainsSubstring("load_config: '") &&
          ContainsSubstring(
              "/config.json': model_type 'gemma' is not supported, only gpt2 or llama or mistral or qwen2 or qwen3"));
  CHECK_THAT(refusal(gpt2, {{"model_type", nullptr}}),
             ContainsSubstring("model_type '' is not supported, only gpt2 or llama"));
  CHECK_THAT(refusal(gpt2, {{"activation_function", "relu"}}),
             ContainsSubstring("activation_function 'relu' is not supported, only gelu_new or gelu_pytorch_tanh"));
  CHECK_THAT(refusal(gpt2, {{"n_inner", 3000}}),
             ContainsSubstring("n_inner must be 4 n_embd, not 3000 with n_embd 768"));
  CHECK_THAT(refusal(gpt2, {{"scale_attn_weights", false}}),
             ContainsSubstring("scale_attn_weights false is not supported"));
  CHECK_THAT(refusal(gpt2, {{"scale_attn_by_inverse_layer_idx", true}}),
             ContainsSubstring("scale_attn_by_inverse_layer_idx true"));
  CHECK_THAT(refusal(gpt2, {{"tie_word_embeddings", false}}),
             ContainsSubstring("tie_word_embeddings false is not supported"));
  CHECK_THAT(refusal(gpt2, {{"quantization_config", {{"bits", 4}}}}),
             ContainsSubstring("quantised weights are not supported"));
  CHECK_THAT(refusal(llama, {{"hidden_act", "gelu"}}),
             ContainsSubstring("hidden_act 'gelu' is not supported, only silu"));
  CHECK_THAT(refusal(llama, {{"partial_rotary_factor", 0.5}}),
             ContainsSubstring("partial_rotary_factor 0.5 is not supported, only 1"));
  const auto rope = [](const Json& scaling) { return refusal(llama, {{"rope_scaling", scaling}}); };
  CHECK_THAT(rope({{"factor", 8.0}, {"rope_type", "llama3"}}),
             ContainsSubstring("rope_scaling of rope_type 'llama3' has no low_freq_factor"));
  CHECK_THAT(rope({{"factor", 8.0}, {"rope_type", "llama3"}, {"low_freq_factor", 1}}),
             ContainsSubstring("has no high_freq_factor"));
  CHECK_THAT(rope({{"factor", 8.0}, {"rope_type", "llama3"}, {"low_freq_factor", 4}, {"high_freq_factor", 4}}),
             ContainsSubstring("rope_scaling: high_freq_factor must be above low_freq_factor, not 4 with 4"));
  CHECK_THAT(rope({{"rope_type", "linear"}}), ContainsSubstring("rope_scaling of rope_type 'linear' has no factor"));
  CHECK_THAT(rope({{"rope_type", "linear"}, {"factor", 0}}),
             ContainsSubstring("rope_scaling: factor must be at least 1, not 0"));
  CHECK_THAT(rope({{"factor", 2.0}, {"type", "dynamic"}}),
             ContainsSubstring(
                 "rope_scaling: rope_type 'dynamic' is not supported, only default or linear or llama3 or yarn"));
  CHECK_THAT(rope({{"factor", 2.0}, {"type", "yarn"}, {"mscale", 0.7}}),
             ContainsSubstring("rope_scaling: mscale is not supported"));
  CHECK_THAT(rope({{"factor", 2.0}, {"type", "yarn"}, {"truncate", false}}),
             ContainsSubstring("rope_scaling: truncate false is not supported"));
  CHECK_THAT(rope({{"type", "mrope"}, {"mrope_section", {16, 24, 24}}}),
             ContainsSubstring("rope_scaling: mrope_section is not supported"));
  CHECK_THAT(refusal(llama, {{"model_type", "qwen3"}, {"layer_types", {"sliding_attention", "full_attention"}}}),
             ContainsSubstring("layer_types with full_attention after sliding_attention is not supported"));
  CHECK_THAT(
      refusal(llama, {{"model_type", "qwen3"}, {"layer_types", {"linear_attention"}}}),
      ContainsSubstring("layer_types 'linear_attention' is not supported, only full_attention or sliding_attention"));
  CHECK_THAT(refusal(gpt2, {{"n_head", "12"}}),
             ContainsSubstring("is not valid JSON: a number that is not negative is missing"));
}
