#include "transformers.hpp"

#include <tern/models/bert.hpp>

using namespace tern_test;

namespace {

using D = ModelDevice;

template <class T>
void check_bert(TransformerReference<T> reference) {
  models::BertForSequenceClassification<D, T> net({.hidden_dropout_prob = 0, .attention_probs_dropout_prob = 0});
  reference.fill(net);
  const auto tokens = reference.tokens();
  {
    const InferenceMode inference;
    net.eval();
    reference.template watch<nn::Embedding<D, T>, nn::LayerNorm<D, T>, nn::Dropout<D, T>, nn::Linear<D, T>,
                             models::BertModel<D, T>>(net);
    // Modules of the original's whose output is another module's here.
    const auto same = [&](auto& module, std::initializer_list<const char*> names) {
      module.register_forward_hook([&reference, names = std::vector<std::string>(names.begin(), names.end())](
                                       auto&, const auto&, const auto& y) {
        for (const std::string& name : names) reference.module(name, y);
      });
    };
    same(net.bert.dropout, {"bert.embeddings"});
    same(net.bert.layers.back(), {"bert.encoder"});
    same(net.dropout, {"bert.pooler", "bert.pooler.activation"});
    reference.logits(net(tokens));
    reference.watched();
  }
  reference.training(net, [&] { return cross_entropy(net(tokens), tensor_of<D, Index>({1, 0})); });
}

}  // namespace

TEST_CASE("bert", "[models][large]") {
  NEED_TEST_DATA(folder, "models");
  check_bert(TransformerReference<float>(folder, "bert"));
}
TEST_CASE("bert in double", "[models][large][double]") {
  NEED_TEST_DATA(folder, "models");
  check_bert(TransformerReference<double>(folder, "bert"));
}

namespace {

constexpr models::BertOptions small{.vocab_size = 9,
                                    .hidden_size = 8,
                                    .num_hidden_layers = 2,
                                    .num_attention_heads = 2,
                                    .intermediate_size = 16,
                                    .max_position_embeddings = 6};

}  // namespace

TEST_CASE("bert does not see padding", "[models]") {
  models::BertForSequenceClassification<D, double> net(small);
  net.eval();
  const auto sentence = net(tensor_of<D, Index>({3, 4, 5}, {1, 3}));
  const auto mask = tensor_of<D, bool>({1, 1, 1, 0, 0}, {1, 5});
  check_close(values_of(net(tensor_of<D, Index>({3, 4, 5, 7, 2}, {1, 5}), mask)), values_of(sentence));
}

TEST_CASE("bert's token types are those of the first sentence unless they are given", "[models]") {
  models::BertForSequenceClassification<D, double> net(small);
  net.eval();
  const auto tokens = tensor_of<D, Index>({3, 4, 5}, {1, 3});
  const Tensor<D, bool> all;
  check_close(values_of(net(tokens, all, zeros_like(tokens))), values_of(net(tokens)));
  CHECK(values_of(net(tokens, all, ones_like(tokens))) != values_of(net(tokens)));
}

TEST_CASE("bert refuses sizes and tokens that do not fit", "[models]") {
  models::BertOptions odd = small;
  odd.num_attention_heads = 3;
  CHECK(error_of([&] { models::BertModel<D> net(odd); }) == "BertModel: a hidden_size of 8 cannot be cut into 3 heads");
  models::BertModel<D> net(small);
  const auto refused = [&](const std::string& reason, const auto&... inputs) {
    CHECK(error_of([&] { net(inputs...); }).find(reason) != std::string::npos);
  };
  refused("tokens must be [batch, length], not [3]", zeros<D, Index>({3}));
  refused("7 tokens for 6 positions", zeros<D, Index>({1, 7}));
  refused("a mask or types of shape [1, 4] for tokens of [1, 3]", zeros<D, Index>({1, 3}), ones<D, bool>({1, 4}));
}
