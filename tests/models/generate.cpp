#include "tern/models/generate.hpp"
#include "reference.hpp"

#include <tern/models/gpt2.hpp>
#include <tern/models/llama.hpp>

#include <map>

using namespace tern;
using namespace tern_test;

namespace {

using D = ModelDevice;
using models::GenerateOptions;

/// A network with weights that make its logits differ.
template <class Net>
Net spread(Net net) {
  for (const auto& [name, p] : net.named_parameters())
    if (p.dim() > 1) nn::init::normal_(p, 0, 0.3);
  net.eval();
  return net;
}
auto gpt2(const models::GPT2Options& changed = {}) {
  models::GPT2Options o = changed;
  o.vocab_size = 13, o.n_positions = 12, o.n_embd = 8, o.n_layer = 2, o.n_head = 2;
  return spread(models::GPT2LMHeadModel<D>(o));
}
auto llama() {
  return spread(models::LlamaForCausalLM<D>({.vocab_size = 13,
                                             .hidden_size = 16,
                                             .intermediate_size = 20,
                                             .num_hidden_layers = 2,
                                             .num_attention_heads = 4,
                                             .num_key_value_heads = 2,
                                             .max_position_embeddings = 12}));
}

/// The logits after each part of a text, which is given part by part, are those of the whole text.
template <class Net>
void check_cache(const Net& net, const Tensor<D, Index>& text, const std::vector<Index>& parts) {
  const InferenceMode inference;
  const auto whole = net(text);
  auto cache = net.new_cache(text.size(0), text.size(1));
  Index at = 0;
  for (const Index part : parts) {
    const auto logits = net.next_logits(text.narrow(1, at, part), cache);
    at += part;
    CHECK(cache.length == at);
    check_close(values_of(logits), values_of(whole.select(1, at - 1)), 1e-4, 1e-4);
  }
  CHECK(at == text.size(1));
}
template <class Net>
void check_cache(const Net& net) {
  const auto one = tensor_of<D, Index>({3, 1, 4, 1, 5, 9, 2, 6}, {1, 8});
  const auto two = tensor_of<D, Index>({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}, {2, 8});
  for (const auto& text : {one, two}) {
    check_cache(net, text, {8});
    check_cache(net, text, {1, 1, 1, 1, 1, 1, 1, 1});
    check_cache(net, text, {3, 4, 1});
  }
}

/// How often each token is drawn in 4,000 draws of these logits.
std::map<Index, double> shares(const std::vector<double>& logits, const GenerateOptions& options) {
  constexpr Index draws = 4000;
  const auto row = tensor_of<D>(logits, {1, Index(logits.size())});
  std::map<Index, double> share;
  for (const double token : values_of(models::sample(row.expand({draws, row.size(1)}), options)))
    share[Index(token)] += 1.0 / draws;
  return share;
}
/// Four standard deviations of a share that 4,000 draws find are at most 0.032.
void check_shares(const std::map<Index, double>& found, const std::map<Index, double>& expected) {
  for (const auto& [token, share] : found) {
    INFO("token " << token);
    CHECK(expected.count(token) == 1);
  }
  for (const auto& [token, p] : expected) {
    INFO("token " << token);
    CHECK(found.count(token) == 1);
    CHECK(std::fabs(found.at(token) - p) < 0.032);
  }
}

}  // namespace

TEST_CASE("logits with the cache are those of the whole text: gpt2", "[models][generate]") { check_cache(gpt2()); }
TEST_CASE("logits with the cache are those of the whole text: llama", "[models][generate]") { check_cache(llama()); }

TEST_CASE("at temperature 0 each token is the likeliest", "[models][generate]") {
  const auto net = llama();
  const auto start = tensor_of<D, Index>({3, 1, 4, 1, 5, 9}, {2, 3});
  const auto text = generate(net, start, {.max_new_tokens = 9, .temperature = 0});
  CHECK(text.shape() == detail::Shape{2, 12});
  const InferenceMode inference;
  auto expected = start;
  while (expected.size(1) < 12) expected = cat<D, Index>({expected, argmax(net(expected).select(1, -1), -1, true)}, 1);
  CHECK(values_of(text) == values_of(expected));
}

TEST_CASE("one text is a row without a batch, and one seed one text", "[models][generate]") {
  const auto net = gpt2();
  const auto start = tensor_of<D, Index>({3, 1});
  const GenerateOptions options{.max_new_tokens = 10};
  manual_seed(5);
  const auto text = generate(net, start, options);
  CHECK(text.shape() == detail::Shape{12});
  manual_seed(5);
  CHECK(values_of(generate(net, start.unsqueeze(0), options)) == values_of(text));
  CHECK(values_of(generate(net, start, options)) != values_of(text));
  CHECK(values_of(generate(net, start, {.max_new_tokens = 0})) == values_of(start));
}

TEST_CASE("tokens are drawn by temperature, the k likeliest, and their probability, in this order",
          "[models][generate]") {
  manual_seed(1);
  // p = 0.1, 0.4, 0.2, 0.3
  const std::vector<double> logits{std::log(0.1), std::log(0.4), std::log(0.2), std::log(0.3)};
  check_shares(shares(logits, {}), {{0, 0.1}, {1, 0.4}, {2, 0.2}, {3, 0.3}});
  check_shares(shares(logits, {.temperature = 0.5}),
               {{0, 0.01 / 0.3}, {1, 0.16 / 0.3}, {2, 0.04 / 0.3}, {3, 0.09 / 0.3}});
  check_shares(shares(logits, {.top_k = 2}), {{1, 0.4 / 0.7}, {3, 0.3 / 0.7}});
  check_shares(shares(logits, {.top_k = 9}), {{0, 0.1}, {1, 0.4}, {2, 0.2}, {3, 0.3}});
  // The token that crosses the bound is kept.
  check_shares(shares(logits, {.top_p = 0.65}), {{1, 0.4 / 0.7}, {3, 0.3 / 0.7}});
  check_shares(shares(logits, {.top_p = 0.75}), {{1, 0.4 / 0.9}, {2, 0.2 / 0.9}, {3, 0.3 / 0.9}});
  check_shares(shares(logits, {.top_p = 0.01}), {{1, 1}});
  // After top_k the two have 0.571 and 0.429; before it 0.4 would not reach 0.5.
  check_shares(shares(logits, {.top_k = 2, .top_p = 0.5}), {{1, 1}});
  // After the temperature token 1 has 0.533; before it 0.4.
  check_shares(shares(logits, {.temperature = 0.5, .top_p = 0.5}), {{1, 1}});
  check_shares(shares(logits, {.temperature = 0}), {{1, 1}});
}

TEST_CASE("a text ends with a stop token, and repeats it until all have ended", "[models][generate]") {
  const auto net = gpt2();
  const auto start = tensor_of<D, Index>({3, 1, 4, 1, 5, 9}, {2, 3});
  const auto free = values_of(generate(net, start, {.max_new_tokens = 9, .temperature = 0}));
  const auto stop = Index(free[3]);  // what the first text begins with
  const auto text = generate(net, start, {.max_new_tokens = 9, .temperature = 0, .stop = {12, stop}});
  const auto values = values_of(text);
  const auto n = std::size_t(text.size(1));
  for (std::size_t i = 3; i < n; ++i) CHECK(values[i] == double(stop));
  // The second goes on as without the first's end, until its own.
  bool ended = false;
  for (std::size_t i = 3; i < n; ++i) {
    CHECK_FALSE(ended);
    CHECK(values[n + i] == free[12 + i]);
    ended = values[n + i] == 12 || values[n + i] == double(stop);
  }
  CHECK((ended || n == 12));
}

TEST_CASE("generate refuses what has no text", "[models][generate]") {
  auto net = gpt2();
  const auto refused = [&](const std::string& reason, const GenerateOptions& options, const Tensor<D, Index>& tokens) {
    const std::string message = error_of([&] { generate(net, tokens, options); });
    INFO(message);
    CHECK(message.find(reason) != std::string::npos);
  };
  const auto start = tensor_of<D, Index>({3, 1});
  refused("not empty, not [0]", {}, zeros<D, Index>({0}));
  refused("not [1, 1, 2]", {}, start.reshape({1, 1, 2}));
  refused("max_new_tokens must not be negative, is -1", {.max_new_tokens = -1}, start);
  refused("temperature must be 0 or positive, not -1", {.temperature = -1}, start);
  refused("top_k must not be negative, is -2", {.top_k = -2}, start);
  refused("top_p must be above 0 and at most 1, not 1.5", {.top_p = 1.5}, start);
  refused("with 12 positions", {.max_new_tokens = 20}, start);
  net.train();
  refused("training mode", {}, start);
}
