// Epochs over as many images as MNIST has, on the CPU and on a GPU: batches made by the loader, training steps. The
// images are grey, which takes as long.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

template <Device D, class Net, class Optimiser>
void train(benchmark::State& state, Net& net, Optimiser& optimiser, Index batch_size) {
  const data::Mnist images(full<Cpu, std::uint8_t>({60000, 28, 28}, 128), zeros<Cpu, Index>({60000}));
  auto batches = data::loader<D>(images, {.batch_size = batch_size, .shuffle = true});
  for (auto _ : state) {
    for (auto& [x, y] : batches) {
      optimiser.zero_grad();
      cross_entropy(net(x.flatten(1)), y).backward();
      optimiser.step();
    }
    if constexpr (std::is_same_v<D, Cuda>) cuda::synchronize();
  }
}

/// Runs f where there is the device; else skips.
template <Device D, class F>
void on_device(benchmark::State& state, const F& f) {
  if (std::is_same_v<D, Cuda> && !cuda::is_available()) state.SkipWithError(cuda::why_not().c_str());
  else f();
}

template <Device D>
void mlp_small_epoch(benchmark::State& state) {
  on_device<D>(state, [&] {
    nn::Sequential net(nn::Linear<D>(784, 128), nn::ReLU<D>(), nn::Linear<D>(128, 10));
    optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
    train<D>(state, net, sgd, 64);
  });
}

template <Device D>
void mnist_mlp_epoch(benchmark::State& state) {
  on_device<D>(state, [&] {
    nn::Sequential net(nn::Linear<D>(784, 512), nn::ReLU<D>(), nn::Dropout<D>(0.2), nn::Linear<D>(512, 512),
                       nn::ReLU<D>(), nn::Dropout<D>(0.2), nn::Linear<D>(512, 10));
    optim::RMSprop rmsprop(net.parameters(), {.lr = 1e-3});
    train<D>(state, net, rmsprop, 128);
  });
}

void mlp_small_epoch_cpu(benchmark::State& state) { mlp_small_epoch<Cpu>(state); }
void mlp_small_epoch_cuda(benchmark::State& state) { mlp_small_epoch<Cuda>(state); }
void mnist_mlp_epoch_cpu(benchmark::State& state) { mnist_mlp_epoch<Cpu>(state); }
void mnist_mlp_epoch_cuda(benchmark::State& state) { mnist_mlp_epoch<Cuda>(state); }

#define TERN_EPOCH(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)->UseRealTime()
TERN_EPOCH(mlp_small_epoch_cpu);
TERN_EPOCH(mlp_small_epoch_cuda);
TERN_EPOCH(mnist_mlp_epoch_cpu);
TERN_EPOCH(mnist_mlp_epoch_cuda);

}  // namespace
