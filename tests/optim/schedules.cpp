#include "recorded_optimiser.hpp"

#include <tern/optim/adam.hpp>
#include <tern/optim/schedules.hpp>
#include <tern/optim/sgd.hpp>

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
    return std::make_unique<optim::StepLR>(optimiser, optim::StepLROptions{.step_size = o["step_size"], .gamma = o.value("gamma", 0.1)});
  }
  if (name == "CosineAnnealingLR") {
    check_known(o, {"T_max", "eta_min"});
    return std::make_unique<optim::CosineAnnealingLR>(
        optimiser, optim::CosineAnnealingLROptions{.T_max = o["T_max"], .eta_min = o.value("eta_min", 0.)});
  }
  REQUIRE(name == "OneCycleLR");
  check_known(o, {"max_lr", "total_steps", "pct_start", "anneal_strategy", "cycle_momentum", "base_momentum", "max_momentum",
                  "div_factor", "final_div_factor", "three_phase"});
  optim::OneCycleLROptions options{.max_lr = o["max_lr"], .total_steps = o["total_steps"]};
  options.pct_start = o.value("pct_start", options.pct_start);
  if (o.value("anneal_strategy", "cos") == "linear") options.anneal_strategy = optim::AnnealStrategy::linear;
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

}  // namespace

TEST_CASE("schedules give PyTorch's rates and momenta") {
  int seen = 0;
  for (const Json& recorded : recorded_cases("schedules")) {
    INFO(recorded["schedule"] << ' ' << recorded["options"].dump() << ' ' << recorded["optimiser"]);
    const auto optimiser = make_optimiser(recorded), jumped = make_optimiser(recorded);
    const auto schedule = make(recorded, *optimiser), jumping = make(recorded, *jumped);
    std::vector<double> rates, momenta, jumped_rates;
    for (Index i = 0; i < 100; ++i) {
      if (i > 0) schedule->step();
      CHECK(schedule->epoch() == i);
      rates.push_back(optimiser->lr());
      momenta.push_back(optimiser->momentum());
      jumping->set_epoch(i);  // as a resumed training does
      jumped_rates.push_back(jumped->lr());
    }
    check_close(rates, recorded["rates"].get<std::vector<double>>(), 1e-9, 1e-15);
    CHECK(jumped_rates == rates);
    if (recorded.contains("momenta")) check_close(momenta, recorded["momenta"].get<std::vector<double>>(), 1e-9, 0);
    ++seen;
  }
  CHECK(seen == 14);
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
  }
}

TEST_CASE("schedules refuse options without a meaning, and steps beyond the end") {
  optim::SGD sgd(net().parameters(), {.lr = 0.2});
  CHECK_THAT(error_of([&] { optim::StepLR(sgd, {.step_size = 0}); }), ContainsSubstring("StepLR: step_size must be positive, not 0"));
  CHECK_THAT(error_of([&] { optim::CosineAnnealingLR(sgd, {.T_max = 0}); }),
             ContainsSubstring("CosineAnnealingLR: T_max must be positive, not 0"));
  CHECK_THAT(error_of([&] { optim::OneCycleLR(sgd, {.max_lr = 1, .total_steps = 0}); }),
             ContainsSubstring("OneCycleLR: total_steps must be positive, not 0"));
  CHECK_THAT(error_of([&] { optim::OneCycleLR(sgd, {.max_lr = 1, .total_steps = 5, .pct_start = 1.5}); }),
             ContainsSubstring("OneCycleLR: pct_start must be in [0, 1], not 1.5"));
  optim::OneCycleLR cycle(sgd, {.max_lr = 1, .total_steps = 2});
  cycle.step();
  CHECK_THAT(error_of([&] { cycle.step(); }), ContainsSubstring("OneCycleLR: stepped 2 times, total_steps is 2"));
}
