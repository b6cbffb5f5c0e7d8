// Learns which film reviews are positive. ./examples/run imdb --help lists the options.
#include <tern/cuda.hpp>
#include <tern/data/sources.hpp>
#include <tern/data/text/characters.hpp>
#include <tern/data/text/imdb.hpp>
#include <tern/data/text/sequences.hpp>
#include <tern/data/text/vocabulary.hpp>
#include <tern/tern.hpp>
#include <tern/train/fit.hpp>

#include "support/trainer.hpp"

using namespace tern;

constexpr Index vocabulary_size = 20000;

/// The mean of the words' vectors (Joulin et al.: "Bag of tricks for efficient text classification", 2017).
template <Device D, class T = float>
struct FastText : nn::Module<D, T> {
  nn::EmbeddingBag<D, T> words{vocabulary_size, 50};
  nn::Linear<D, T> out{50, 1};
  TERN_FIELDS(FastText, words, out)
  FastText() { nn::init::uniform_(words.weight, -0.05, 0.05); }

  Tensor<D, T> forward(const Tensor<D, Index>& reviews) { return out(words(reviews)).squeeze(1); }
};

/// The last states of an LSTM that reads a review in both directions.
template <Device D, class T = float>
struct BiLstm : nn::Module<D, T> {
  nn::Embedding<D, T> words{vocabulary_size, 128};
  nn::LSTM<D, T> lstm{128, 64, {.bidirectional = true}};
  nn::Dropout<D, T> dropout{0.5};
  nn::Linear<D, T> out{128, 1};
  TERN_FIELDS(BiLstm, words, lstm, dropout, out)
  BiLstm() { nn::init::uniform_(words.weight, -0.05, 0.05); }

  Tensor<D, T> forward(const Tensor<D, Index>& reviews) {
    const auto [states, last] = lstm(words(reviews.t()));
    const auto& h = std::get<0>(last);
    return out(dropout(cat({h[0], h[1]}, 1))).squeeze(1);
  }
};

struct Reviews {
  std::vector<std::vector<std::string>> words;
  std::vector<Index> labels;

  Reviews(const std::string& folder, bool train) {
    for (data::Review review : data::Imdb(folder, {.train = train})) {
      for (std::size_t at; (at = review.text.find("<br />")) != std::string::npos;) review.text.replace(at, 6, " ");
      words.push_back(data::split_words(review.text));
      labels.push_back(review.label);
    }
  }
  /// The last `length` words of each, as numbers; shorter reviews are filled up in front.
  data::LabelledSequences numbered(const data::Vocabulary& vocabulary, Index length) const {
    std::vector<data::Tokens> tokens;
    for (const auto& review : words) tokens.push_back(vocabulary.lookup_indices(review));
    return {tokens, labels, {.length = length, .padding_side = "left", .truncation_side = "left"}};
  }
};

/// How many reviews the sign of their score classifies rightly.
template <Device D>
Tensor<D> count_right(const Tensor<D>& scores, const Tensor<D, Index>& labels) {
  return ((scores > 0) == (labels == 1)).to(f32).sum();
}

template <Device D>
int run(const support::Options& options, const distributed::Communicator& world) {
  manual_seed(std::uint64_t(options.seed));
  const std::string folder = data::imdb_source({.folder = options.data});
  const Reviews training(folder, true), test(folder, false);
  data::TokenCounts counts;
  for (const auto& words : training.words) counts.add(words);
  data::Vocabulary vocabulary(counts, {.max_tokens = vocabulary_size, .specials = {"<pad>", "<unk>"}});
  vocabulary.set_default_index(1);
  support::introduce(options, DeviceTraits<D>::name,
                     "; " + std::to_string(training.labels.size()) + " reviews to train with, " +
                         std::to_string(test.labels.size()) + " to test, " + std::to_string(vocabulary.size()) +
                         " words");
  const Index length = options.model == "fasttext" ? 400 : 100;
  const auto train_it = [&]<class T>(train::AnyNetwork<D, T, Index> own) {
    distributed::DistributedDataParallel net(std::move(own), world);
    const auto tests = test.numbered(vocabulary, length);
    auto batches = data::loader<D>(training.numbered(vocabulary, length), support::loader_options(options),
                                   support::training_part(Index(training.labels.size()), net.replicas()));
    optim::Adam adam(net.parameters(), {.lr = options.lr > 0 ? options.lr : 1e-3});
    const auto step = [&](const Tensor<D, Index>& x, const Tensor<D, Index>& y) -> train::Step<D> {
      const Tensor<D> scores = net(x).to(f32);
      return {binary_cross_entropy_with_logits(scores, y.to(f32)), y.numel(), count_right(scores.detach(), y)};
    };
    const auto accuracy = [&] {
      const InferenceMode inference;
      net.eval();
      auto right = zeros<D>({});
      for (auto& [x, y] : data::loader<D>(tests, {.batch_size = 250}, support::test_part(tests.size(), net.replicas())))
        right += count_right(net(x).to(f32), y);
      double sum = right.item();
      net.replicas().sum(&sum, 1);
      return sum / double(tests.size());
    };
    support::OptionsReport files(options, "imdb");
    return train::fit(net, adam, batches, step, options,
                      {.evaluate = accuracy, .unit = "reviews", .capture = true, .callbacks = {&files}})
        .exit_status();
  };
  if (options.model == "fasttext") return support::with_precision<Index>(options.precision, FastText<D>(), train_it);
  return support::with_precision<Index>(options.precision, BiLstm<D>(), train_it);
}

int main(int argc, char** argv) try {
  const support::Ranks ranks(argc, argv);
  support::Options options;
  options.model = "fasttext", options.epochs = 0, options.batch_size = 32;
  support::parse_options(argc, argv, options);
  if (options.help) {
    std::printf("usage: imdb [options], models: fasttext (8 epochs), bilstm (4 epochs)\n%s", support::options_help);
    return 0;
  }
  support::check_choice("--model", options.model, {"fasttext", "bilstm"});
  if (!options.epochs) options.epochs = options.model == "fasttext" ? 8 : 4;
  ranks.prepare(options);
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options, ranks.world()); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
