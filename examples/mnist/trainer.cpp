// The training of a network for the digits of MNIST: its data, its epochs, and a look at what it got wrong.
#include "trainer.hpp"

#include <tern/data/loader.hpp>
#include <tern/data/mnist_source.hpp>

/// Draws the first images that the network gets wrong.
template <Device D, class Net>
void show_mistakes(Net& net, const data::Mnist& set, Index count) {
  const InferenceMode inference;
  net.eval();
  for (Index i = 0; i < set.size() && count > 0; ++i) {
    const auto [x, y] = set.batch({&i, 1});
    const Index guess = train::scores_of(net, x.to(D{})).argmax(1).item(), truth = y.item();
    if (guess == truth) continue;
    --count;
    std::printf("a %lld, taken for a %lld\n", (long long)truth, (long long)guess);
    const float* pixel = x.data();
    for (int row = 0; row < 14; ++row, pixel += 28) {  // two rows of pixels each
      for (int column = 0; column < 28; ++column, ++pixel) {
        const float ink = pixel[0] + pixel[28];
        std::putchar(" .:*#"[std::min(int(ink * 2.5f), 4)]);
      }
      std::putchar('\n');
    }
  }
}

template <Device D, class T>
int train_any(AnyNet<D, T> own, optim::Optimizer& optimizer, const train::Options& options, const distributed::Communicator& world) {
  train::check_precision(options.precision, DeviceTraits<D>::name);
  distributed::DistributedDataParallel net(std::move(own), world);
  const auto mnist = data::mnist_source({.folder = options.data});
  const auto warn_of_generated = [&] {
    if (mnist.source == "generated")
      std::printf("NOT MNIST: %s; these are digits drawn by this program.\n", mnist.reason.c_str());
  };
  warn_of_generated();
  std::printf("%s: %s, %d threads, %s\n", options.model.c_str(), DeviceTraits<D>::name, num_threads(),
              build_info().instruction_set);
  std::fputs(train::precision_note(options.precision, DeviceTraits<D>::name).c_str(), stdout);
  auto batches = data::loader<D>(mnist.train, {.batch_size = options.batch_size, .workers = int(options.workers),
                                               .seed = std::uint64_t(options.seed)}, training_part(mnist.train.size(), net.replicas()));
  optim::CosineAnnealingLR schedule(optimizer, {.T_max = options.epochs});
  const auto evaluate = [&] { return train::accuracy_of(net, data::loader<D>(mnist.test, {.batch_size = 1000}, test_part(mnist.test.size(), net.replicas()))); };
  const auto step = [&](const auto& x, const Tensor<D, Index>& y) -> train::Step<D> {
    const auto scores = train::scores_of(net, x);
    return {cross_entropy(scores, y), y.numel(), train::count_right(scores.detach(), y)};
  };
  const auto report = train::fit<D>(net, net.module.scaled, optimizer, batches, step, options,
                                    {.data = mnist.source, .evaluate = evaluate, .schedule = &schedule, .replicas = &net.replicas()});
  if (options.show > 0) show_mistakes<D>(net, mnist.test, options.show);
  warn_of_generated();
  return report.exit_status();
}

template int train_any(AnyNet<Cpu, float>, optim::Optimizer&, const train::Options&, const distributed::Communicator&);
template int train_any(AnyNet<Cuda, float>, optim::Optimizer&, const train::Options&, const distributed::Communicator&);
template int train_any(AnyNet<Cpu, bfloat16>, optim::Optimizer&, const train::Options&, const distributed::Communicator&);
template int train_any(AnyNet<Cuda, bfloat16>, optim::Optimizer&, const train::Options&, const distributed::Communicator&);
