#include "support/tensors.hpp"

#include <tern/data/dataset.hpp>
#include <tern/data/loader.hpp>
#include <tern/distributed/data_parallel.hpp>
#include <tern/distributed/threads.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/train/any_network.hpp>

namespace train_any_network {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 8}, out{8, 3};
  TERN_FIELDS(Net, hidden, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(tanh(hidden(x))); }
};

auto samples() {
  const auto x = spread_tensor<Cpu, float>({20, 4});
  return data::TensorDataset(x, x.narrow(1, 0, 3).argmax(1));
}

/// The network's parameters after a training.
template <class D, class N>
std::vector<double> trained(N net) {
  optim::SGD sgd(net.parameters(), {.lr = 0.5});
  train::fit(net, sgd, data::loader<D>(samples(), {.batch_size = 5}), {.epochs = 3});
  std::vector<double> all;
  for (const NamedTensor& p : net.state_dict())
    for (const double x : values_of(p.tensor.template as<D, typename N::value_type>())) all.push_back(x);
  return all;
}

template <class N>
std::vector<std::string> names_of(const N& net) {
  std::vector<std::string> names;
  for (const NamedTensor& p : net.state_dict()) names.push_back(p.name);
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("an AnyNetwork trains as the network that it holds, alone and on ranks", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> net;
  const std::vector<double> expected = trained<D>(net.clone());
  CHECK(trained<D>(train::AnyNetwork<D>(net.clone())) == expected);
  if constexpr (distributed::detail::CarriedDevice<D>)
    CHECK(trained<D>(distributed::DistributedDataParallel(train::AnyNetwork<D>(net.clone()),
                                                          distributed::single_rank())) == expected);

  train::AnyNetwork<D> any(net.clone());
  CHECK(names_of(any) == names_of(net));
  any.eval();
  const auto x = spread_tensor<D, float>({3, 4});
  CHECK(values_of(any(x)) == values_of(net.clone()(x)));
  const auto wide = spread_tensor<D, float>({3, 5});
  CHECK(error_of([&] { any(wide); }) == error_of([&] { net.clone()(wide); }));
}

}  // namespace train_any_network
