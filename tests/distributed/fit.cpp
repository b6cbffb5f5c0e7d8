#include "../io/temporary_folder.hpp"
#include "on_devices.hpp"
#include "parallel_cases.hpp"
#include "support/errors.hpp"
#include "support/printed.hpp"

#include <csignal>
#include <mutex>

#include <tern/data/samplers.hpp>
#include <tern/distributed/sharded.hpp>
#include <tern/train/fit.hpp>

namespace distributed_fit {
using namespace tern;
using distributed::Communicator;
using distributed::run_ranks;
using tern_test::check_in_new_process;
using tern_test::error_of;
using tern_test::expect;

namespace {

constexpr Index sample_count = 24, test_count = 7;

/// Samples whose last number says which one it is.
auto samples(Index n, Index first) {
  const auto x = tern_test::samples<float>(first, {n, 12});
  for (Index i = 0; i < n; ++i) x.data()[12 * i + 11] = float(i) / 100;
  return data::TensorDataset(x, arange<Cpu>(0, n) % 5);
}
Index number_of(const Tensor<Cpu>& x, Index i) { return Index(std::lround(100 * x.data()[12 * i + 11])); }

/// f(communicator) on so many ranks that are threads, on Cuda with a device of its own each.
template <Device D, class F>
void on_ranks(int ranks, const F& f) {
  if constexpr (HostDevice<D>) run_ranks(ranks, f);
  else tern_test::on_devices(ranks, f);
}

/// What a training gives.
struct Trained {
  train::Report report;
  StateDict weights;
  std::vector<Index> steps;                                // of each rank
  std::vector<int> seen = std::vector<int>(sample_count);  // how often each sample came in the last epoch, to any rank
};

struct Plan {
  int ranks = 1;
  Index batch = 12;
  train::Options options;
  std::string log = {};  // a CsvLogger's file
  int rank_stopped = -1;
  Index stop = -1;  // the batch of that rank in which SIGTERM comes
  bool sharded = false;
};

template <class Parameters>
std::unique_ptr<optim::Optimizer> optimizer_of(bool sharded, const Parameters& parameters, const Communicator& c) {
  if (sharded) return std::make_unique<optim::Sharded<optim::Adam>>(parameters, c, optim::AdamOptions{.lr = 0.01});
  return std::make_unique<optim::Adam>(parameters, optim::AdamOptions{.lr = 0.01});
}

/// Trains a small network by fit() on so many ranks; what rank 0 returns, and what all print.
template <Device D>
std::pair<Trained, std::string> trained(const Plan& plan) {
  Trained all;
  all.steps.resize(std::size_t(plan.ranks));
  std::mutex mutex;
  manual_seed(7);
  const auto start = tern_test::SmallMlp<Cpu, float>().state_dict();
  const std::string text = tern_test::printed([&] {
    on_ranks<D>(plan.ranks, [&](const Communicator& c) {
      tern_test::SmallMlp<D, float> own;
      if (c.rank() == 0) own.load_state_dict(start);
      distributed::DistributedDataParallel net(std::move(own), c);
      const std::unique_ptr<optim::Optimizer> adam = optimizer_of(plan.sharded, net.parameters(), c);
      optim::CosineAnnealingLR schedule(*adam, {.T_max = 3});
      const auto set = samples(sample_count, 1), tests = samples(test_count, 2);
      auto batches = data::loader<D>(set, {.batch_size = plan.batch, .seed = 3},
                                     data::DistributedSampler(set.size(), {.rank = c.rank(), .ranks = c.size()}));
      Index batch = 0;
      std::vector<int> seen(sample_count);
      const auto step = [&](const Tensor<D>& x, const Tensor<D, Index>& y) -> train::Step<D> {
        if (c.rank() == plan.rank_stopped && batch == plan.stop) std::raise(SIGTERM);
        ++batch;
        const auto numbers = x.cpu();
        for (Index i = 0; i < x.size(0); ++i) ++seen[std::size_t(number_of(numbers, i))];
        const auto scores = net(x);
        return {cross_entropy(scores, y), y.numel(), train::count_right(scores, y)};
      };
      Index evaluations = 0;
      const auto evaluate = [&] {
        if (plan.options.resume.empty() && ++evaluations < plan.options.epochs) seen.assign(sample_count, 0);
        return train::accuracy_of(
            net,
            data::loader<D>(tests, {.batch_size = 2},
                            data::DistributedSampler(
                                tests.size(), {.rank = c.rank(), .ranks = c.size(), .shuffle = false, .pad = false})));
      };
      train::CsvLogger log(plan.log);
      std::vector<train::Callback*> callbacks;
      if (!plan.log.empty()) callbacks.push_back(&log);
      const auto report = train::fit(net, *adam, batches, step, plan.options,
                                     {.evaluate = evaluate, .schedule = &schedule, .callbacks = callbacks});
      const std::lock_guard lock(mutex);
      all.steps[std::size_t(c.rank())] = batch;
      for (std::size_t i = 0; i < seen.size(); ++i) all.seen[i] += seen[i];
      if (c.rank() > 0) return;
      all.report = report;
      for (const NamedTensor& entry : net.state_dict())
        tern::detail::append(all.weights, {entry.name}, entry.tensor.cpu());
    });
  });
  return {std::move(all), text};
}

double difference(const StateDict& a, const StateDict& b) {
  double worst = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, double((a[i].tensor.as<Cpu, float>() - b[i].tensor.as<Cpu, float>()).abs().max().item()));
  return worst;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++n;
  return n;
}

template <Device D>
void check_training() {
  const auto [one, text_of_one] = trained<Cpu>({.options = {.epochs = 3}});
  REQUIRE(one.report.epochs.size() == 3);
  for (const int ranks : {2, 3, 4})
    for (const Index accumulate : {1, 2}) {
      if (12 % (ranks * accumulate) != 0) continue;
      CAPTURE(ranks, accumulate);
      const tern_test::TemporaryFolder folder;
      const auto [many, text] = trained<D>({.ranks = ranks,
                                            .batch = 12 / ranks / accumulate,
                                            .options = {.epochs = 3, .accumulate = accumulate, .save = folder / "net"},
                                            .log = folder / "log.csv"});
      CHECK(difference(many.weights, one.weights) < 1e-6);
      REQUIRE(many.report.epochs.size() == 3);
      for (std::size_t epoch = 0; epoch < 3; ++epoch) {
        const train::EpochReport &a = many.report.epochs[epoch], &b = one.report.epochs[epoch];
        CHECK(a.samples == sample_count);
        CHECK(a.loss == Approx(b.loss).epsilon(1e-5));
        CHECK(a.figure == b.figure);
        CHECK(a.test_figure == b.test_figure);
        CHECK(a.flops == b.flops);
      }
      CHECK(many.seen == std::vector<int>(sample_count, 1));
      CHECK(count(text, "epoch ") == 3);
      CHECK(many.report.ranks == ranks);
      CHECK(folder.file_count() == 2);
      CHECK(count(tern_test::content_of(folder / "log.csv"), "\n") == 4);  // its names, and one line for each epoch
    }
}

template <Device D>
void check_interruption() {
  const tern_test::TemporaryFolder folder;
  const std::string file = folder / "net";
  const auto [whole, text_of_whole] = trained<D>({.ranks = 2, .batch = 2, .options = {.epochs = 2}, .sharded = true});
  // Batch 8 is the third of the second epoch's six. So 12 samples of that epoch are done.
  const auto [stopped, text] = trained<D>(
      {.ranks = 2, .batch = 2, .options = {.epochs = 2, .save = file}, .rank_stopped = 1, .stop = 8, .sharded = true});
  CHECK(stopped.report.interrupted);
  CHECK(stopped.report.cut.samples == 12);
  CHECK(stopped.report.part == 0.5);
  CHECK(stopped.steps == std::vector<Index>{9, 9});
  CHECK(count(text, "interrupted; saved in " + file) == 1);
  for (const int ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    const auto [resumed, more] =
        trained<D>({.ranks = ranks, .batch = 2, .options = {.epochs = 2, .resume = file}, .sharded = true});
    CHECK(resumed.steps == std::vector<Index>(std::size_t(ranks), 6 / ranks));
    for (std::size_t i = 0; i < sample_count; ++i) CHECK(resumed.seen[i] + stopped.seen[i] == 1);
    CHECK(resumed.report.epochs.size() == 1);
    if (ranks == 2) CHECK(difference(resumed.weights, whole.weights) == 0);
  }
  CHECK(error_of([&] { trained<D>({.ranks = 4, .batch = 2, .options = {.epochs = 2, .resume = file}}); }) ==
        "fit: '" + file + "' was saved after 6 batches of an epoch, which are no equal part for each of 4 ranks");
}

}  // namespace

TEST_CASE("fit() trains several ranks as one with all their samples, and reports once what all have done",
          "[distributed]") {
  check_training<Cpu>();
}
TEST_CASE("fit() trains several ranks on Cuda as one on the CPU", "[distributed][cuda]") {
  check_in_new_process("fit by NCCL");
}
TEST_CASE("in a new process: fit by NCCL", "[.]") { check_training<Cuda>(); }

TEST_CASE("SIGTERM on one rank stops all after one step, and any number of ranks goes on from there", "[distributed]") {
  check_interruption<Cpu>();
}
TEST_CASE("SIGTERM stops ranks on Cuda after one step", "[distributed][cuda]") {
  check_in_new_process("SIGTERM in fit by NCCL");
}
TEST_CASE("in a new process: SIGTERM in fit by NCCL", "[.]") { check_interruption<Cuda>(); }

TEST_CASE("all ranks refuse different numbers of batches", "[distributed]") {
  CHECK(error_of([] {
          run_ranks(3, [](const Communicator& c) {
            distributed::DistributedDataParallel net(nn::Linear<Cpu>(2, 1), c);
            optim::SGD sgd(net.parameters(), {.lr = 0.1});
            std::vector<std::tuple<Tensor<Cpu>>> batches(c.rank() == 1 ? 3 : 2, {ones<Cpu>({4, 2})});
            const auto step = [&](const Tensor<Cpu>& x) -> train::Step<Cpu> { return {net(x).square().mean(), 4}; };
            const std::string problem = error_of([&] { train::fit(net, sgd, batches, step, {.epochs = 1}); });
            expect(problem == "fit: each rank must have as many batches in an epoch as the first, which has 2; rank " +
                                  std::to_string(c.rank()) + " has " + (c.rank() == 1 ? "3" : "2"),
                   "the refusal");
          });
        }) == "");
}

TEST_CASE("what ranks evaluate differently is what the first one finds", "[distributed]") {
  tern_test::printed([] {
    run_ranks(3, [](const Communicator& c) {
      distributed::DistributedDataParallel net(nn::Linear<Cpu>(2, 1), c);
      optim::SGD sgd(net.parameters(), {.lr = 0.1});
      std::vector<std::tuple<Tensor<Cpu>>> batches(2, {ones<Cpu>({4, 2})});
      const auto step = [&](const Tensor<Cpu>& x) -> train::Step<Cpu> { return {net(x).square().mean(), 4}; };
      // Rank 1 alone would end after the first epoch.
      const auto report =
          train::fit(net, sgd, batches, step, {.epochs = 3, .target = 0.9},
                     {.evaluate = [&] { return c.rank() == 1 ? 1.0 : 0.5; }, .metric = train::accuracy});
      expect(report.epochs.size() == 3 && report.test_figure == 0.5, "three epochs");
    });
  });
}

}  // namespace distributed_fit
