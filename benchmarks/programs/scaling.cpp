// What ./benchmarks/run scaling starts on each rank:
//   scaling step MODEL BATCH SECONDS    training steps on random data, and what they exchange
//   scaling wire SECONDS BYTES…         all_reduce of tensors of these sizes, the mean of a DistributedDataParallel's
//   gradients of these sizes,
//                                       and memcpy of as much on all ranks at once
// The first rank prints JSON.
#include <tern/distributed/distributed.hpp>
#include <tern/distributed/mpi.hpp>
#include <tern/models/resnet.hpp>
#include <tern/profile/ledger.hpp>
#include <tern/tern.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../mnist_cnn.hpp"

using namespace tern;
using distributed::Communicator;

namespace {

/// How often f is to be called to take so many seconds, after a first call. All ranks get the first one's number.
template <class F>
Index calls_within(double seconds, const F& f, const Communicator& world) {
  constexpr int probes = 3;
  f();
  const double begin = detail::now();
  for (int i = 0; i < probes; ++i) f();
  const double each = (detail::now() - begin) / probes;
  const auto calls = scalar_tensor<Cpu, Index>(std::clamp<Index>(Index(seconds / each), 1, 1'000'000));
  return distributed::broadcast(calls, world).item();
}

/// The seconds of a call, in the fastest of some rounds.
template <class F>
double fastest(double seconds, const F& f, const Communicator& world) {
  constexpr int rounds = 5;
  const Index calls = calls_within(seconds / rounds, f, world);
  double best = HUGE_VAL;
  for (int round = 0; round < rounds; ++round) {
    world.barrier();
    const double begin = detail::now();
    for (Index i = 0; i < calls; ++i) f();
    best = std::min(best, (detail::now() - begin) / double(calls));
  }
  return best;
}

template <class Net>
void measure_steps(Net own, const detail::Shape& images, double seconds, const Communicator& world) {
  distributed::DistributedDataParallel net(std::move(own), world);
  optim::SGD sgd(net.parameters(), {.lr = 1e-3, .momentum = 0.9});
  const auto x = randn<Cpu>(images);
  const auto labels = randint<Cpu>(0, 10, {images[0]});
  const auto step = [&] {
    sgd.zero_grad();
    cross_entropy(net(x), labels).backward();
    sgd.step();
  };
  const double best = fastest(seconds, step, world);
  constexpr int listed = 10;
  ledger::start();
  for (int i = 0; i < listed; ++i) step();
  const ledger::Communication all = ledger::communication();
  ledger::stop();
  if (world.rank() == 0)
    std::printf(
        "{\"seconds\": %.6g, \"collectives\": %.3g, \"bytes\": %.0f, \"exchange_seconds\": %.6g, \"hidden\": %.3g}\n",
        best, double(all.count) / listed, double(all.bytes) / listed, all.seconds / listed, all.hidden());
}

void measure_wire(double seconds, const std::vector<Index>& sizes, const Communicator& world) {
  std::string points;
  const auto gradients_of = distributed::detail::host_parallel(world);
  for (const Index bytes : sizes) {
    const auto x = ones<Cpu>({bytes / Index(sizeof(float))}), y = empty_like(x);
    const AnyTensor gradients = gradients_of->zeros(DType::float32, x.numel(), 0);
    const double part = seconds / double(3 * sizes.size());
    const double sum = fastest(part, [&] { distributed::all_reduce(x, world); }, world);
    const double mean = fastest(part, [&] { gradients_of->average(gradients), gradients_of->settle(); }, world);
    const double copy = fastest(part, [&] { std::memcpy(y.data(), x.data(), std::size_t(bytes)); }, world);
    points += detail::text({points.empty() ? "[" : ", [", bytes, ", ", sum, ", ", mean, ", ", copy, "]"});
  }
  if (world.rank() == 0) std::printf("[%s]\n", points.c_str());
}

void run(const std::vector<std::string>& words, const Communicator& world) {
  manual_seed(1);
  if (words.size() > 2 && words[0] == "wire") {
    std::vector<Index> sizes;
    for (std::size_t i = 2; i < words.size(); ++i) sizes.push_back(std::stoll(words[i]));
    return measure_wire(std::stod(words[1]), sizes, world);
  }
  if (words.size() != 4 || words[0] != "step")
    throw std::runtime_error("scaling: step MODEL BATCH SECONDS, or wire SECONDS BYTES…");
  const std::string& model = words[1];
  const Index batch = std::stoll(words[2]);
  const double seconds = std::stod(words[3]);
  if (model == "mnist_mlp")
    return measure_steps(
        nn::Sequential(nn::Linear<Cpu>(784, 512), nn::ReLU<Cpu>(), nn::Dropout<Cpu>(0.2), nn::Linear<Cpu>(512, 512),
                       nn::ReLU<Cpu>(), nn::Dropout<Cpu>(0.2), nn::Linear<Cpu>(512, 10)),
        {batch, 784}, seconds, world);
  if (model == "mnist_cnn") return measure_steps(MnistCnn<Cpu>(), {batch, 1, 28, 28}, seconds, world);
  if (model == "resnet20") return measure_steps(models::resnet20<Cpu>(), {batch, 3, 32, 32}, seconds, world);
  if (model == "resnet50") return measure_steps(models::resnet50<Cpu>(), {batch, 3, 224, 224}, seconds, world);
  throw std::runtime_error("scaling: no model '" + model + "'");
}

}  // namespace

int main(int argc, char** argv) try {
  const distributed::Mpi mpi(argc, argv);
  run({argv + 1, argv + argc}, mpi.world());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
