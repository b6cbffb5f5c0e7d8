#include "recorded_optimiser.hpp"

#include <tern/optim/radam.hpp>

namespace optim_radam {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("RAdam takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("RAdam", 3, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "betas", "eps", "weight_decay", "decoupled_weight_decay"});
    optim::RAdamOptions options;
    options.lr = o.value("lr", options.lr);
    if (o.contains("betas")) options.betas = {o["betas"][0], o["betas"][1]};
    options.eps = o.value("eps", options.eps);
    options.weight_decay = o.value("weight_decay", options.weight_decay);
    options.decoupled_weight_decay = o.value("decoupled_weight_decay", options.decoupled_weight_decay);
    return std::make_unique<optim::RAdam>(parameters, options);
  });
}

TEMPLATE_TEST_CASE("RAdam's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) { return std::make_unique<optim::RAdam>(parameters); };
  check_continues<D, double>(make);
  check_continues<D, bfloat16>(make);
}

TEST_CASE("RAdam refuses what PyTorch refuses") {
  const Weights<Cpu> net(recorded_start());
  const auto error = [&](optim::RAdamOptions o) { return error_of([&] { optim::RAdam(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("RAdam: lr must not be negative: -1"));
  CHECK_THAT(error({.betas = {0.9, 1}}), ContainsSubstring("RAdam: betas.second must be less than 1, not 1"));
}

}  // namespace optim_radam
