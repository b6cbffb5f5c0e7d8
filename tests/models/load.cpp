#include "tern/models/load.hpp"
#include "../io/temporary_folder.hpp"
#include "reference.hpp"

#include <tern/models/bert.hpp>
#include <tern/models/gpt2.hpp>
#include <tern/models/llama.hpp>
#include <tern/train/checkpoint.hpp>

using namespace tern;
using namespace tern_test;

namespace {

using D = ModelDevice;
constexpr models::GPT2Options gpt2{.vocab_size = 5, .n_positions = 4, .n_embd = 8, .n_layer = 2, .n_head = 2};
constexpr models::LlamaOptions llama{.vocab_size = 5,
                                     .hidden_size = 8,
                                     .intermediate_size = 12,
                                     .num_hidden_layers = 1,
                                     .num_attention_heads = 2,
                                     .num_key_value_heads = 1,
                                     .max_position_embeddings = 4,
                                     .tie_word_embeddings = true};
constexpr models::BertOptions bert{.vocab_size = 5,
                                   .hidden_size = 8,
                                   .num_hidden_layers = 1,
                                   .num_attention_heads = 2,
                                   .intermediate_size = 12,
                                   .max_position_embeddings = 4};

std::string without(std::string name, const std::string& prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// The network's tensors, with the names that `rename` gives.
template <class Net, class Rename>
StateDict renamed(const Net& net, const Rename& rename) {
  StateDict dict;
  for (const NamedTensor& entry : net.to(Cpu{}).state_dict()) dict.push_back({rename(entry.name), entry.tensor});
  return dict;
}

template <class A, class B>
void check_same(const A& a, const B& b, double tolerance = 0) {
  const auto p = a.parameters();
  const auto q = b.parameters();
  REQUIRE(p.size() == q.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    INFO(p[i].name);
    check_close(values_of(p[i].tensor.template as<D, typename A::value_type>()),
                values_of(q[i].tensor.template as<D, typename B::value_type>()), tolerance, tolerance);
  }
}

}  // namespace

TEST_CASE("a published GPT-2 lacks the prefix and holds its masks", "[models][load]") {
  const TemporaryFolder folder;
  const models::GPT2LMHeadModel<D> from(gpt2);
  models::GPT2LMHeadModel<D> to(gpt2);
  StateDict dict = renamed(from, [](const std::string& name) { return without(name, "transformer."); });
  dict.push_back({"h.0.attn.bias", tril(ones<Cpu>({1, 1, 4, 4}))});
  dict.push_back({"h.1.attn.masked_bias", full<Cpu>({}, -1e4)});
  io::save_safetensors(folder / "model.safetensors", dict);
  models::load_weights(to, folder / "");
  check_same(to, from);
}

TEST_CASE("a GPT-2 saved with its tied head loads", "[models][load]") {
  const TemporaryFolder folder;
  const models::GPT2LMHeadModel<D> from(gpt2);
  models::GPT2LMHeadModel<D> to(gpt2);
  StateDict dict = from.to(Cpu{}).state_dict();
  dict.push_back({"lm_head.weight", from.to(Cpu{}).transformer.wte.weight});
  io::save_safetensors(folder / "model.safetensors", dict);
  models::load_weights(to, folder / "model.safetensors");
  check_same(to, from);
}

TEST_CASE("a Llama in shards of bfloat16 and half loads into floats", "[models][load]") {
  const TemporaryFolder folder;
  const models::LlamaForCausalLM<D> from(llama);
  models::LlamaForCausalLM<D> to(llama);
  StateDict shards[2] = {from.to(Cpu{}).to(bf16).state_dict(), from.to(Cpu{}).to(f16).state_dict()}, kept[2];
  std::string map;
  for (std::size_t i = 0; i < shards[0].size(); ++i) {
    kept[i % 2].push_back(shards[i % 2][i]);
    map += '"' + shards[0][i].name + "\": \"" + std::to_string(i % 2) + ".safetensors\", ";
  }
  kept[0].push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", ones<Cpu>({2})});
  for (std::size_t i = 0; i < 2; ++i) io::save_safetensors(folder / (std::to_string(i) + ".safetensors"), kept[i]);
  folder.put("model.safetensors.index.json",
             R"({"weight_map": {)" + map + R"("model.layers.0.self_attn.rotary_emb.inv_freq": "0.safetensors"}})");
  models::load_weights(to, folder / "");
  check_same(to, from, 0x1p-8);
  models::LlamaForCausalLM<D, bfloat16> rounded(llama);
  models::load_weights(rounded, folder / "");
  check_same(rounded, from, 0x1p-8);
}

TEST_CASE("a published BERT has heads for its training, and once had other names", "[models][load]") {
  const TemporaryFolder folder;
  const models::BertForSequenceClassification<D> from(bert);
  models::BertForSequenceClassification<D> to(bert);
  StateDict dict = renamed(from, [](std::string name) {
    name = without(name, "bert.");
    if (name.ends_with("LayerNorm.weight")) return name.substr(0, name.size() - 6) + "gamma";
    if (name.ends_with("LayerNorm.bias")) return name.substr(0, name.size() - 4) + "beta";
    return name;
  });
  dict.push_back({"cls.predictions.bias", zeros<Cpu>({5})});
  dict.push_back({"embeddings.position_ids", zeros<Cpu, Index>({1, 4})});
  io::save_safetensors(folder / "model.safetensors", dict);
  models::load_weights(to, folder / "");
  check_same(to, from);
}

TEST_CASE("weights that are missing are named, and nothing changes", "[models][load]") {
  const TemporaryFolder folder;
  const models::GPT2LMHeadModel<D> from(gpt2);
  models::GPT2LMHeadModel<D> to(gpt2);
  const auto before = values_of(to.transformer.wte.weight);
  StateDict dict = renamed(from, [](const std::string& name) { return without(name, "transformer."); });
  dict.pop_back();
  io::save_safetensors(folder / "model.safetensors", dict);
  CHECK(error_of([&] { models::load_weights(to, folder / ""); }) == "load_state_dict: missing: transformer.ln_f.bias");
  CHECK(values_of(to.transformer.wte.weight) == before);
}

TEST_CASE("the weights in a checkpoint of a training load", "[models][load]") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint.safetensors";
  models::GPT2LMHeadModel<D> from(gpt2);
  const optim::SGD sgd(from.parameters(), {.lr = 0.1});
  train::save_checkpoint(path, from, sgd);
  const models::GPT2LMHeadModel<D> to(gpt2);
  CHECK(models::load_weights(to, path).empty());
  check_same(to, from);
}
