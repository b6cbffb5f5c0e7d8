// Networks for text: training steps on random words or characters in memory, with the tokens of a second.
#include <tern/tern.hpp>

#include "next_words.hpp"
#include "steps.hpp"

namespace {

using namespace tern;

/// Steps with what the network takes for so many tokens.
template <class Net, class Optimiser, class X, class Loss>
void read(benchmark::State& state, Net& net, Optimiser optimiser, const X& x, Index tokens, const Loss& loss) {
  run_training(state, net, optimiser, x, loss);
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

template <Element T>
const Tensor<Cpu, T>& hidden(const Tensor<Cpu, T>& state) {
  return state;
}
template <Element T>
const Tensor<Cpu, T>& hidden(const std::tuple<Tensor<Cpu, T>, Tensor<Cpu, T>>& state) {
  return std::get<0>(state);
}

/// Reviews [length, batch] are read in both directions.
template <template <Device, Element> class Recurrent>
struct Reviews {
  template <Device D, Element T = float>
  struct Bidirectional : nn::Module<D, T> {
    nn::Embedding<D, T> words{20000, 128};
    Recurrent<D, T> recurrent{128, 64, {.bidirectional = true}};
    nn::Linear<D, T> out{128, 1};
    TERN_FIELDS(Bidirectional, words, recurrent, out)
    Tensor<D, T> forward(const Tensor<D, Index>& reviews) {
      const auto [states, last] = recurrent(words(reviews));
      return out(dropout(cat({hidden(last)[0], hidden(last)[1]}, 1))).squeeze(1);
    }
  };
};

template <class Net>
void imdb(benchmark::State& state, Net net) {
  judge(state, std::move(net), randint<Cpu>(0, 20000, {100, 32}));
}
void imdb_bilstm(benchmark::State& state) { imdb(state, Reviews<nn::LSTM>::Bidirectional<Cpu>()); }
void imdb_bilstm_bf16(benchmark::State& state) {
  imdb(state, nn::mixed<bfloat16>(Reviews<nn::LSTM>::Bidirectional<Cpu>()));
}
void imdb_bigru(benchmark::State& state) { imdb(state, Reviews<nn::GRU>::Bidirectional<Cpu>()); }
BENCHMARK(imdb_bilstm)->UseRealTime();
BENCHMARK(imdb_bilstm_bf16)->UseRealTime();
BENCHMARK(imdb_bigru)->UseRealTime();

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

template <class Net>
void ptb(benchmark::State& state, Net net) {
  const auto words = randint<Cpu>(0, 10000, {35, 32}), next = randint<Cpu>(0, 10000, {35 * 32});
  read(state, net, optim::SGD(net.parameters(), {.lr = 0.1, .momentum = 0.9}), words, words.numel(),
       [&](const auto& scores) { return cross_entropy(scores, next); });
}
void ptb_lstm200(benchmark::State& state) { ptb(state, Around<nn::LSTM>::NextWords<Cpu>()); }
void ptb_lstm200_bf16(benchmark::State& state) { ptb(state, nn::mixed<bfloat16>(Around<nn::LSTM>::NextWords<Cpu>())); }
void ptb_gru200(benchmark::State& state) { ptb(state, Around<nn::GRU>::NextWords<Cpu>()); }
BENCHMARK(ptb_lstm200)->UseRealTime();
BENCHMARK(ptb_lstm200_bf16)->UseRealTime();
BENCHMARK(ptb_gru200)->UseRealTime();

}  // namespace
