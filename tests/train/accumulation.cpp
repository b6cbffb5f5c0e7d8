#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>
#include <tern/train/accumulation.hpp>
#include <tern/train/checkpoint.hpp>

#include "../io/temporary_folder.hpp"

namespace train_accumulation {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Index samples = 22;

template <Device D, class T = double>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 8}, out{8, 3};
  TERN_FIELDS(Net, hidden, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(tanh(hidden(x))); }
};

/// A training by the groups of batches, as a trainer does it: all samples in their order.
template <class D>
struct Training {
  Net<D> net;
  optim::Adam adam{net.parameters(), {.lr = 0.05}};
  optim::GradScaler<D> scaler;

  explicit Training(const optim::GradScalerOptions& options) : scaler(options) {
    StateDict weights;
    for (const NamedTensor& p : net.state_dict())
      weights.push_back({p.name, spread_tensor<D>(p.tensor.shape(), -1, 1)});
    net.load_state_dict(weights);
  }
  /// Batches [first, last) of an epoch; the loss of batch `spoilt` is infinite.
  void run(const train::Accumulation& groups, Index batch_size, Index first, Index last, Index spoilt = -1) {
    const auto x = spread_tensor<D>({samples, 4}), y = spread_tensor<D>({samples, 3}, -1, 1);
    for (Index i = first; i < last; ++i) {
      const Index begin = i * batch_size, count = std::min(batch_size, samples - begin);
      const auto loss = mse_loss(net(x.narrow(0, begin, count)), y.narrow(0, begin, count));
      if (groups.begins(i)) adam.zero_grad();
      scaler.scale(loss * (i == spoilt ? std::numeric_limits<double>::infinity() : groups.share(i))).backward();
      if (!groups.ends(i)) continue;
      scaler.unscale_(adam);
      optim::clip_grad_norm_(net.parameters(), 0.1);
      scaler.step(adam);
      scaler.update();
    }
  }
  std::vector<double> weights() const {
    std::vector<double> all;
    for (const auto& p : {net.hidden.weight, net.hidden.bias, net.out.weight, net.out.bias})
      for (const double v : values_of(p)) all.push_back(v);
    return all;
  }
};

}  // namespace

TEST_CASE("groups of batches are those of a list that is cut") {
  for (Index accumulate = 1; accumulate < 6; ++accumulate)
    for (Index batch_size = 1; batch_size < 5; ++batch_size)
      for (Index total = 0; total < 25; ++total) {
        std::vector<Index> batches;
        for (Index left = total; left > 0; left -= batches.back()) batches.push_back(std::min(left, batch_size));
        const train::Accumulation groups(accumulate, batch_size, total);
        Index steps = 0, of_group = 0;
        bool right = true;
        for (Index i = 0; i < Index(batches.size()); ++i) {
          const bool begins = i % accumulate == 0;
          if (begins) {
            of_group = 0;
            for (Index j = i; j < std::min(i + accumulate, Index(batches.size())); ++j)
              of_group += batches[std::size_t(j)];
          }
          const bool ends = i + 1 == Index(batches.size()) || (i + 1) % accumulate == 0;
          steps += ends;
          right = right && groups.begins(i) == begins && groups.ends(i) == ends &&
                  groups.share(i) == double(batches[std::size_t(i)]) / double(of_group);
        }
        INFO(accumulate << " batches of " << batch_size << " of " << total);
        CHECK(right);
        CHECK(groups.size() == steps);
      }
}

TEST_CASE("one group may have more batches than there are") {
  const train::Accumulation groups(INT64_MAX, 4, 10);
  CHECK(groups.size() == 1);
  CHECK((groups.begins(0) && !groups.ends(0) && !groups.begins(1) && !groups.ends(1) && groups.ends(2)));
  CHECK((groups.share(0) == 0.4 && groups.share(2) == 0.2));
}

TEST_CASE("groups that cannot be are refused") {
  const auto refused = [](Index accumulate, Index batch_size, Index total) {
    return error_of([&] { train::Accumulation groups(accumulate, batch_size, total); });
  };
  CHECK(refused(0, 4, 10) == "Accumulation: accumulate must be at least 1, not 0");
  CHECK(refused(2, 0, 10) == "Accumulation: batch_size must be at least 1, not 0");
  CHECK(refused(2, 4, -1) == "Accumulation: samples must not be negative: -1");
  const train::Accumulation groups(2, 4, 10);
  CHECK(error_of([&] { groups.share(3); }) == "Accumulation: there is no batch 3 in an epoch of 3");
  CHECK(error_of([&] { groups.share(-1); }) == "Accumulation: there is no batch -1 in an epoch of 3");
  for (const Index batch : {0, 2, 3}) CHECK_NOTHROW(groups.check_resumes(batch));
  CHECK_THAT(error_of([&] { groups.check_resumes(1); }),
             ContainsSubstring("Accumulation: batch 1 is within a group of 2 batches"));
}

TEMPLATE_TEST_CASE("the batches of a group make the step of the whole, also where group and batch are smaller", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  for (const bool scaled : {false, true}) {
    Training<D> parts({.growth_interval = 2, .enabled = scaled}), whole({.growth_interval = 2, .enabled = scaled});
    const auto start = parts.weights();
    for (int epoch = 0; epoch < 3; ++epoch) {
      parts.run({3, 5, samples}, 5, 0, 5);    // 5 + 5 + 5, 5 + 2
      whole.run({1, 15, samples}, 15, 0, 2);  // 15, 7
    }
    const double tolerance = HostDevice<D> ? 1e-11 : 1e-6;  // a device computes numbers of Adam's step in float
    check_close(parts.weights(), whole.weights(), tolerance, tolerance);
    CHECK(parts.weights() != start);
    CHECK(parts.scaler.get_scale() == (scaled ? 8 * 65536. : 1));  // six steps
  }
}

TEMPLATE_TEST_CASE("a batch that overflows skips the step of its group", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t({});
  const train::Accumulation groups(2, 5, samples);  // 5 + 5, 5 + 5, 2
  t.run(groups, 5, 0, 2);
  const auto before = t.weights();
  for (const Index spoilt : {2, 3}) {
    t.run(groups, 5, 2, 4, spoilt);
    CHECK(t.weights() == before);
    CHECK(t.scaler.get_scale() == (spoilt == 2 ? 32768 : 16384));
  }
  t.run(groups, 5, 4, 5);
  CHECK(t.weights() != before);
  CHECK(t.scaler.get_scale() == 16384);
}

TEMPLATE_TEST_CASE("a training resumes bit for bit between two groups", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const train::Accumulation groups(2, 5, samples);
  Training<D> straight({}), first({}), second({});
  straight.run(groups, 5, 0, 5);
  first.run(groups, 5, 0, 4);
  train::save_checkpoint(folder / "between", first.net, first.adam, train::Position{0, 4}, first.scaler);
  second.run(groups, 5, 0, 1);  // leaves gradients of half a group
  const train::Position at = train::load_checkpoint(folder / "between", second.net, second.adam, second.scaler);
  groups.check_resumes(at.batch);
  second.run(groups, 5, at.batch, 5);
  CHECK(second.weights() == straight.weights());
}

}  // namespace train_accumulation
