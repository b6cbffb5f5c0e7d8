// A language model of newspaper text (Zaremba, Sutskever, Vinyals: "Recurrent neural network regularization", 2014).
// ./examples/run ptb --help lists the options.
#include <tern/cuda.hpp>
#include <tern/data/text/ptb.hpp>
#include <tern/tern.hpp>
#include <tern/train/fit.hpp>

#include "support/data_folder.hpp"
#include "support/trainer.hpp"

using namespace tern;

/// A model's sizes, and how it is trained.
struct Recipe {
  Index width, steps, epochs;
  double weights, dropout;  // weights start uniform in ±weights
  double decay;             // the learning rate is multiplied by it in each epoch after the first full_epochs
  Index full_epochs;
};
constexpr Recipe small_recipe{200, 20, 13, 0.1, 0, 0.5, 4}, medium_recipe{650, 35, 39, 0.05, 0.5, 1 / 1.2, 6};

/// Two layers of LSTM between words and scores of the next word.
template <Device D, class T = float>
struct LanguageModel : nn::Module<D, T> {
  using State = typename nn::LSTM<D, T>::State;

  nn::Embedding<D, T> words;
  nn::LSTM<D, T> lstm;
  nn::Dropout<D, T> dropout;
  nn::Linear<D, T> out;

  LanguageModel(Index vocabulary, const Recipe& recipe)
      : words(vocabulary, recipe.width), lstm(recipe.width, recipe.width, {.num_layers = 2, .dropout = recipe.dropout}),
        dropout(recipe.dropout), out(recipe.width, vocabulary) {
    for (const auto& [name, p] : this->named_parameters()) nn::init::uniform_(p, -recipe.weights, recipe.weights);
  }
  TERN_FIELDS(LanguageModel, words, lstm, dropout, out)

  /// The scores [steps batch, words] after each of the tokens [steps, batch], and the state to go on from.
  std::tuple<Tensor<D, T>, State> forward(const Tensor<D, Index>& tokens, const State& state = {}) {
    const auto [states, last] = lstm(dropout(words(tokens)), state);
    return {out(dropout(states.flatten(0, 1))), last};
  }
};

/// A network on a text: it keeps its state from batch to batch, and starts anew where the text does.
template <Device D, class Net>
class Reader {
 public:
  explicit Reader(Net& net) : net_(net) {}

  /// The mean loss of the next tokens.
  Tensor<D> operator()(const Tensor<D, Index>& tokens, const Tensor<D, Index>& next, bool first) {
    if (first) state_ = {};
    auto [scores, last] = net_(tokens, state_);
    state_ = std::apply([](const auto&... each) { return State{each.detach()...}; }, last);
    return cross_entropy(scores.to(f32), next.flatten());
  }

 private:
  using State = std::tuple_element_t<1, decltype(std::declval<Net&>()(std::declval<const Tensor<D, Index>&>()))>;
  Net& net_;
  State state_;
};

/// e to the mean loss of a word.
template <Device D, class Net>
double perplexity_of(Net& net, const data::Tokens& tokens, Index steps) {
  const InferenceMode inference;
  net.eval();
  Reader<D, Net> read(net);
  auto loss = zeros<D>({});
  Index words = 0;
  for (auto& [x, y] : data::loader<D>(data::batchify(tokens, 10), {.batch_size = steps})) {
    loss += read(x, y, words == 0) * double(y.numel());
    words += y.numel();
  }
  return std::exp(loss.item() / double(words));
}

/// A rank's part of a text that all ranks read together, each in so many columns.
data::Tokens part_of(const data::Tokens& text, Index columns, const distributed::Communicator& world) {
  const Index length = (Index(text.size()) - 1) / (columns * world.size()) * columns;
  const auto begin = text.begin() + world.rank() * length;
  return data::Tokens(begin, begin + length + 1);  // the last word is only predicted
}

template <Device D>
int run(const support::Options& options, const Recipe& recipe, const distributed::Communicator& world) {
  manual_seed(std::uint64_t(options.seed));
  const data::Ptb text = data::Ptb::load(support::data_folder(
      options, "ptb", {"ptb.train.txt"},
      "Have ptb.train.txt, ptb.valid.txt and ptb.test.txt, plain or .gz, in --data DIR or in $TERN_DATA/ptb: the\n"
      "folder simple-examples/data of https://www.fit.vut.cz/person/imikolov/public/rnnlm/simple-examples.tgz"));
  support::introduce(options, DeviceTraits<D>::name,
                     "; " + std::to_string(text.train.size()) + " words to train with, " +
                         std::to_string(text.valid.size()) + " held out, " + std::to_string(text.test.size()) +
                         " to test");
  return support::in_precision(options.precision, LanguageModel<D>(text.vocabulary.size(), recipe), [&](auto own) {
    distributed::DistributedDataParallel net(std::move(own), world);
    auto batches =
        data::loader<D>(data::batchify(part_of(text.train, options.batch_size, world), options.batch_size),
                        {.batch_size = recipe.steps, .num_workers = int(options.workers), .drop_last = true});
    // The paper's loss is the sum over the steps, ours the mean: so the rate is multiplied, and the norm divided, by
    // their number.
    const double steps = double(recipe.steps), lr = options.lr > 0 ? options.lr : 1;
    optim::SGD sgd(net.parameters(), {.lr = lr * steps});
    optim::LambdaLR schedule(sgd, [&](Index epoch) {
      return std::pow(recipe.decay, double(std::max<Index>(0, epoch + 1 - recipe.full_epochs)));
    });
    Reader<D, decltype(net)> read(net);
    const auto step = [&](const Tensor<D, Index>& x, const Tensor<D, Index>& y) -> train::Step<D> {
      return {read(x, y, batches.state().batch == 1), y.numel()};
    };
    support::OptionsReport files(options, "ptb");
    return train::fit(net, sgd, batches, step, options,
                      {.evaluate = [&] { return perplexity_of<D>(net, text.test, recipe.steps); },
                       .validate = [&] { return perplexity_of<D>(net, text.valid, recipe.steps); },
                       .schedule = &schedule,
                       .clip = [&] { optim::clip_grad_norm_(net.parameters(), 5 / steps); },
                       .metric = train::perplexity,
                       .unit = "words",
                       .callbacks = {&files}})
        .exit_status();
  });
}

int main(int argc, char** argv) try {
  const support::Ranks ranks(argc, argv);
  support::Options options;
  options.model = "small", options.epochs = 0, options.batch_size = 20;
  support::parse_options(argc, argv, options);
  if (options.help) {
    std::printf("usage: ptb [options], models: small (2 x 200, 13 epochs), medium (2 x 650, 39 epochs)\n%s",
                support::options_help);
    return 0;
  }
  support::check_choice("--model", options.model, {"small", "medium"});
  const Recipe recipe = options.model == "small" ? small_recipe : medium_recipe;
  if (!options.epochs) options.epochs = recipe.epochs;
  ranks.prepare(options);
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options, recipe, ranks.world()); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
