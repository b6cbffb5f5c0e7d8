#include "transformers.hpp"

#include <tern/models/llama.hpp>

using namespace tern_test;

namespace {

using D = ModelDevice;
constexpr models::LlamaOptions small{.vocab_size = 1000,
                                     .hidden_size = 256,
                                     .intermediate_size = 688,
                                     .num_hidden_layers = 4,
                                     .num_attention_heads = 8,
                                     .num_key_value_heads = 2,
                                     .max_position_embeddings = 512,
                                     .rms_norm_eps = 1e-5};

template <class T>
void check_llama(TransformerReference<T> reference) {
  models::LlamaForCausalLM<D, T> net(small);
  reference.fill(net);
  const auto tokens = reference.tokens();
  {
    const InferenceMode inference;
    net.eval();
    reference.template watch<nn::Embedding<D, T>, nn::RMSNorm<D, T>, nn::Linear<D, T>, models::LlamaDecoderLayer<D, T>,
                             models::LlamaModel<D, T>>(net);
    reference.module("model.rotary_emb", models::rotary_table<T>(tokens, 0, 48, 32, 10000).narrow(0, 0, 1));
    const auto logits = net(tokens);
    reference.watched();
    reference.logits(logits);
  }
  reference.training(net, [&] { return reference.language_loss(net(tokens), tokens); });
}

}  // namespace

TEST_CASE("llama", "[models]") {
  NEED_TEST_DATA(folder, "models");
  check_llama(TransformerReference<float>(folder, "llama_small"));
}
TEST_CASE("llama in double", "[models][double]") {
  NEED_TEST_DATA(folder, "models");
  check_llama(TransformerReference<double>(folder, "llama_small"));
}

TEST_CASE("llama's head may be tied to the embeddings", "[models]") {
  models::LlamaOptions options = small;
  options.tie_word_embeddings = true;
  const models::LlamaForCausalLM<D> tied(options);
  for (const NamedTensor& p : tied.state_dict()) CHECK(p.name != "lm_head.weight");
  const auto tokens = tensor_of<D, Index>({1, 7, 2}, {1, 3});
  check_close(values_of(tied(tokens)), values_of(linear(tied.model(tokens), tied.model.embed_tokens.weight)));
}

TEST_CASE("llama refuses sizes and tokens that do not fit", "[models]") {
  const auto refusal = [](models::LlamaOptions changed) {
    return error_of([&] { models::LlamaForCausalLM<D> net(changed); });
  };
  const auto sizes = [](Index hidden, Index heads, Index key_heads, Index layers) {
    return models::LlamaOptions{.vocab_size = 5,
                                .hidden_size = hidden,
                                .intermediate_size = 8,
                                .num_hidden_layers = layers,
                                .num_attention_heads = heads,
                                .num_key_value_heads = key_heads,
                                .max_position_embeddings = 4};
  };
  CHECK(refusal(sizes(6, 2, 1, 1)) == "LlamaModel: a hidden_size of 6 cannot be cut into 2 heads of even size");
  CHECK(refusal(sizes(8, 4, 3, 1)) == "LlamaModel: 3 key heads do not divide 4 query heads");
  CHECK(refusal(sizes(8, 2, 2, 0)) == "LlamaModel: num_hidden_layers must be positive, not 0");
  models::LlamaOptions odd = sizes(8, 2, 1, 1);
  odd.head_dim = 5;
  CHECK(refusal(odd) == "LlamaModel: head_dim must be even, not 5");
  models::LlamaForCausalLM<D> net(sizes(8, 2, 1, 1));
  CHECK(error_of([&] { net(zeros<D, Index>({1, 5})); }).find("5 tokens for 4 positions") != std::string::npos);
}
