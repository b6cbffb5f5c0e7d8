// Training by several ranks against training by one with all their samples, whatever carries the gradients.
#pragma once
#include "collective_cases.hpp"

#include <vector>

#include <tern/distributed/data_parallel.hpp>
#include <tern/distributed/sync_batch_norm.hpp>
#include <tern/models/resnet.hpp>
#include <tern/tern.hpp>

namespace tern_test {

using namespace tern;
/// Numbers between -1 and 1 that depend on the step and the place alone (the finaliser of SplitMix64).
template <class T>
Tensor<Cpu, T> samples(Index step, const detail::Shape& shape) {
  const Tensor<Cpu, T> x = empty<Cpu, T>(shape);
  for (Index i = 0; i < x.numel(); ++i) {
    std::uint64_t z = (std::uint64_t(step) * 1'000'003 + std::uint64_t(i) + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    x.data()[i] = static_cast<T>(double((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1);
  }
  return x;
}

/// What a rank has of a batch.
template <class X>
X share(const X& batch, const Communicator& c) {
  const Index each = batch.size(0) / c.size();
  return batch.slice(0, {c.rank() * each, (c.rank() + 1) * each}).contiguous();
}

template <Device D, class T>
struct SmallMlp : nn::Module<D, T> {
  nn::Linear<D, T> hidden{12, 20}, out{20, 5}, unused{3, 3};
  TERN_FIELDS(SmallMlp, hidden, out, unused)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(tanh(hidden(x))); }
};

template <Device D, class T>
struct SmallLstm : nn::Module<D, T> {
  nn::LSTM<D, T> lstm{6, 8, {.batch_first = true}};
  nn::Linear<D, T> out{8, 5};
  TERN_FIELDS(SmallLstm, lstm, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(std::get<0>(lstm(x)).select(1, -1)); }
};

/// The mean losses over all ranks of 20 steps of a network, on batches of 12 samples of this shape with labels below 5.
template <class T, Device D = Cpu, class Make>
std::vector<double> losses_of(const Communicator& c, const Make& make, const detail::Shape& sample, double lr) {
  auto network = make();
  if (c.size() > 1) distributed::convert_sync_batchnorm(network, c);
  distributed::DistributedDataParallel net(std::move(network), c, {.bucket_cap_mb = 0.001});
  optim::SGD optimizer(net.parameters(), {.lr = lr, .momentum = 0.9});
  detail::Shape shape = {12};
  for (int i = 0; i < sample.n; ++i) shape.d[++shape.n - 1] = sample.d[i];
  const Tensor<D, Index> labels = on<D>(share(arange<Cpu>(0, 12) % 5, c));
  std::vector<double> losses;
  for (Index step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    const auto loss = cross_entropy(net(on<D>(share(samples<T>(step, shape), c))), labels);
    loss.backward();
    optimizer.step();
    losses.push_back(double(distributed::all_reduce(loss.detach(), c, distributed::ReduceOp::avg).item()));
  }
  return losses;
}

}  // namespace tern_test
