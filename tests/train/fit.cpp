// The training loop: options, reports, interruption, resuming. Over 400 lines, because all of them are options of one
// function.
#include "support/printed.hpp"
#include "support/tensors.hpp"

#include <csignal>

#include <tern/data/dataset.hpp>
#include <tern/data/loader.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/nn/mixed.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>
#include <tern/train/fit.hpp>

#include "../io/temporary_folder.hpp"

namespace train_fit {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 8}, out{8, 3};
  nn::Dropout<D, T> dropout{0.3};
  TERN_FIELDS(Net, hidden, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(tanh(hidden(x)))); }
};

/// One weight w, whose loss by a batch x is the mean of w x.
template <Device D, class T = float>
struct Slope : nn::Module<D, T> {
  nn::Parameter<D, T> w{zeros<D, T>({})};
  TERN_FIELDS(Slope, w)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return w * x; }
};

/// 22 samples of three classes.
auto samples() {
  const auto x = spread_tensor<Cpu, float>({22, 4});
  return data::TensorDataset(x, x.narrow(1, 0, 3).argmax(1));
}

/// A training as a trainer writes it: shuffled batches, dropout, an optimiser with state, a schedule.
template <class D>
struct Training {
  Net<D> net;
  optim::Adam adam{net.parameters(), {.lr = 0.05}};
  optim::CosineAnnealingLR schedule{adam, {.T_max = 4}};

  static Training fresh(std::uint64_t seed) {
    manual_seed(seed);
    return {};
  }
  static auto batches() { return data::loader<D>(samples(), {.batch_size = 5, .shuffle = true}); }

  /// SIGTERM comes in batch `stop`, counted from 0; not if it is negative.
  train::Report fit(const train::Options& options, train::FitParts parts = {}, int stop = -1) {
    parts.schedule = &schedule;
    const auto step = [&](const auto& x, const auto& y) -> train::Step<D> {
      if (stop-- == 0) std::raise(SIGTERM);
      const auto scores = net(x);
      return {cross_entropy(scores, y), y.numel(), train::count_right(scores, y)};
    };
    return train::fit(net, adam, batches(), step, options, parts);
  }
  /// The same, with what it prints in `text`.
  train::Report run(const train::Options& options, const train::FitParts& parts = {}, int stop = -1) {
    train::Report report;
    text = printed([&] { report = fit(options, parts, stop); });
    return report;
  }
  std::string text = "";
};

/// The states of both have the same bits.
template <class A>
void check_same_bits(const A& a, const A& b) {
  const auto check = [](const StateDict& x, const StateDict& y) {
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO(x[i].name);
      const AnyTensor p = x[i].tensor.cpu(), q = y[i].tensor.cpu();
      CHECK(std::memcmp(p.impl()->data, q.impl()->data, std::size_t(p.numel() * tern::detail::size_of(p.dtype()))) ==
            0);
    }
  };
  check(a.net.state_dict(), b.net.state_dict());
  check(a.adam.state_dict(), b.adam.state_dict());
  CHECK(a.schedule.epoch() == b.schedule.epoch());
}

/// Trains a Slope, with learning rate 1 and gradients up to max_norm, on one-dimensional batches: the weight after each
/// step.
template <class D>
std::vector<double> weights_after(const std::vector<std::vector<double>>& values, const train::Options& options,
                                  double max_norm = 100) {
  std::vector<std::tuple<Tensor<D>>> batches;
  for (const auto& batch : values) batches.push_back({tensor_of<D, float>(batch)});
  Slope<D> net;
  optim::SGD sgd(net.parameters(), {.lr = 1});
  std::vector<double> weights;
  printed([&] {
    train::fit(net, sgd, batches,
               [&](const Tensor<D>& x) -> train::Step<D> {
                 weights.push_back(double(net.w.item()));
                 return {net(x).mean(), x.numel()};
               },
               options, {.clip = [&] { optim::clip_grad_norm_(net.parameters(), max_norm); }});
  });
  weights.push_back(double(net.w.item()));
  return weights;
}

}  // namespace

TEMPLATE_TEST_CASE("fit: the bits of a loop that is written by hand", "", TERN_TEST_DEVICES) {
  using D = TestType;
  auto fitted = Training<D>::fresh(1);
  train::Report report;
  fitted.text = printed([&] {
    report = train::fit(fitted.net, fitted.adam, Training<D>::batches(), {.epochs = 3}, {.schedule = &fitted.schedule});
  });
  auto hand = Training<D>::fresh(1);
  double loss = 0, right = 0;
  auto batches = Training<D>::batches();
  for (int epoch = 0; epoch < 3; ++epoch, hand.schedule.step()) {
    loss = right = 0;
    for (auto& [x, y] : batches) {
      const auto scores = hand.net(x);
      const auto mean = cross_entropy(scores, y);
      hand.adam.zero_grad();
      mean.backward();
      hand.adam.step();
      loss += double(mean.item()) * double(y.numel());
      right += double((scores.argmax(1) == y).to(f32).sum().item());
    }
  }
  check_same_bits(hand, fitted);
  REQUIRE(report.epochs.size() == 3);
  CHECK(report.epochs[2].samples == 22);
  CHECK(close(report.epochs[2].loss, loss / 22, 1e-6, 0));
  CHECK(close(report.epochs[2].figure, right / 22, 1e-6, 0));
  CHECK_FALSE(report.interrupted);
  CHECK(report.epochs[2].trained_s > report.epochs[2].seconds);
  CHECK_THAT(fitted.text,
             ContainsSubstring("epoch 3  loss ") && ContainsSubstring("%  0.") && !ContainsSubstring("test"));
}

TEMPLATE_TEST_CASE("fit: a training that SIGTERM ends goes on bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  auto straight = Training<D>::fresh(1);
  straight.run({.epochs = 4, .accumulate = 2});
  const RandomState end = random_state();
  for (const int stop :
       {1, 4, 5, 7}) {  // before a step, at an epoch's end, at its begin, within it; a step takes 2 batches of 5
    INFO(stop);
    const TemporaryFolder folder;
    const std::string path = folder / "training";
    auto first = Training<D>::fresh(1);
    CHECK(first.run({.epochs = 4, .accumulate = 2, .save = path}, {}, stop).interrupted);
    CHECK_THAT(first.text, ContainsSubstring("interrupted; saved in " + path + "\n"));
    auto second = Training<D>::fresh(99);
    CHECK_FALSE(second.run({.epochs = 4, .accumulate = 2, .resume = path}).interrupted);
    check_same_bits(straight, second);
    CHECK(random_state().seed == end.seed);
    CHECK(random_state().stream == end.stream);
  }
}

TEST_CASE("fit: an interrupted training says where it is saved, and has the signal's exit status") {
  const TemporaryFolder folder;
  auto training = Training<Cpu>::fresh(1);
  const auto report = training.run({.epochs = 4, .save = folder / "a b"}, {}, 1);
  CHECK(report.interrupted == SIGTERM);
  CHECK(report.exit_status() == 143);
  CHECK(report.checkpoint == folder / "a b");
  const auto on_interrupt =
      training.run({.epochs = 4, .save = folder / "a"}, {.evaluate = [] { return std::raise(SIGINT), 0.5; }});
  CHECK(on_interrupt.epochs.size() == 1);
  CHECK(on_interrupt.exit_status() == 130);
  CHECK(training.run({.epochs = 1}).exit_status() == 0);
}

TEMPLATE_TEST_CASE("fit: a training goes on with its plateau and its loader's order", "", TERN_TEST_DEVICES) {
  using D = TestType;
  struct Lowered {
    Net<D> net;
    optim::SGD sgd{net.parameters(), {.lr = 0.5}};
    optim::ReduceLROnPlateau plateau{sgd, {.mode = optim::PlateauMode::max, .factor = 0.5, .patience = 0}};
    std::vector<double> rates;
    /// Figures that are no better from the second epoch on lower the rate after each.
    void run(const train::Options& options, std::uint64_t seed, bool validates = true) {
      train::FitParts parts{.plateau = &plateau};
      if (validates) parts.validate = [&] { return rates.push_back(sgd.lr()), 0.25; };
      auto batches = data::loader<D>(samples(), {.batch_size = 5, .shuffle = true, .seed = seed});
      printed([&] { train::fit(net, sgd, batches, options, parts); });
    }
  };
  const TemporaryFolder folder;
  manual_seed(1);
  Lowered whole;
  whole.run({.epochs = 4}, 7);
  CHECK(whole.rates == std::vector{0.5, 0.5, 0.25, 0.125});
  manual_seed(1);
  Lowered first, second;
  manual_seed(1);
  first.net.load_state_dict(Net<D>().state_dict());
  first.run({.epochs = 2, .save = folder / "training"}, 7);
  second.run({.epochs = 4, .resume = folder / "training"}, 8);
  CHECK(second.rates == std::vector{0.25, 0.125});
  CHECK(values_of(second.net.hidden.weight) == values_of(whole.net.hidden.weight));
  Lowered by_loss;  // which is more than 0.25 and falls, so that the mode `max` takes the second epoch for worse
  by_loss.run({.epochs = 2}, 7, false);
  CHECK(by_loss.sgd.lr() == 0.25);
}

TEST_CASE("fit: the report of an interrupted training tells what was done of the epoch") {
  const TemporaryFolder folder;
  auto training = Training<Cpu>::fresh(1);
  const auto first = training.run({.epochs = 4, .save = folder / "training"}, {},
                                  6);  // of 5 batches in an epoch
  CHECK(first.epochs.size() == 1);
  CHECK(first.part == 0.4);
  CHECK(first.cut.samples == 10);
  CHECK(first.cut.seconds > 0);
  const auto second = training.run({.epochs = 4, .save = folder / "training", .resume = folder / "training"}, {}, 1);
  CHECK(second.part == 0.4);
  CHECK(second.cut.samples == 10);
}

TEMPLATE_TEST_CASE("fit: the last epoch's checkpoint goes on to more epochs", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  auto straight = Training<D>::fresh(1), first = Training<D>::fresh(1), second = Training<D>::fresh(2);
  manual_seed(1);
  straight.run({.epochs = 3});
  manual_seed(1);
  const auto before = first.run({.epochs = 2, .save = folder / "training"});
  const auto after = second.run({.epochs = 3, .resume = folder / "training"});
  check_same_bits(straight, second);
  REQUIRE(after.epochs.size() == 1);
  CHECK(close(after.epochs[0].trained_s, before.epochs[1].trained_s + after.epochs[0].seconds, 1e-6, 0));
}

TEST_CASE("fit: without a name to save to, an interrupted training is saved under the program's") {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Training<Cpu>::fresh(1).run({}, {}, 2);
  std::filesystem::current_path(before);
  CHECK(std::filesystem::exists(folder / (std::string(program_invocation_short_name) + ".interrupted.safetensors")));
}

TEST_CASE("fit: stops at the target, and the report tells the time") {
  auto training = Training<Cpu>::fresh(1);
  double reached = 0;
  const auto report = training.run({.epochs = 9, .target = 0.5}, {.evaluate = [&] {
                                     CHECK_FALSE(training.net.is_training());
                                     return reached += 0.25;
                                   }});
  CHECK(report.epochs.size() == 2);
  const double seconds = report.epochs[0].seconds + report.epochs[1].seconds;
  REQUIRE(report.reached() == &report.epochs[1]);
  CHECK(close(report.reached()->trained_s, seconds, 1e-6, 0));
  CHECK_THAT(training.text, ContainsSubstring("\n         test 50.00%, the target, in "));
  CHECK_FALSE(training.run({.epochs = 1, .target = 0.98}, {.evaluate = [] { return 0.97; }}).reached());
}

TEST_CASE("fit: a figure that falls, of words") {
  auto training = Training<Cpu>::fresh(1);
  double figure = 300;
  const auto report =
      training.run({.epochs = 9, .target = 100},
                   {.evaluate = [&] { return figure -= 100; }, .metric = train::perplexity, .unit = "words"});
  REQUIRE(report.epochs.size() == 2);
  CHECK(close(report.epochs[1].figure, std::exp(report.epochs[1].loss), 1e-6, 0));
  CHECK_THAT(training.text, ContainsSubstring("  test 200.00  ") && ContainsSubstring(" words/s\n") &&
                                ContainsSubstring("test 100.00, the target"));
}

TEST_CASE("fit: the best weights on held-out data are kept, also over a resumption") {
  const TemporaryFolder folder;
  const std::string path = folder / "training", best = path + ".best";
  auto training = Training<Cpu>::fresh(1);
  std::vector<double> figures{0.5, 0.75, 0.25, 0.5, 0.875}, weights;
  std::size_t epoch = 0;
  const auto validate = [&] {
    weights.push_back(values_of(training.net.out.weight)[0]);
    return figures[epoch++];
  };
  const auto kept = [&] {
    Net<Cpu> net;
    net.load_state_dict(io::load_safetensors(best));
    return values_of(net.out.weight)[0];
  };
  training.run({.epochs = 3, .save = path}, {.validate = validate});
  CHECK(kept() == weights[1]);
  CHECK_THAT(training.text, ContainsSubstring("         held out 75.00%, the best so far\n") &&
                                ContainsSubstring("         held out 25.00%\n"));
  training.run({.epochs = 4, .save = path, .resume = path}, {.validate = validate});
  CHECK(kept() == weights[1]);
  training.run({.epochs = 5, .save = path, .resume = path}, {.validate = validate});
  CHECK(kept() == weights[4]);
  epoch = 0;
  training.run({.epochs = 2, .save = path}, {.validate = validate, .metric = train::perplexity});
  CHECK(kept() == weights[5]);
}

TEMPLATE_TEST_CASE("fit: gradients are clipped after they were added up", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(weights_after<D>({{3}, {0.25}}, {.epochs = 1}) == std::vector<double>{0, -3, -3.25});
  check_close(weights_after<D>({{3}, {0.25}}, {.epochs = 1}, 0.5), {0, -0.5, -0.75}, 1e-5);
  check_close(weights_after<D>({{0.25}, {0.75}}, {.epochs = 1, .accumulate = 2}, 0.5), {0, 0, -0.5}, 1e-5);
}

TEMPLATE_TEST_CASE("fit: a group of batches is one batch, also the smaller last one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(weights_after<D>({{1}, {3}, {5}, {7}, {9}}, {.epochs = 1, .accumulate = 2}) ==
        std::vector<double>{0, 0, -2, -2, -8, -17});
  // A loader's last batch counts by its samples: (1 + 2 + 3) / 3, and 4 + 5 as one of two.
  const auto x = tensor_of<Cpu, float>({1, 2, 3, 4, 8});
  const auto train_with = [&](Index batch_size, Index accumulate) {
    Slope<D> net;
    optim::SGD sgd(net.parameters(), {.lr = 1});
    printed([&] {
      train::fit(net, sgd, data::loader<D>(data::TensorDataset(x, x), {.batch_size = batch_size}),
                 [&](const auto& batch, const auto&) -> train::Step<D> {
                   return {net(batch).square().mean() + net(batch).mean(), batch.numel()};
                 },
                 {.epochs = 1, .accumulate = accumulate});
    });
    return values_of(net.w);
  };
  check_close(train_with(2, 3), train_with(5, 1), 1e-6);
  check_close(train_with(1, 3), train_with(3, 1), 1e-6);
}

TEST_CASE("fit: a schedule goes by epochs or by steps") {
  const auto steps = [](bool by_step) {
    Slope<Cpu> net;
    optim::SGD sgd(net.parameters(), {.lr = 1});
    optim::StepLR schedule(sgd, {.gamma = 0.5});
    std::vector<std::tuple<Tensor<Cpu>>> batches(5, std::tuple(ones<Cpu>({1})));
    printed([&] {
      train::fit(net, sgd, batches, [&](const auto& x) -> train::Step<Cpu> { return {net(x).mean(), 1}; },
                 {.epochs = 2, .accumulate = 2}, {.schedule = &schedule, .schedule_by_step = by_step});
    });
    return schedule.epoch();
  };
  CHECK(steps(false) == 2);
  CHECK(steps(true) == 6);
}

TEMPLATE_TEST_CASE("fit: the loss of a network in half is scaled, and its accuracy that of its scores", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const auto has_scale = [&](auto net) {
    optim::SGD sgd(net.parameters(), {.lr = 0.1});
    train::Report report;
    printed([&] {
      report = train::fit(
          net, sgd, Training<D>::batches(), {.epochs = 1, .save = folder / "training"},
          {.evaluate = [&] { return train::accuracy_of(net, data::loader<D>(samples(), {.batch_size = 7})); },
           .clip = [&] { optim::clip_grad_norm_(net.parameters(), 1); }});
    });
    net.eval();
    const auto [x, y] = samples().batch(
        std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21});
    const double right = (train::scores_of(net, x.to(D{})).argmax(1).cpu() == y).to(f32).mean().item();
    CHECK(close(report.test_figure, right, 1e-6, 0));
    for (const NamedTensor& entry : io::load_safetensors(folder / "training"))
      if (entry.name == "scaler.scale") return true;
    return false;
  };
  CHECK(has_scale(nn::mixed<half>(Net<D>())));
  CHECK_FALSE(has_scale(nn::mixed<bfloat16>(Net<D>())));
  CHECK_FALSE(has_scale(Net<D>()));
}

TEST_CASE("fit: what cannot be is an Error before the first epoch") {
  const TemporaryFolder folder;
  const auto refusal = [](const train::Options& options) {
    return error_of([&] { Training<Cpu>::fresh(1).fit(options); });
  };
  CHECK_THAT(refusal({.target = 0.9}),
             ContainsSubstring("fit: the target 0.9 is of what evaluate returns, but there is no evaluate"));
  auto training = Training<Cpu>::fresh(1);
  optim::ReduceLROnPlateau plateau(training.adam);
  CHECK_THAT(error_of([&] { training.fit({}, {.plateau = &plateau}); }),
             ContainsSubstring("fit: schedule and plateau exclude each other"));
  CHECK_THAT(refusal({.accumulate = 0}), ContainsSubstring("accumulate must be at least 1, not 0"));
  CHECK_THAT(refusal({.resume = folder / "none"}), ContainsSubstring("none"));
  CHECK_THAT(refusal({.save = folder / "no folder/x"}), ContainsSubstring("No such file or directory"));
  const std::vector<std::tuple<Tensor<Cpu>>> none;
  Slope<Cpu> net;
  optim::SGD sgd(net.parameters(), {.lr = 1});
  CHECK_THAT(error_of([&] {
               train::fit(net, sgd, none, [&](const auto& x) -> train::Step<Cpu> { return {net(x).mean(), 1}; });
             }),
             ContainsSubstring("fit: there are no batches to train with"));
  const std::string path = folder / "training";
  Training<Cpu>::fresh(1).run({.accumulate = 2, .save = path}, {}, 1);
  CHECK_THAT(refusal({.accumulate = 3, .resume = path}), ContainsSubstring("batch 2 is within a group of 3 batches"));
}

}  // namespace train_fit
