// A network for text on a GPU: training steps on random words that are there already, plain and captured. Products are
// rounded to TF32.
#include "../next_words.hpp"
#include "on_gpu.hpp"

namespace {

using namespace tern;

void ptb(benchmark::State& state, bool captured) {
  if (!found_gpu(state)) return;
  cuda::allow_tf32_matmul(true);
  cuda::benchmark(true);
  Around<nn::LSTM>::NextWords<Cuda> net;
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  const auto words = randint<Cuda>(0, 10000, {35, 32}), next = randint<Cuda>(0, 10000, {35 * 32});
  run_training(state, captured, net, sgd, words, [&](const auto& scores) { return cross_entropy(scores, next); });
}
BENCHMARK_CAPTURE(ptb, ptb_lstm200, false)->Name("ptb_lstm200")->Iterations(50)->UseRealTime();
BENCHMARK_CAPTURE(ptb, ptb_lstm200_captured, true)->Name("ptb_lstm200_captured")->Iterations(50)->UseRealTime();

}  // namespace
