// Trainings of many parts that resume from a checkpoint: every kind of schedule, a GradScaler, a shuffling loader.
#include "support/tensors.hpp"

#include <cstring>

#include <tern/data/dataset.hpp>
#include <tern/data/loader.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>
#include <tern/train/checkpoint.hpp>

#include "../io/temporary_folder.hpp"

namespace train_resume {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 6}, out{6, 2};
  nn::Dropout<D, T> dropout{0.3};
  TERN_FIELDS(Net, hidden, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(tanh(hidden(x)))); }
};

/// A schedule, and those that it runs.
using Schedules = std::vector<std::unique_ptr<optim::Schedule>>;
struct Kind {
  const char* name;
  Schedules (*make)(optim::Optimizer& sgd);
};
template <class S, class... O>
Schedules one(optim::Optimizer& sgd, const O&... options) {
  Schedules list;
  list.push_back(std::make_unique<S>(sgd, options...));
  return list;
}
constexpr double power(Index epoch) { return 1 / double(1 + epoch); }
const Kind kinds[] = {
    {"StepLR",
     [](optim::Optimizer& sgd) { return one<optim::StepLR>(sgd, optim::StepLROptions{.step_size = 1, .gamma = 0.5}); }},
    {"MultiStepLR",
     [](optim::Optimizer& sgd) {
       return one<optim::MultiStepLR>(sgd, optim::MultiStepLROptions{.milestones = {1, 3}, .gamma = 0.5});
     }},
    {"ExponentialLR",
     [](optim::Optimizer& sgd) { return one<optim::ExponentialLR>(sgd, optim::ExponentialLROptions{.gamma = 0.7}); }},
    {"LinearLR",
     [](optim::Optimizer& sgd) { return one<optim::LinearLR>(sgd, optim::LinearLROptions{.total_iters = 3}); }},
    {"CosineAnnealingLR",
     [](optim::Optimizer& sgd) {
       return one<optim::CosineAnnealingLR>(sgd, optim::CosineAnnealingLROptions{.T_max = 4});
     }},
    {"CosineAnnealingWarmRestarts",
     [](optim::Optimizer& sgd) {
       return one<optim::CosineAnnealingWarmRestarts>(sgd, optim::CosineAnnealingWarmRestartsOptions{.T_0 = 2});
     }},
    {"LambdaLR", [](optim::Optimizer& sgd) { return one<optim::LambdaLR<double (*)(Index)>>(sgd, &power); }},
    {"OneCycleLR",
     [](optim::Optimizer& sgd) {
       return one<optim::OneCycleLR>(sgd, optim::OneCycleLROptions{.max_lr = 0.2, .total_steps = 4});
     }},
    {"SequentialLR",
     [](optim::Optimizer& sgd) {
       auto warmup =
           std::make_unique<optim::LinearLR>(sgd, optim::LinearLROptions{.start_factor = 0.25, .total_iters = 2});
       auto decay = std::make_unique<optim::ExponentialLR>(sgd, optim::ExponentialLROptions{.gamma = 0.5});
       Schedules list = one<optim::SequentialLR>(sgd, std::vector<optim::LRScheduler*>{warmup.get(), decay.get()},
                                                 std::vector<Index>{2});
       list.push_back(std::move(warmup)), list.push_back(std::move(decay));
       return list;
     }},
    {"ReduceLROnPlateau",
     [](optim::Optimizer& sgd) {
       return one<optim::ReduceLROnPlateau>(
           sgd, optim::ReduceLROnPlateauOptions{.factor = 0.5, .patience = 0, .threshold = 0.5, .cooldown = 1});
     }},
};

constexpr Index epochs = 4;

/// 23 samples.
auto samples() {
  return data::TensorDataset(spread_tensor<Cpu, float>({23, 4}), spread_tensor<Cpu, float>({23, 2}, -1, 1));
}
using Samples = decltype(samples());

/// A training as README shows it. Its numbers are those of `seed`.
template <class D>
struct Training {
  explicit Training(const Kind& kind, std::uint64_t seed)
      : net((manual_seed(seed), Net<D>())), sgd({{net.hidden.parameters(), {.lr = 0.1 * double(seed), .momentum = 0.9}},
                                                 {net.out.parameters(), {.lr = 0.02 * double(seed), .momentum = 0.9}}}),
        schedules(kind.make(sgd)), scaler({.init_scale = 1024 * double(seed), .growth_interval = 3}),
        batches(samples(), {.batch_size = 5, .shuffle = true, .num_workers = 1, .seed = 100 * seed}) {}

  /// Trains until all epochs are done, or until after_batch(epoch, batch) or after_epoch(epoch) is true.
  template <class F, class G>
  void run(const F& after_batch, const G& after_epoch) {
    while (batches.epoch() < epochs) {
      const Index epoch = batches.epoch();
      Index batch = batches.state().batch;
      for (auto& [x, y] : batches) {
        const D place = tern::detail::current_device<D>();
        sgd.zero_grad();
        scaler.scale(mse_loss(net(x.to(place)), y.to(place))).backward();
        scaler.step(sgd);
        scaler.update();
        seen.push_back(double(x.select(1, 0).sum().item()));
        if (after_batch(epoch, ++batch)) return;
      }
      if (auto* const plateau = dynamic_cast<optim::ReduceLROnPlateau*>(schedules[0].get()))
        plateau->step(1 - 0.1 * double(epoch));
      else dynamic_cast<optim::LRScheduler&>(*schedules[0]).step();
      rates.push_back(sgd.lr(0)), rates.push_back(sgd.lr(1)), rates.push_back(sgd.momentum());
      if (after_epoch(epoch)) return;
    }
  }
  void finish() {
    run([](Index, Index) { return false; }, [](Index) { return false; });
  }
  void save(const std::string& path) const { train::save_checkpoint(path, net, sgd, *schedules[0], scaler, batches); }
  train::Position load(const std::string& path) {
    return train::load_checkpoint(path, net, sgd, *schedules[0], scaler, batches);
  }

  Net<D> net;
  optim::SGD sgd;
  Schedules schedules;
  optim::GradScaler<D> scaler;
  data::Loader<Cpu, Samples> batches;
  std::vector<double> seen, rates;  // of all batches, and after each epoch
};

/// The state of a whole training as the bytes of a checkpoint.
template <class T>
std::string bytes_of(const T& training) {
  const TemporaryFolder folder;
  training.save(folder / "state");
  return content_of(folder / "state");
}

std::vector<double> last(const std::vector<double>& all, std::size_t n) {
  return {all.end() - std::ptrdiff_t(n), all.end()};
}

/// The file with some entries changed or left out: change(entry) returns its new tensor, or none.
template <class F>
void rewrite(const std::string& from, const std::string& to, const F& change) {
  StateDict dict;
  for (const NamedTensor& entry : io::load_safetensors(from))
    if (const AnyTensor x = change(entry); x.defined()) dict.push_back({entry.name, x});
  io::save_safetensors(to, dict);
}

}  // namespace

TEMPLATE_TEST_CASE(
    "resume: one call restores all parts of a training, whose bits are those of one that was not interrupted", "",
    TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  for (const Kind& kind : kinds) {
    INFO(kind.name);
    Training<D> whole(kind, 1), first(kind, 1);
    manual_seed(1);
    whole.run([&](Index epoch,
                  Index batch) { return epoch == 1 && batch == 3 ? (whole.save(folder / "within"), false) : false; },
              [&](Index epoch) { return epoch == 1 ? (whole.save(folder / "between"), false) : false; });
    CHECK(whole.seen.size() == 20);
    CHECK((whole.rates[0] != whole.rates[3] || whole.rates[3] != whole.rates[9]));  // there is something to lose
    const std::string expected = bytes_of(whole);
    for (const char* const file : {"within", "between"}) {
      INFO(file);
      const bool is_within = file == std::string("within");
      Training<D> resumed(kind, 3);  // other weights, rates, scale, seeds
      resumed.run([](Index, Index batch) { return batch == 2; }, [](Index) { return false; });
      const train::Position at = resumed.load(folder / file);
      CHECK(at.epoch == (is_within ? 1 : 2));
      CHECK(at.batch == (is_within ? 3 : 0));
      CHECK(resumed.batches.epoch() == at.epoch);
      resumed.seen.clear(), resumed.rates.clear();
      resumed.finish();
      CHECK(resumed.seen == last(whole.seen, is_within ? 12 : 10));
      CHECK(resumed.rates == last(whole.rates, is_within ? 9 : 6));
      CHECK((bytes_of(resumed) == expected));
    }
  }
}

TEST_CASE("resume: a schedule that is made after loading starts from the initial rate") {
  const TemporaryFolder folder;
  nn::Linear<Cpu> net(2, 1);
  optim::SGD sgd(net.parameters(), {.lr = 0.00625});
  optim::StepLR schedule(sgd, {.step_size = 1, .gamma = 0.5});
  for (int epoch = 0; epoch < 3; ++epoch) schedule.step();
  CHECK(sgd.lr() == 0.00625 / 8);
  train::save_checkpoint(folder / "a", net, sgd, schedule);
  bool has_initial_lr = false;  // PyTorch's name of it in param_groups
  for (const NamedTensor& entry : sgd.state_dict())
    has_initial_lr =
        has_initial_lr || (entry.name == "initial_lr" && *entry.tensor.as<Cpu, double>().data() == 0.00625);
  CHECK(has_initial_lr);

  optim::SGD other(net.parameters(), {.lr = 0.3});  // the program states another rate now
  train::load_checkpoint(folder / "a", net, other);
  optim::StepLR later(other, {.step_size = 1, .gamma = 0.5});
  CHECK(other.lr() == 0.00625 / 8);
  later.set_epoch(3);
  CHECK(other.lr() == 0.00625 / 8);
  later.step();
  CHECK(other.lr() == 0.00625 / 16);

  optim::SGD third(net.parameters(), {.lr = 0.3});
  optim::StepLR before(third, {.step_size = 1, .gamma = 0.5});  // made before loading
  train::load_checkpoint(folder / "a", net, third, before);
  CHECK(before.epoch() == 3);
  CHECK(third.lr() == 0.00625 / 8);
  before.step();
  CHECK(third.lr() == 0.00625 / 16);

  optim::SGD without(net.parameters(), {.lr = 0.1});  // no schedule has asked for an initial rate
  for (const NamedTensor& entry : without.state_dict()) CHECK(entry.name != "initial_lr");
}

TEMPLATE_TEST_CASE("resume: several networks, optimisers, schedules and averages are told apart by their order", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  struct Pair {
    nn::Linear<D> generator{2, 2}, critic{2, 1};
    optim::Adam adam{generator.parameters(), {.lr = 0.1}};
    optim::SGD sgd{critic.parameters(), {.lr = 0.2, .momentum = 0.5}};
    optim::ExponentialLR decay{adam, {.gamma = 0.5}};
    optim::ReduceLROnPlateau plateau{sgd, {.patience = 0}};
    optim::ExponentialMovingAverage average{generator.parameters(), {.decay = 0.5}};
    void step(double measure) {
      adam.zero_grad(), sgd.zero_grad();
      critic(generator(ones<D>({3, 2}))).square().mean().backward();
      adam.step(), sgd.step(), average.update(), decay.step(), plateau.step(measure);
    }
    void save(const std::string& path) const {
      train::save_checkpoint(path, generator, critic, adam, sgd, decay, plateau, average);
    }
  };
  manual_seed(1);
  Pair whole, resumed;
  whole.step(1), whole.step(2);
  CHECK(whole.sgd.lr() == Approx(0.02));
  whole.save(folder / "a");
  train::load_checkpoint(folder / "a", resumed.generator, resumed.critic, resumed.adam, resumed.sgd, resumed.decay,
                         resumed.plateau, resumed.average);
  CHECK((bytes_of(resumed) == bytes_of(whole)));
  whole.step(3), resumed.step(3);
  CHECK((bytes_of(resumed) == bytes_of(whole)));

  const std::string before = bytes_of(resumed);
  const auto refused = [&](auto&... parts) {
    const std::string error = error_of([&] { train::load_checkpoint(folder / "a", parts...); });
    CHECK((bytes_of(resumed) == before));
    return error;
  };
  Pair& r = resumed;
  CHECK_THAT(refused(r.critic), ContainsSubstring("weight has shape [1, 2], the loaded one [2, 2]"));
  CHECK_THAT(refused(r.generator, r.sgd), ContainsSubstring("exp_avg"));
  CHECK_THAT(refused(r.generator, r.plateau), ContainsSubstring("the schedule's best is missing"));
  CHECK_THAT(refused(r.generator, r.decay, r.decay), ContainsSubstring("the schedule's last_epoch is missing"));
  CHECK_THAT(refused(r.generator, r.decay, r.plateau, r.plateau),
             ContainsSubstring("a' has no schedule2, because it was saved without one"));
  optim::GradScaler<D> scaler;
  CHECK_THAT(refused(r.generator, r.adam, scaler),
             ContainsSubstring("a' has no scaler, because it was saved without one"));
}

TEMPLATE_TEST_CASE("resume: LBFGS goes on with its history", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const auto step = [](nn::Linear<D>& net, optim::LBFGS<D, float>& lbfgs) {
    lbfgs.step([&] {
      lbfgs.zero_grad();
      const auto loss = (net(ones<D>({3, 2})) - 1).square().sum();
      loss.backward();
      return loss;
    });
  };
  nn::Linear<D> net(2, 2), other(2, 2);
  optim::LBFGS<D, float> lbfgs(net.parameters(), {.lr = 0.1, .max_iter = 2}),
      again(other.parameters(), {.lr = 0.7, .max_iter = 2});
  step(net, lbfgs), step(other, again);
  train::save_checkpoint(folder / "a", net, lbfgs);
  train::load_checkpoint(folder / "a", other, again);
  step(net, lbfgs), step(other, again);
  CHECK(values_of(other.weight) == values_of(net.weight));
}

TEST_CASE("resume: a part that does not fit leaves all others as they are") {
  const TemporaryFolder folder;
  const Kind& step_lr = kinds[0];
  Training<Cpu> saved(step_lr, 1), training(step_lr, 3);
  saved.run([](Index epoch, Index batch) { return epoch == 1 && batch == 4; }, [](Index) { return false; });
  saved.save(folder / "whole");
  const auto number = [&](const std::string& name, Index value) {
    rewrite(folder / "whole", folder / "changed",
            [&](const NamedTensor& e) { return e.name == name ? AnyTensor(full<Cpu, Index>({}, value)) : e.tensor; });
    return folder / "changed";
  };
  const std::string before = bytes_of(training);
  const auto refusal = [&](const std::string& path) {
    const std::string error = error_of([&] { training.load(path); });
    CHECK((bytes_of(training) == before));
    return error;
  };
  CHECK_THAT(refusal(number("loader.batch", 6)),
             ContainsSubstring("loader: a loop had been given 6 batches, but an epoch has 5"));
  CHECK_THAT(refusal(number("loader.epoch", -1)), ContainsSubstring("the loader's epoch must not be negative: -1"));
  CHECK_THAT(refusal(number("schedule.last_epoch", -1)),
             ContainsSubstring("the schedule's last_epoch must not be negative: -1"));
  CHECK_THAT(refusal(number("scaler.growth_interval", 0)), ContainsSubstring("growth_interval must be in"));
  rewrite(folder / "whole", folder / "changed",
          [](const NamedTensor& e) { return e.name == "loader.seed" ? AnyTensor() : e.tensor; });
  CHECK_THAT(refusal(folder / "changed"), ContainsSubstring("the loader's seed is missing"));
  training.load(folder / "whole");
}

TEST_CASE("resume: a file of the format before schedules had a state works, or says what it has not") {
  const TemporaryFolder folder;
  Training<Cpu> saved(kinds[0], 1), training(kinds[0], 3);
  saved.run([](Index, Index) { return false; }, [](Index epoch) { return epoch == 2; });
  saved.save(folder / "new");
  rewrite(folder / "new", folder / "old", [&](const NamedTensor& e) {
    if (e.name == "training") {  // epoch, batch, seed and stream of the random numbers, steps of the schedule
      const Tensor<Cpu, Index> five = cat<Cpu, Index>({e.tensor.as<Cpu, Index>(), full<Cpu, Index>({1}, 3)});
      return AnyTensor(five);
    }
    const bool is_new =
        e.name.starts_with("schedule.") || e.name.starts_with("loader.") || e.name.find("initial_lr") != e.name.npos;
    return is_new ? AnyTensor() : e.tensor;
  });
  const std::string before = bytes_of(training);
  CHECK_THAT(error_of([&] { training.load(folder / "old"); }),
             ContainsSubstring("old' has no loader, because an older version of tern has written it"));
  CHECK((bytes_of(training) == before));
  optim::ReduceLROnPlateau plateau(training.sgd);
  CHECK_THAT(error_of([&] { train::load_checkpoint(folder / "old", training.net, training.sgd, plateau); }),
             ContainsSubstring("old' has no schedule, because an older version of tern has written it"));
  CHECK((bytes_of(training) == before));
  auto& schedule = dynamic_cast<optim::LRScheduler&>(*training.schedules[0]);
  const train::Position at =
      train::load_checkpoint(folder / "old", training.net, training.sgd, schedule, training.scaler);
  CHECK(at.epoch == 3);
  CHECK(schedule.epoch() == 3);
  CHECK(training.sgd.lr() == saved.sgd.lr());
  CHECK(values_of(training.net.hidden.weight) == values_of(saved.net.hidden.weight));
}

}  // namespace train_resume
