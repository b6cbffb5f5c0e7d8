#include "recorded_optimiser.hpp"

#include <tern/optim/rprop.hpp>

namespace optim_rprop {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("Rprop takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("Rprop", 2, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "etas", "step_sizes"});
    optim::RpropOptions options;
    options.lr = o.value("lr", options.lr);
    if (o.contains("etas")) options.etas = {o["etas"][0], o["etas"][1]};
    if (o.contains("step_sizes")) options.step_sizes = {o["step_sizes"][0], o["step_sizes"][1]};
    return std::make_unique<optim::Rprop>(parameters, options);
  });
}

TEMPLATE_TEST_CASE("Rprop's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) { return std::make_unique<optim::Rprop>(parameters); };
  check_continues<D, double>(make);
  check_continues<D, bfloat16>(make);
}

TEST_CASE("Rprop refuses what PyTorch refuses") {
  const Weights<Cpu> net(recorded_start());
  const auto error = [&](optim::RpropOptions o) { return error_of([&] { optim::Rprop(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("Rprop: lr must not be negative: -1"));
  CHECK_THAT(error({.etas = {0.5, 0.9}}),
             ContainsSubstring("Rprop: etas must be between 0 and 1, and above 1, not 0.5 and 0.9"));
  CHECK_THAT(error({.etas = {0, 1.2}}),
             ContainsSubstring("Rprop: etas must be between 0 and 1, and above 1, not 0 and 1.2"));
}

}  // namespace optim_rprop
