#include "recorded_optimiser.hpp"

#include <tern/optim/adamax.hpp>

namespace optim_adamax {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("Adamax takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("Adamax", 2, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "betas", "eps", "weight_decay"});
    optim::AdamaxOptions options;
    options.lr = o.value("lr", options.lr);
    if (o.contains("betas")) options.betas = {o["betas"][0], o["betas"][1]};
    options.eps = o.value("eps", options.eps);
    options.weight_decay = o.value("weight_decay", options.weight_decay);
    return std::make_unique<optim::Adamax>(parameters, options);
  });
}

TEMPLATE_TEST_CASE("Adamax's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) { return std::make_unique<optim::Adamax>(parameters); };
  check_continues<D, double>(make);
  check_continues<D, bfloat16>(make);
}

TEST_CASE("Adamax refuses what PyTorch refuses") {
  const Weights<Cpu> net(recorded_start());
  const auto error = [&](optim::AdamaxOptions o) { return error_of([&] { optim::Adamax(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("Adamax: lr must not be negative: -1"));
  CHECK_THAT(error({.betas = {0.9, 1}}), ContainsSubstring("Adamax: betas.second must be less than 1, not 1"));
}

}  // namespace optim_adamax
