#include "recorded_optimiser.hpp"

#include <tern/optim/adadelta.hpp>

namespace optim_adadelta {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("Adadelta takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("Adadelta", 2, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "rho", "eps", "weight_decay"});
    optim::AdadeltaOptions options;
    options.lr = o.value("lr", options.lr);
    options.rho = o.value("rho", options.rho);
    options.eps = o.value("eps", options.eps);
    options.weight_decay = o.value("weight_decay", options.weight_decay);
    return std::make_unique<optim::Adadelta>(parameters, options);
  });
}

TEMPLATE_TEST_CASE("Adadelta's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) { return std::make_unique<optim::Adadelta>(parameters); };
  check_continues<D, double>(make);
  check_continues<D, bfloat16>(make);
}

TEST_CASE("Adadelta refuses what PyTorch refuses") {
  const Weights<Cpu> net(recorded_start());
  const auto error = [&](optim::AdadeltaOptions o) { return error_of([&] { optim::Adadelta(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("Adadelta: lr must not be negative: -1"));
  CHECK_THAT(error({.rho = 1.5}), ContainsSubstring("Adadelta: rho must be at most 1, not 1.5"));
}

}  // namespace optim_adadelta
