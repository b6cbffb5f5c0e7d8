#include "recorded_optimiser.hpp"

#include <tern/optim/nadam.hpp>

namespace optim_nadam {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("NAdam takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("NAdam", 3, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay"});
    optim::NAdamOptions options;
    options.lr = o.value("lr", options.lr);
    if (o.contains("betas")) options.betas = {o["betas"][0], o["betas"][1]};
    options.eps = o.value("eps", options.eps);
    options.weight_decay = o.value("weight_decay", options.weight_decay);
    options.momentum_decay = o.value("momentum_decay", options.momentum_decay);
    options.decoupled_weight_decay = o.value("decoupled_weight_decay", options.decoupled_weight_decay);
    return std::make_unique<optim::NAdam>(parameters, options);
  });
}

TEMPLATE_TEST_CASE("NAdam's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) { return std::make_unique<optim::NAdam>(parameters); };
  check_continues<D, double>(make);
  check_continues<D, bfloat16>(make);
}

TEST_CASE("NAdam refuses what PyTorch refuses") {
  const Weights<Cpu> net(recorded_start());
  const auto error = [&](optim::NAdamOptions o) { return error_of([&] { optim::NAdam(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("NAdam: lr must not be negative: -1"));
  CHECK_THAT(error({.betas = {1, 0.9}}), ContainsSubstring("NAdam: betas.first must be less than 1, not 1"));
  CHECK_THAT(error({.momentum_decay = -1}), ContainsSubstring("NAdam: momentum_decay must not be negative: -1"));
}

}  // namespace optim_nadam
