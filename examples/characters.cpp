// Networks that write as a text does, character by character. ./examples/run characters --help lists the options.
#include <tern/data/loader.hpp>
#include <tern/data/sources.hpp>
#include <tern/data/text/text.hpp>
#include <tern/models/generate.hpp>
#include <tern/models/gpt2.hpp>
#include <tern/nn/linear.hpp>
#include <tern/nn/recurrent.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/adam.hpp>
#include <tern/optim/rmsprop.hpp>
#include <tern/train/fit.hpp>

#include "support/trainer.hpp"

#include <filesystem>

using namespace tern;

/// An LSTM that reads characters as ones among zeros, and scores the one after its last step.
template <Device D, class T = float>
struct NextCharacter : nn::Module<D, T> {
  Index characters;
  nn::LSTM<D, T> lstm;
  nn::Linear<D, T> out;
  TERN_FIELDS(NextCharacter, characters, lstm, out)
  explicit NextCharacter(Index n) : characters(n), lstm(n, 128, {.batch_first = true}), out(128, n) {}

  /// Texts [batch, n] to [batch, characters].
  Tensor<D, T> forward(const Tensor<D, Index>& texts) {
    const auto [states, last] = lstm(one_hot(texts, characters).to(dtype<T>));
    return out(std::get<0>(last)[0]);
  }
};

/// A text's windows for training and, from its end, for testing.
struct Text {
  data::Vocabulary vocabulary;
  data::TextWindows training, test;
};

/// Any file that --data names; else nietzsche.txt.
std::string path_of(const support::Options& options) {
  return std::filesystem::is_regular_file(options.data) ? options.data
                                                        : data::nietzsche_source({.folder = options.data});
}

/// The text's characters, with ASCII's letters in lower case. Its last 60,000 are held out, but at most a tenth.
Text load(const support::Options& options, const data::WindowOptions& windows) {
  std::string bytes = io::read_text("characters", path_of(options), INT64_MAX);
  for (char& c : bytes)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  const std::vector<std::string> characters = data::split_characters(bytes);
  data::TokenCounts counts;
  counts.add(characters);
  data::Vocabulary vocabulary(counts);
  data::Tokens tokens = vocabulary.lookup_indices(characters);
  const auto cut = tokens.end() - std::min(std::ptrdiff_t(60000 + windows.length), std::ptrdiff_t(tokens.size() / 10));
  return {vocabulary, {data::Tokens(tokens.begin(), cut), windows}, {data::Tokens(cut, tokens.end()), windows}};
}

/// Scores [batch, characters] of the character after each text.
template <Device D, class Net>
Tensor<D> next_scores(Net& net, const Tensor<D, Index>& texts) {
  const auto scores = net(texts).to(f32);
  return scores.dim() == 3 ? scores.select(1, -1) : scores;
}

/// Prints 200 characters after the given ones, drawn at several temperatures.
template <Device D, class Net>
void print_samples(Net& net, const data::Vocabulary& vocabulary, const Tensor<D, Index>& start) {
  for (const double temperature : {0.2, 0.5, 1.0, 1.2}) {
    auto text = start;
    const Index length = start.size(1);
    for (Index i = 0; i < 200; ++i)
      text = cat<D, Index>(
          {text, models::sample(next_scores<D>(net, text.narrow(1, i, length)), {.temperature = temperature})}, 1);
    std::string written;
    const auto numbers = text.cpu();
    for (Index i = 0; i < numbers.numel(); ++i) written += vocabulary.lookup_token(numbers.data()[i]);
    std::printf("--- temperature %.1f: %s\n", temperature, written.c_str());
  }
}

template <Device D>
int run(const support::Options& options, const distributed::Communicator& world) {
  manual_seed(std::uint64_t(options.seed));
  const bool gpt = options.model == "gpt";
  const data::WindowOptions each_character{.length = 64, .stride = 32, .all_targets = true},
      last_character{.length = 40, .stride = 3};
  const Text text = load(options, gpt ? each_character : last_character);
  const Index characters = text.vocabulary.size();
  support::introduce(options, DeviceTraits<D>::name,
                     "; " + std::to_string(characters) + " different characters; " +
                         std::to_string(text.training.size()) + " windows to train with, " +
                         std::to_string(text.test.size()) + " held out");
  const auto train_with = [&](auto own, optim::Optimizer& rule) {
    distributed::DistributedDataParallel net(std::move(own), world);
    auto batches = data::loader<D>(text.training, support::loader_options(options),
                                   support::training_part(text.training.size(), net.replicas()));
    const auto loss_of = [&](const Tensor<D, Index>& x, const Tensor<D, Index>& y) {
      return cross_entropy(net(x).to(f32).flatten(0, -2), y.flatten());
    };
    const auto step = [&](const Tensor<D, Index>& x, const Tensor<D, Index>& y) -> train::Step<D> {
      return {loss_of(x, y), y.numel()};
    };
    const auto held_out = [&] {
      const InferenceMode inference;
      net.eval();
      auto sum = zeros<D>({});
      Index targets = 0;
      for (auto& [x, y] :
           data::loader<D>(text.test, {.batch_size = 500}, support::test_part(text.test.size(), net.replicas()))) {
        if (targets == 0) print_samples<D>(net, text.vocabulary, x.narrow(0, 0, 1));
        sum += loss_of(x, y) * double(y.numel());
        targets += y.numel();
      }
      double sums[] = {double(sum.item()), double(targets)};
      net.replicas().sum(sums, 2);
      return sums[0] / sums[1];
    };
    support::OptionsReport files(options, "text");
    return train::fit(net, rule, batches, step, options,
                      {.evaluate = held_out,
                       .metric = train::mean_loss,
                       .unit = "characters",
                       .capture = true,
                       .callbacks = {&files}})
        .exit_status();
  };
  const auto rate = [&](double usual) { return options.lr > 0 ? options.lr : usual; };
  const models::GPT2Options sizes{.vocab_size = characters,
                                  .n_positions = 64,
                                  .n_embd = 128,
                                  .n_layer = 4,
                                  .n_head = 4,
                                  .embd_pdrop = 0,
                                  .attn_pdrop = 0,
                                  .resid_pdrop = 0};
  if (gpt)
    return support::with_precision<Index>(options.precision, models::GPT2LMHeadModel<D>(sizes), [&](auto net) {
      optim::AdamW rule(net.parameters(), {.lr = rate(1e-3)});
      return train_with(std::move(net), rule);
    });
  return support::with_precision<Index>(options.precision, NextCharacter<D>(characters), [&](auto net) {
    optim::RMSprop rule(net.parameters(), {.lr = rate(0.01), .alpha = 0.9, .eps = 1e-7});
    return train_with(std::move(net), rule);
  });
}

int main(int argc, char** argv) try {
  const support::Ranks ranks(argc, argv);
  support::Options options;
  options.model = "lstm", options.epochs = 0;
  support::parse_options(argc, argv, options);
  if (options.help) {
    std::printf("usage: characters [options], models: lstm (3 epochs), gpt (10 epochs)\n%s", support::options_help);
    return 0;
  }
  support::check_choice("--model", options.model, {"lstm", "gpt"});
  if (!options.epochs) options.epochs = options.model == "lstm" ? 3 : 10;
  ranks.prepare(options);
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options, ranks.world()); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
