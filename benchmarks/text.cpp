// Networks for text: training steps on random words or characters in memory, with the tokens of a second.
#include <tern/tern.hpp>

#include "next_words.hpp"
#include "training_step.hpp"

namespace {

using namespace tern;

/// Steps with what the network takes for so many tokens.
template <class Net, class Optimiser, class X, class Loss>
void read(benchmark::State& state, Net& net, Optimiser optimiser, const X& x, Index tokens, const Loss& loss) {
  run_steps(state, net, optimiser, x, loss);
  state.SetItemsProcessed(state.iterations() * tokens);
}

/// Is each of 32 reviews positive?
template <class Net>
void judge(benchmark::State& state, Net net, const Tensor<Cpu, Index>& words) {
  const auto positive = randint<Cpu>(0, 2, {32}).to(f32);
  read(state, net, optim::Adam(net.parameters(), {.lr = 1e-3}), words, words.numel(),
       [&](const auto& scores) { return binary_cross_entropy_with_logits(scores, positive); });
}

struct FastText : nn::Module<Cpu> {
  nn::EmbeddingBag<Cpu> words{20000, 50};
  nn::Linear<Cpu> out{50, 1};
  TERN_FIELDS(FastText, words, out)
  Tensor<Cpu> forward(const Tensor<Cpu, Index>& reviews) { return out(words(reviews)).squeeze(1); }
};

void imdb_fasttext(benchmark::State& state) { judge(state, FastText(), randint<Cpu>(0, 20000, {32, 400})); }
BENCHMARK(imdb_fasttext)->UseRealTime();

const Tensor<Cpu>& hidden(const Tensor<Cpu>& state) { return state; }
const Tensor<Cpu>& hidden(const nn::LSTM<Cpu>::State& state) { return std::get<0>(state); }

/// Reviews [length, batch] are read in both directions.
template <class Recurrent>
struct Bidirectional : nn::Module<Cpu> {
  nn::Embedding<Cpu> words{20000, 128};
  Recurrent recurrent{128, 64, {.bidirectional = true}};
  nn::Linear<Cpu> out{128, 1};
  TERN_FIELDS(Bidirectional, words, recurrent, out)
  Tensor<Cpu> forward(const Tensor<Cpu, Index>& reviews) {
    const auto [states, last] = recurrent(words(reviews));
    return out(dropout(cat({hidden(last)[0], hidden(last)[1]}, 1))).squeeze(1);
  }
};

template <class Recurrent>
void imdb(benchmark::State& state) {
  judge(state, Bidirectional<Recurrent>(), randint<Cpu>(0, 20000, {100, 32}));
}
BENCHMARK(imdb<nn::LSTM<Cpu>>)->Name("imdb_bilstm")->UseRealTime();
BENCHMARK(imdb<nn::GRU<Cpu>>)->Name("imdb_bigru")->UseRealTime();

/// The character after texts [length, batch, 57], whose characters are ones among zeros.
template <class Recurrent>
struct NextCharacter : nn::Module<Cpu> {
  Recurrent recurrent{57, 128};
  nn::Linear<Cpu> out{128, 57};
  TERN_FIELDS(NextCharacter, recurrent, out)
  Tensor<Cpu> forward(const Tensor<Cpu>& texts) { return out(hidden(std::get<1>(recurrent(texts)))[0]); }
};

template <class Recurrent>
void nietzsche(benchmark::State& state) {
  NextCharacter<Recurrent> net;
  const auto texts = one_hot(randint<Cpu>(0, 57, {40, 128}), 57).to(f32);
  const auto next = randint<Cpu>(0, 57, {128});
  read(state, net, optim::RMSprop(net.parameters(), {.lr = 0.01, .alpha = 0.9, .eps = 1e-7}), texts, 40 * 128,
       [&](const auto& scores) { return cross_entropy(scores, next); });
}
BENCHMARK(nietzsche<nn::LSTM<Cpu>>)->Name("nietzsche_lstm")->UseRealTime();
BENCHMARK(nietzsche<nn::GRU<Cpu>>)->Name("nietzsche_gru")->UseRealTime();

template <class Recurrent>
void ptb(benchmark::State& state) {
  NextWords<Cpu, Recurrent> net;
  const auto words = randint<Cpu>(0, 10000, {35, 32}), next = randint<Cpu>(0, 10000, {35 * 32});
  read(state, net, optim::SGD(net.parameters(), {.lr = 0.1, .momentum = 0.9}), words, words.numel(),
       [&](const auto& scores) { return cross_entropy(scores, next); });
}
BENCHMARK(ptb<nn::LSTM<Cpu>>)->Name("ptb_lstm200")->UseRealTime();
BENCHMARK(ptb<nn::GRU<Cpu>>)->Name("ptb_gru200")->UseRealTime();

}  // namespace
