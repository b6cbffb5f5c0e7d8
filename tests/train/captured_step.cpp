// Trainings whose steps are captured are, bit for bit, those of plain steps.
#include "support/printed.hpp"
#include "support/tensors.hpp"

#include <tern/data/dataset.hpp>
#include <tern/data/loader.hpp>
#include <tern/distributed/data_parallel.hpp>
#include <tern/distributed/threads.hpp>
#include <tern/nn/batch_norm.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/nn/mixed.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>
#include <tern/train/fit.hpp>

namespace train_captured_step {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 8}, out{8, 3};
  nn::BatchNorm1d<D, T> norm{8};
  nn::Dropout<D, T> dropout{0.3};
  TERN_FIELDS(Net, hidden, out, norm, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(tanh(norm(hidden(x))))); }
};

/// 42 samples of three classes: eight batches of five and a smaller one.
auto samples() {
  const auto x = spread_tensor<Cpu, float>({42, 4});
  return data::TensorDataset(x, x.narrow(1, 0, 3).argmax(1));
}

/// What a training leaves behind.
struct Trained {
  std::vector<double> parameters, losses, accuracies;
  Index replays = 0;
  double flops = 0;
  std::string text;
};

enum class Steps { library, own, own_captured };

template <class D, class Net_, class Optimiser = optim::Adam>
Trained train(Net_ net, const train::Options& options, train::FitParts parts = {}, Steps steps = Steps::library) {
  manual_seed(3);
  Optimiser optimiser(net.parameters(), {.lr = 0.05});
  optim::CosineAnnealingLR schedule(optimiser, {.T_max = 20});
  parts.schedule = &schedule;
  parts.schedule_by_step = true;
  parts.evaluate = [&] { return train::accuracy_of(net, data::loader<D>(samples(), {.batch_size = 6})); };
  parts.capture = steps == Steps::own_captured;
  const auto batches = [] { return data::loader<D>(samples(), {.batch_size = 5, .shuffle = true, .seed = 7}); };
  Trained trained;
  train::Report report;
  trained.text = printed([&] {
    if (steps == Steps::library) {
      report = train::fit(net, optimiser, batches(), options, parts);
    } else {
      const auto step = [&](const auto& x, const auto& y) -> train::Step<D> {
        return {cross_entropy(net(x), y), y.numel()};
      };
      report = train::fit(net, optimiser, batches(), step, options, parts);
    }
  });
  for (const NamedTensor& p : nn::state_dict(net)) {
    const AnyTensor x = p.tensor.cpu();
    for (const double value : x.is<Cpu, Index>() ? values_of(x.as<Cpu, Index>()) : values_of(x.as<Cpu>()))
      trained.parameters.push_back(value);
  }
  for (const train::EpochReport& epoch : report.epochs) {
    trained.losses.push_back(epoch.loss);
    trained.accuracies.push_back(epoch.test_figure);
    trained.replays += epoch.replays;
    trained.flops += epoch.flops;
  }
  return trained;
}

void check_same(const Trained& captured, const Trained& plain) {
  CHECK(plain.replays == 0);
  CHECK(captured.parameters == plain.parameters);
  CHECK(captured.losses == plain.losses);
  CHECK(captured.accuracies == plain.accuracies);
  CHECK(captured.flops == plain.flops);
}

/// Before a training starts, and so in no graph.
template <class D, class T = float>
Net<D, T> fresh() {
  manual_seed(1);
  return {};
}

}  // namespace

TEMPLATE_TEST_CASE("a training with captured steps is that of plain steps, bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Index replays = HostDevice<D> || !requires { typename DeviceTraits<D>::Graph; } ? 0 : 2 * 8 - 3;
  const train::Options options{.epochs = 2}, plain{.epochs = 2, .no_capture = true};
  SECTION("of floats") {
    const Trained captured = train<D>(fresh<D>(), options);
    CHECK(captured.replays == replays);
    check_same(captured, train<D>(fresh<D>(), plain));
    if (replays)
      CHECK_THAT(captured.text, ContainsSubstring("5 captured steps") && ContainsSubstring("8 captured steps"));
  }
  SECTION("of 16 bits, with a scaled loss") {
    const auto mixed = [] { return nn::mixed<half>(fresh<D>()); };
    const Trained captured = train<D>(mixed(), options);
    CHECK(captured.replays == replays);
    check_same(captured, train<D>(mixed(), plain));
  }
  SECTION("of a network that could have copies on other ranks") {
    if constexpr (distributed::detail::CarriedDevice<D>) {
      const auto alone = [] { return distributed::DistributedDataParallel(fresh<D>(), distributed::single_rank()); };
      const Trained captured = train<D>(alone(), options);
      CHECK(captured.replays == replays);
      check_same(captured, train<D>(alone(), plain));
    }
  }
  SECTION("of the program's own steps") {
    const Trained own = train<D>(fresh<D>(), options, {}, Steps::own),
                  captured = train<D>(fresh<D>(), options, {}, Steps::own_captured);
    CHECK(captured.replays == replays);
    check_same(captured, own);
    if (replays) CHECK_THAT(own.text, ContainsSubstring("steps are not captured: the step is the program's own"));
  }
}

TEMPLATE_TEST_CASE("a step that cannot be captured stays plain, and the report says why", "", TERN_TEST_DEVICES) {
  using D = TestType;
  if constexpr (requires { typename DeviceTraits<D>::Graph; }) {
    const auto refusal_of = [](const train::Options& options, const train::FitParts& parts = {}) {
      const Trained plain = train<D>(fresh<D>(), options, parts);
      CHECK(plain.replays == 0);
      CHECK(plain.losses.size() == 2);
      const std::string begin = "steps are not captured: ";
      const std::size_t at = plain.text.find(begin);
      REQUIRE(at != std::string::npos);
      CHECK(plain.text.find(begin, at + 1) == std::string::npos);  // once, not in each epoch
      return plain.text.substr(at + begin.size());
    };
    CHECK_THAT(refusal_of({.epochs = 2, .accumulate = 2}), ContainsSubstring("a step is of several batches"));
    CHECK_THAT(refusal_of({.epochs = 2}, {.clip = [] {}}), ContainsSubstring("clip is the program's own"));
    CHECK_THAT(refusal_of({.epochs = 2, .no_capture = true}), ContainsSubstring("Options::no_capture"));
    // Statistics over all batches so far: the host waits for their number.
    Net<D> net = fresh<D>();
    net.norm.options.momentum = {};
    const auto check_plain = [](const Trained& plain, const Trained& asked) {
      CHECK(plain.replays == 0);
      CHECK_THAT(plain.text, ContainsSubstring("steps are not captured: ") &&
                                 ContainsSubstring("cannot be captured in a graph: the host waits"));
      check_same(plain, asked);
    };
    check_plain(train<D>(net.clone(), {.epochs = 2}), train<D>(net.clone(), {.epochs = 2, .no_capture = true}));
    // The host waits between the two halves of a scaler's step.
    const auto one = ones<D>({});
    const auto scaled = [&](bool no_capture) {
      return train<D>(nn::mixed<half>(fresh<D>()), {.epochs = 2, .no_capture = no_capture},
                      {.clip = [&] { one.item(); }}, Steps::own_captured);
    };
    check_plain(scaled(false), scaled(true));
  }
}

}  // namespace train_captured_step
