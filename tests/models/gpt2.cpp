#include "transformers.hpp"

#include <tern/models/gpt2.hpp>

using namespace tern_test;

namespace {

template <class T>
void check_gpt2(TransformerReference<T> reference) {
  using D = ModelDevice;
  models::GPT2LMHeadModel<D, T> net({.embd_pdrop = 0, .attn_pdrop = 0, .resid_pdrop = 0});
  reference.fill(net);
  const auto tokens = reference.tokens();
  {
    const InferenceMode inference;
    net.eval();
    reference.template watch<nn::Embedding<D, T>, nn::Dropout<D, T>, nn::LayerNorm<D, T>, models::GPT2Block<D, T>,
                             models::GPT2Model<D, T>>(net);
    const auto logits = net(tokens);
    reference.module("lm_head", logits);
    reference.watched();
    reference.logits(logits);
  }
  reference.training(net, [&] { return reference.language_loss(net(tokens), tokens); });
}

}  // namespace

TEST_CASE("gpt2", "[models][large]") {
  NEED_TEST_DATA(folder, "models");
  check_gpt2(TransformerReference<float>(folder, "gpt2"));
}
TEST_CASE("gpt2 in double", "[models][large][double]") {
  NEED_TEST_DATA(folder, "models");
  check_gpt2(TransformerReference<double>(folder, "gpt2"));
}

TEST_CASE("gpt2 refuses sizes and tokens that do not fit", "[models]") {
  using D = ModelDevice;
  using Net = models::GPT2LMHeadModel<D>;
  CHECK(error_of([] { Net net({.n_embd = 10, .n_head = 3}); }) ==
        "GPT2Model: an embedding of 10 cannot be cut into 3 heads");
  CHECK(error_of([] { Net net({.n_layer = 0}); }) == "GPT2Model: n_layer must be positive, not 0");
  Net net({.vocab_size = 5, .n_positions = 4, .n_embd = 8, .n_layer = 1, .n_head = 2});
  CHECK(error_of([&] { net(zeros<D, Index>({3})); }).find("tokens must be [batch, length] and not empty, not [3]") !=
        std::string::npos);
  CHECK(error_of([&] { net(zeros<D, Index>({1, 5})); }).find("5 tokens for 4 positions") != std::string::npos);
}
