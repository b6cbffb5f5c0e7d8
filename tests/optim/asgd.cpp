#include "recorded_optimiser.hpp"

#include <tern/optim/asgd.hpp>

namespace optim_asgd {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("ASGD takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("ASGD", 2, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "lambd", "alpha", "t0", "weight_decay"});
    optim::ASGDOptions options;
    options.lr = o.value("lr", options.lr);
    options.lambd = o.value("lambd", options.lambd);
    options.alpha = o.value("alpha", options.alpha);
    options.t0 = o.value("t0", options.t0);
    options.weight_decay = o.value("weight_decay", options.weight_decay);
    return std::make_unique<optim::ASGD>(parameters, options);
  });
}

TEMPLATE_TEST_CASE("ASGD's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) { return std::make_unique<optim::ASGD>(parameters); };
  check_continues<D, double>(make);
  check_continues<D, bfloat16>(make);
}

TEMPLATE_TEST_CASE("ASGD averages the parameters from step t0 + 2 on", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Weights<D> net(recorded_start());
  optim::ASGD optimiser(net.parameters(), {.lr = 0.1, .t0 = 5});
  const auto averages = [&] { return values_of(optimiser.state_slots()[0].state[0].template as<D, double>()); };
  std::vector<double> sums(5, 0);
  for (int step = 1; step <= 20; ++step) {
    set_recorded_gradient(net.weight, step);
    optimiser.step();
    const std::vector<double> now = values_of(net.weight);
    if (step < 7) CHECK(averages() == now);
    else {
      for (std::size_t i = 0; i < 5; ++i) sums[i] += now[i];
      std::vector<double> means = sums;
      for (double& mean : means) mean /= step - 6;
      check_close(averages(), means, 1e-12);
    }
  }
}

TEST_CASE("ASGD refuses what PyTorch refuses") {
  const Weights<Cpu> net(recorded_start());
  const auto error = [&](optim::ASGDOptions o) { return error_of([&] { optim::ASGD(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("ASGD: lr must not be negative: -1"));
  CHECK_THAT(error({.lambd = -1}), ContainsSubstring("ASGD: lambd must not be negative: -1"));
  CHECK_THAT(error({.t0 = -1}), ContainsSubstring("ASGD: t0 must not be negative: -1"));
}

}  // namespace optim_asgd
