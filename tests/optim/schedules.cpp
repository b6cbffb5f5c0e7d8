// Learning-rate schedules against PyTorch's recorded rates. Over 400 lines, because the schedules are one list.
#include "recorded_optimiser.hpp"

#include <functional>
#include <tern/optim/adam.hpp>
#include <tern/optim/cyclic_lr.hpp>
#include <tern/optim/schedules.hpp>
#include <tern/optim/sgd.hpp>

namespace optim_schedules {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

// A schedule knows nothing of tensors: one device will do.
const Weights<Cpu>& net() {
  static const Weights<Cpu> instance(recorded_start());
  return instance;
}

std::unique_ptr<optim::LRScheduler> make(const Json& recorded, optim::Optimizer& optimiser) {
  const std::string name = recorded["schedule"];
  const Json& o = recorded["options"];
  if (name == "StepLR") {
    check_known(o, {"step_size", "gamma"});
    return std::make_unique<optim::StepLR>(
        optimiser, optim::StepLROptions{.step_size = o["step_size"], .gamma = o.value("gamma", 0.1)});
  }
  if (name == "CosineAnnealingLR") {
    check_known(o, {"T_max", "eta_min"});
    return std::make_unique<optim::CosineAnnealingLR>(
        optimiser, optim::CosineAnnealingLROptions{.T_max = o["T_max"], .eta_min = o.value("eta_min", 0.)});
  }
  if (name == "MultiStepLR") {
    check_known(o, {"milestones", "gamma"});
    return std::make_unique<optim::MultiStepLR>(
        optimiser, optim::MultiStepLROptions{.milestones = o["milestones"], .gamma = o.value("gamma", 0.1)});
  }
  if (name == "ExponentialLR") {
    check_known(o, {"gamma"});
    return std::make_unique<optim::ExponentialLR>(optimiser, optim::ExponentialLROptions{.gamma = o["gamma"]});
  }
  if (name == "LinearLR") {
    check_known(o, {"start_factor", "end_factor", "total_iters"});
    optim::LinearLROptions options;
    options.start_factor = o.value("start_factor", options.start_factor);
    options.end_factor = o.value("end_factor", options.end_factor);
    options.total_iters = o.value("total_iters", options.total_iters);
    return std::make_unique<optim::LinearLR>(optimiser, options);
  }
  if (name == "CosineAnnealingWarmRestarts") {
    check_known(o, {"T_0", "T_mult", "eta_min"});
    return std::make_unique<optim::CosineAnnealingWarmRestarts>(
        optimiser, optim::CosineAnnealingWarmRestartsOptions{
                       .T_0 = o["T_0"], .T_mult = o.value("T_mult", Index(1)), .eta_min = o.value("eta_min", 0.)});
  }
  if (name == "ConstantLR") {
    check_known(o, {"factor", "total_iters"});
    return std::make_unique<optim::ConstantLR>(
        optimiser,
        optim::ConstantLROptions{.factor = o.value("factor", 1. / 3), .total_iters = o.value("total_iters", Index(5))});
  }
  if (name == "PolynomialLR") {
    check_known(o, {"total_iters", "power"});
    return std::make_unique<optim::PolynomialLR>(
        optimiser,
        optim::PolynomialLROptions{.total_iters = o.value("total_iters", Index(5)), .power = o.value("power", 1.)});
  }
  if (name == "CyclicLR") {
    check_known(
        o, {"base_lr", "max_lr", "step_size_up", "step_size_down", "mode", "gamma", "cycle_momentum", "base_momentum"});
    optim::CyclicLROptions options{.base_lr = o["base_lr"], .max_lr = o["max_lr"], .step_size_up = o["step_size_up"]};
    if (o.contains("step_size_down")) options.step_size_down = o["step_size_down"].get<Index>();
    if (o.value("mode", "") == "triangular2") options.mode = "triangular2";
    if (o.value("mode", "") == "exp_range") options.mode = "exp_range";
    options.gamma = o.value("gamma", 1.);
    options.cycle_momentum = o.value("cycle_momentum", true);
    options.base_momentum = o.value("base_momentum", options.base_momentum);
    return std::make_unique<optim::CyclicLR>(optimiser, options);
  }
  if (name == "MultiplicativeLR") {
    const auto factor = [](Index epoch) { return 1 - 0.5 / double(epoch + 1); };
    return std::make_unique<optim::MultiplicativeLR<decltype(factor)>>(optimiser, factor);
  }
  if (name == "LambdaLR") {
    const auto power = [](Index epoch) { return std::pow(0.95, double(epoch)); };
    return std::make_unique<optim::LambdaLR<decltype(power)>>(optimiser, power);
  }
  REQUIRE(name == "OneCycleLR");
  check_known(o, {"max_lr", "total_steps", "pct_start", "anneal_strategy", "cycle_momentum", "base_momentum",
                  "max_momentum", "div_factor", "final_div_factor", "three_phase"});
  optim::OneCycleLROptions options{.max_lr = o["max_lr"], .total_steps = o["total_steps"]};
  options.pct_start = o.value("pct_start", options.pct_start);
  if (o.value("anneal_strategy", "cos") == "linear") options.anneal_strategy = "linear";
  options.cycle_momentum = o.value("cycle_momentum", true);
  options.base_momentum = o.value("base_momentum", options.base_momentum);
  options.max_momentum = o.value("max_momentum", options.max_momentum);
  options.div_factor = o.value("div_factor", options.div_factor);
  options.final_div_factor = o.value("final_div_factor", options.final_div_factor);
  options.three_phase = o.value("three_phase", false);
  return std::make_unique<optim::OneCycleLR>(optimiser, options);
}

std::unique_ptr<optim::Optimizer> make_optimiser(const Json& recorded) {
  if (recorded["optimiser"] == "SGD")
    return std::make_unique<optim::SGD>(net().parameters(), optim::SGDOptions{.lr = 0.2, .momentum = 0.9});
  return std::make_unique<optim::Adam>(net().parameters(), optim::AdamOptions{.lr = 0.2});
}

bool is_checked_below(const Json& recorded) {
  return std::set<std::string>{"SequentialLR", "ChainedScheduler", "ReduceLROnPlateau"}.count(recorded["schedule"]);
}

}  // namespace

TEST_CASE("schedules give PyTorch's rates and momenta") {
  int seen = 0;
  for (const Json& recorded : recorded_cases("schedules")) {
    if (is_checked_below(recorded)) continue;
    INFO(recorded["schedule"] << ' ' << recorded["options"].dump() << ' ' << recorded["optimiser"]);
    const auto optimiser = make_optimiser(recorded), jumped = make_optimiser(recorded);
    const auto schedule = make(recorded, *optimiser), jumping = make(recorded, *jumped);
    std::vector<double> rates, momenta, jumped_rates;
    for (Index i = 0; i < 100; ++i) {
      if (i > 0) schedule->step();
      CHECK(schedule->epoch() == i);
      rates.push_back(schedule->get_last_lr().at(0));
      CHECK(schedule->get_last_lr() == std::vector<double>{optimiser->lr()});
      momenta.push_back(optimiser->momentum());
      jumping->set_epoch(i);  // as a resumed training does
      jumped_rates.push_back(jumped->lr());
    }
    check_close(rates, recorded["rates"].get<std::vector<double>>(), 1e-9, 1e-15);
    CHECK(jumped_rates == rates);
    if (recorded.contains("momenta")) check_close(momenta, recorded["momenta"].get<std::vector<double>>(), 1e-9, 0);
    ++seen;
  }
  CHECK(seen == 33);
}

TEST_CASE("schedules that resume go on with PyTorch's rates, whatever rate the program states") {
  for (const Json& recorded : recorded_cases("schedules")) {
    if (is_checked_below(recorded)) continue;
    INFO(recorded["schedule"] << ' ' << recorded["options"].dump() << ' ' << recorded["optimiser"]);
    const auto expected = recorded["rates"].get<std::vector<double>>();
    for (const Index cut : {1, 37}) {
      const auto optimiser = make_optimiser(recorded), resumed = make_optimiser(recorded);
      const auto schedule = make(recorded, *optimiser);
      for (Index i = 0; i < cut; ++i) schedule->step();
      resumed->set_lr(0.7);
      const auto later = make(recorded, *resumed);
      later->load_state_dict(schedule->state_dict());
      resumed->load_state_dict(optimiser->state_dict());
      CHECK(later->epoch() == cut);
      CHECK(resumed->initial_lr() == 0.2);
      std::vector<double> rates;
      for (Index i = cut; i < 100; ++i, later->step()) rates.push_back(resumed->lr());
      check_close(rates, {expected.begin() + cut, expected.end()}, 1e-9, 1e-15);
      CHECK(resumed->momentum() == [&] {
        schedule->set_epoch(100);
        return optimiser->momentum();
      }());
    }
  }
}

TEST_CASE("SequentialLR goes from schedule to schedule at PyTorch's rates") {
  int seen = 0;
  for (const Json& recorded : recorded_cases("schedules")) {
    if (recorded["schedule"] != "SequentialLR") continue;
    ++seen;
    optim::SGD sgd(net().parameters(), {.lr = 0.2});
    optim::LinearLR rise(sgd, {.start_factor = 0.1, .total_iters = 5});
    optim::ExponentialLR decay(sgd, {.gamma = 0.9});
    optim::SequentialLR sequence(sgd, {&rise, &decay}, {20});
    std::vector<double> rates;
    for (int i = 0; i < 100; ++i, sequence.step()) rates.push_back(sgd.lr());
    check_close(rates, recorded["rates"].get<std::vector<double>>(), 1e-9, 1e-15);
    for (const Index cut : {3, 50}) {
      optim::SGD other(net().parameters(), {.lr = 0.7});
      optim::LinearLR first(other, {.start_factor = 0.1, .total_iters = 5});
      optim::ExponentialLR second(other, {.gamma = 0.9});
      optim::SequentialLR later(other, {&first, &second}, {20});
      sequence.set_epoch(cut);
      other.load_state_dict(sgd.state_dict());
      later.load_state_dict(sequence.state_dict());
      for (Index i = cut; i < 100; ++i, later.step()) CHECK(other.lr() == rates[std::size_t(i)]);
    }
  }
  CHECK(seen == 1);
}

TEST_CASE("ChainedScheduler multiplies its schedules' factors, as PyTorch does") {
  int seen = 0;
  for (const Json& recorded : recorded_cases("schedules")) {
    if (recorded["schedule"] != "ChainedScheduler") continue;
    ++seen;
    optim::SGD sgd(net().parameters(), {.lr = 0.2});
    optim::ConstantLR constant(sgd, {.factor = 0.1, .total_iters = 20});
    optim::ExponentialLR decay(sgd, {.gamma = 0.95});
    optim::StepLR steps(sgd, {.step_size = 30, .gamma = 0.5});
    optim::ChainedScheduler chain({&constant, &decay, &steps});
    std::vector<double> rates;
    for (int i = 0; i < 100; ++i, chain.step()) rates.push_back(sgd.lr());
    check_close(rates, recorded["rates"].get<std::vector<double>>(), 1e-9, 1e-15);
    for (const Index cut : {3, 50}) {
      chain.set_epoch(cut);
      CHECK(sgd.lr() == rates[std::size_t(cut)]);
      CHECK(decay.epoch() == cut);
    }
    CHECK(&chain.optimizer() == &sgd);
    optim::SGD still(net().parameters(), {.lr = 0});
    optim::ExponentialLR of_still(still, {.gamma = 0.95});
    optim::ChainedScheduler({&of_still}).step();
    CHECK(still.lr() == 0);
    CHECK(error_of([&] { optim::ChainedScheduler({&decay, &of_still}); }) ==
          "ChainedScheduler: schedule 1 belongs to another optimiser");
    CHECK(error_of([] { optim::ChainedScheduler({}); }) == "ChainedScheduler: there are no schedules");
  }
  CHECK(seen == 1);
}

TEST_CASE("ReduceLROnPlateau lowers the rate when PyTorch does") {
  int seen = 0;
  for (const Json& recorded : recorded_cases("schedules")) {
    if (recorded["schedule"] != "ReduceLROnPlateau") continue;
    ++seen;
    const Json& o = recorded["options"];
    check_known(o, {"mode", "factor", "patience", "cooldown", "min_lr", "threshold", "threshold_mode"});
    optim::ReduceLROnPlateauOptions options;
    if (o.value("mode", "min") == "max") options.mode = "max";
    options.factor = o.value("factor", options.factor);
    options.patience = o.value("patience", options.patience);
    options.cooldown = o.value("cooldown", options.cooldown);
    options.min_lr = o.value("min_lr", options.min_lr);
    options.threshold = o.value("threshold", options.threshold);
    if (o.value("threshold_mode", "rel") == "abs") options.threshold_mode = "abs";
    // A new program after every fifth measure.
    auto sgd = std::make_unique<optim::SGD>(net().parameters(), optim::SGDOptions{.lr = 0.2});
    auto plateau = std::make_unique<optim::ReduceLROnPlateau>(*sgd, options);
    std::vector<double> rates;
    for (const Json& measure : recorded["measures"]) {
      rates.push_back(plateau->get_last_lr().at(0));
      plateau->step(measure);
      if (rates.size() % 5 != 0) continue;
      auto other = std::make_unique<optim::SGD>(net().parameters(), optim::SGDOptions{.lr = 0.7});
      auto later = std::make_unique<optim::ReduceLROnPlateau>(*other, options);
      later->load_state_dict(plateau->state_dict());
      other->load_state_dict(sgd->state_dict());
      plateau = std::move(later), sgd = std::move(other);
    }
    check_close(rates, recorded["rates"].get<std::vector<double>>(), 1e-9, 1e-15);
  }
  CHECK(seen == 4);
}

TEST_CASE("options in PyTorch's order are PyTorch's") {
  optim::SGD sgd(net().parameters(), {.lr = 0.1, .momentum = 0.9});
  // The rates of five steps of PyTorch 2.15.
  const auto check = [&](const std::vector<double>& expected, const auto& make) {
    sgd.set_lr(0.1);
    auto schedule = make();
    std::vector<double> rates;
    for (int step = 0; step < 5; ++step) {
      rates.push_back(sgd.lr());
      schedule.step();
    }
    check_close(rates, expected, 1e-9, 1e-9);
  };
  check({0.1, 0.1, 0.01, 0.01, 0.001}, [&] { return optim::StepLR(sgd, 2); });
  check({0.1, 0.1, 0.05, 0.05, 0.025}, [&] { return optim::StepLR(sgd, std::size_t(2), 0.5f); });
  check({0.1, 0.01, 0.01, 0.001, 0.001}, [&] { return optim::MultiStepLR(sgd, {1, 3}); });
  check({0.1, 0.05, 0.05, 0.025, 0.025}, [&] { return optim::MultiStepLR(sgd, {1, 3}, 0.5); });
  check({0.1, 0.05, 0.05, 0.025, 0.025}, [&] { return optim::MultiStepLR(sgd, std::vector{1, 3}, 0.5); });
  check({0.1, 0.09, 0.081, 0.0729, 0.06561}, [&] { return optim::ExponentialLR(sgd, 0.9); });
  check({0.1, 0.08535533906, 0.05, 0.01464466094, 0}, [&] { return optim::CosineAnnealingLR(sgd, 4); });
  check({0.1, 0.08681980515, 0.055, 0.02318019485, 0.01}, [&] { return optim::CosineAnnealingLR(sgd, 4, 0.01); });
  check({0.1, 0.05, 0.1, 0.05, 0.1}, [&] { return optim::CosineAnnealingWarmRestarts(sgd, 2); });
  check({0.1, 0.1, 0.05, 0.1, 0.08535533906}, [&] { return optim::CosineAnnealingWarmRestarts(sgd, 1, 2); });
  check({0.1, 0.1, 0.055, 0.1, 0.08681980515}, [&] { return optim::CosineAnnealingWarmRestarts(sgd, 1, 2, 0.01); });
  check({0.05, 0.06, 0.07, 0.08, 0.09}, [&] { return optim::LinearLR(sgd, 0.5); });
  check({0.05, 0.0625, 0.075, 0.075, 0.075}, [&] { return optim::LinearLR(sgd, 0.5, 0.75, 2); });
  check({0.05, 0.05, 0.05, 0.05, 0.05}, [&] { return optim::ConstantLR(sgd, 0.5); });
  check({0.05, 0.05, 0.1, 0.1, 0.1}, [&] { return optim::ConstantLR(sgd, 0.5, 2); });
  check({0.1, 0.075, 0.05, 0.025, 0}, [&] { return optim::PolynomialLR(sgd, 4); });
  check({0.1, 0.05625, 0.025, 0.00625, 0}, [&] { return optim::PolynomialLR(sgd, 4, 2.0); });
  check({0.004, 0.0950484632, 0.06112620219, 0.01882583461, 4e-7}, [&] { return optim::OneCycleLR(sgd, 0.1, 5); });
  check({0.001, 0.0010495, 0.001099, 0.0011485, 0.001198}, [&] { return optim::CyclicLR(sgd, 0.001, 0.1); });
  check({0.1, 0.2, 0.3, 0.4, 0.5}, [&] { return optim::LambdaLR(sgd, [](int epoch) { return 1 + epoch; }); });
  check({0.1, 0.2, 0.6, 2.4, 12}, [&] { return optim::MultiplicativeLR(sgd, [](int epoch) { return 1 + epoch; }); });
  check({0.001, 0.0505, 0.1, 0.0505, 0.001}, [&] { return optim::CyclicLR(sgd, 0.001, 0.1, 2); });
  check({0.001, 0.1, 0.067, 0.034, 0.001}, [&] { return optim::CyclicLR(sgd, 0.001, 0.1, 1, 3); });
}

TEST_CASE("LambdaLR takes a function for each group") {
  const auto a = ones<Cpu>({1}).requires_grad_(), b = ones<Cpu>({1}).requires_grad_();
  optim::SGD sgd({{{a}, {.lr = 1}}, {{b}, {.lr = 2}}});
  const auto rising = [](Index epoch) { return double(1 + epoch); };
  const auto constant = [](Index) { return 1.; };
  optim::LambdaLR schedule(sgd, std::vector<std::function<double(Index)>>{rising, constant});
  schedule.step();
  CHECK((sgd.lr(0) == 2 && sgd.lr(1) == 2));
  schedule.step();
  CHECK((sgd.lr(0) == 3 && sgd.lr(1) == 2));
  TERN_TEST_LINE(optim::LambdaLR(sgd, std::vector<std::function<double(Index)>>{rising}));
}

TEST_CASE("ReduceLROnPlateau takes options in PyTorch's order") {
  optim::SGD sgd(net().parameters(), {.lr = 0.1});
  optim::ReduceLROnPlateau rising(sgd, "max", 0.5, 1, 0.0);
  std::vector<double> rates;  // a better value, then worse ones: after two of them the rate falls
  for (const double metric : {1., 2., 2., 1., 1., 3.}) rising.step(metric), rates.push_back(sgd.lr());
  check_close(rates, {0.1, 0.1, 0.1, 0.05, 0.05, 0.05}, 1e-9, 1e-9);
}

TEST_CASE("options in braces are options, with and without names") {
  optim::SGD sgd(net().parameters(), {.lr = 0.1, .momentum = 0.9});
  const std::vector<Index> two{2};
  optim::MultiStepLR milestones[] = {
      {sgd, {.milestones = {2}}}, {sgd, {{2}, 0.1}}, {sgd, {{2}}}, {sgd, {2}}, {sgd, {two}}};
  for (optim::MultiStepLR& schedule : milestones) {
    schedule.set_epoch(1);
    CHECK(sgd.lr() == Approx(0.1));
    schedule.set_epoch(2);
    CHECK(sgd.lr() == Approx(0.01));
  }
  const auto rate = [&](auto&& schedule) { return schedule.set_epoch(1), sgd.lr(); };
  CHECK(rate(optim::StepLR(sgd, {1, 0.5})) == Approx(0.05));
  CHECK(rate(optim::StepLR(sgd, {})) == Approx(0.01));
  CHECK(rate(optim::ConstantLR(sgd, {0.5})) == Approx(0.05));
  CHECK(rate(optim::LinearLR(sgd, {})) == Approx(0.1 * 7 / 15));
  CHECK(rate(optim::OneCycleLR(sgd, {0.2, 2})) == Approx(0.2 / 25 / 1e4));
}

TEST_CASE("OneCycleLR: short cycles have no step without a rate") {
  for (const Index steps : {1, 2, 10}) {
    optim::SGD sgd(net().parameters(), {.lr = 0.2});
    optim::OneCycleLR cycle(sgd, {.max_lr = 1, .total_steps = steps, .pct_start = 0.1});
    for (Index i = 1; i < steps; ++i) {
      CHECK(sgd.lr() > 0);
      cycle.step();
    }
    CHECK(sgd.lr() == Approx(1 / 25. / 1e4));
    cycle.step();  // the last of a loop, after the optimiser's last step
    CHECK(sgd.lr() == Approx(1 / 25. / 1e4));
  }
}

TEST_CASE("a schedule's state has PyTorch's names, and another kind's is refused") {
  optim::SGD sgd(net().parameters(), {.lr = 0.2});
  optim::StepLR step(sgd, {.step_size = 2});
  optim::ReduceLROnPlateau plateau(sgd, {.patience = 3});
  optim::OneCycleLR cycle(sgd, {.max_lr = 1, .total_steps = 5});
  optim::SequentialLR sequence(sgd, {&step, &cycle}, {10});
  const auto names = [](const optim::Schedule& schedule) {
    std::vector<std::string> list;
    for (const NamedTensor& entry : schedule.state_dict()) list.push_back(entry.name);
    return list;
  };
  CHECK(names(step) == std::vector<std::string>{"last_epoch"});
  CHECK(names(plateau) == std::vector<std::string>{"best", "num_bad_epochs", "cooldown_counter"});
  CHECK_THAT(error_of([&] { step.load_state_dict(plateau.state_dict()); }),
             ContainsSubstring("load_state_dict: the schedule's last_epoch is missing"));
  CHECK_THAT(error_of([&] { plateau.load_state_dict(step.state_dict()); }),
             ContainsSubstring("load_state_dict: the schedule's best is missing"));
  TERN_TEST_LINE(step.load_state_dict(plateau.state_dict()));
  TERN_TEST_LINE(plateau.load_state_dict(step.state_dict()));
  step.set_epoch(6);
  CHECK_THAT(error_of([&] { cycle.load_state_dict(step.state_dict()); }),
             ContainsSubstring("OneCycleLR: stepped 6 times, total_steps is 5"));
  CHECK(cycle.epoch() == 0);
  step.set_epoch(16);
  CHECK_THAT(error_of([&] { sequence.load_state_dict(step.state_dict()); }),
             ContainsSubstring("OneCycleLR: stepped 6 times, total_steps is 5"));
  CHECK(sequence.epoch() == 0);
}

TEST_CASE("schedules refuse options without a meaning, and steps beyond the end") {
  optim::SGD sgd(net().parameters(), {.lr = 0.2});
  CHECK_THAT(error_of([&] { optim::StepLR(sgd, {.step_size = 0}); }),
             ContainsSubstring("StepLR: step_size must be positive, not 0"));
  CHECK_THAT(error_of([&] { optim::CosineAnnealingLR(sgd, {.T_max = 0}); }),
             ContainsSubstring("CosineAnnealingLR: T_max must be positive, not 0"));
  CHECK_THAT(error_of([&] { optim::OneCycleLR(sgd, {.max_lr = 1, .total_steps = 0}); }),
             ContainsSubstring("OneCycleLR: total_steps must be positive, not 0"));
  CHECK_THAT(error_of([&] { optim::OneCycleLR(sgd, {.max_lr = 1, .total_steps = 5, .pct_start = 1.5}); }),
             ContainsSubstring("OneCycleLR: pct_start must be in [0, 1], not 1.5"));
  optim::OneCycleLR cycle(sgd, {.max_lr = 1, .total_steps = 2});
  cycle.step();
  cycle.step();
  CHECK_THAT(error_of([&] { cycle.step(); }), ContainsSubstring("OneCycleLR: stepped 3 times, total_steps is 2"));
  CHECK_THAT(error_of([&] { optim::LinearLR(sgd, {.start_factor = 0}); }),
             ContainsSubstring("LinearLR: start_factor must be in (0, 1], not 0"));
  CHECK_THAT(error_of([&] { optim::CosineAnnealingWarmRestarts(sgd, {.T_0 = 0}); }),
             ContainsSubstring("CosineAnnealingWarmRestarts: T_0 must be positive, not 0"));
  CHECK_THAT(error_of([&] { optim::SequentialLR(sgd, {&cycle}, {3}); }),
             ContainsSubstring("SequentialLR: 1 milestones for 1 schedules"));
  CHECK_THAT(error_of([&] { optim::ReduceLROnPlateau(sgd, {.factor = 1}); }),
             ContainsSubstring("ReduceLROnPlateau: factor must be less than 1, not 1"));
}

TEST_CASE("the modes of schedules as texts") {
  CHECK(optim::CyclicLROptions{.mode = "triangular"}.mode == optim::CyclicMode::triangular);
  CHECK(optim::OneCycleLROptions{.anneal_strategy = "cos"}.anneal_strategy == optim::AnnealStrategy::cos);
  CHECK(optim::ReduceLROnPlateauOptions{.mode = "min"}.mode == optim::PlateauMode::min);
  CHECK(optim::ReduceLROnPlateauOptions{.threshold_mode = "rel"}.threshold_mode == optim::ThresholdMode::rel);
}

TEST_CASE("schedules that follow each other belong to one optimiser, and a cycle's steps are epochs of steps") {
  const auto x = ones<Cpu>({2}).requires_grad_();
  optim::SGD sgd({x}, {.lr = 0.1, .momentum = 0.9}), other({x}, 0.1);
  optim::StepLR of_other(other, 3);
  CHECK(error_of([&] {
          optim::SequentialLR(sgd, {&of_other}, {});
        }).starts_with("SequentialLR: schedule 0 belongs to another optimiser"));
  optim::OneCycleLR cycle(sgd, {.max_lr = 0.1, .epochs = 2, .steps_per_epoch = 3});
  for (int i = 0; i < 6; ++i) cycle.step();
  CHECK(error_of([&] { cycle.step(); }).starts_with("OneCycleLR: stepped 7 times, total_steps is 6"));
}

}  // namespace optim_schedules
