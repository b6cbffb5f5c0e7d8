#include "recorded_optimiser.hpp"

#include <tern/optim/adagrad.hpp>

namespace optim_adagrad {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("Adagrad takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("Adagrad", 2, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps"});
    optim::AdagradOptions options;
    options.lr = o.value("lr", options.lr);
    options.lr_decay = o.value("lr_decay", options.lr_decay);
    options.weight_decay = o.value("weight_decay", options.weight_decay);
    options.initial_accumulator_value = o.value("initial_accumulator_value", options.initial_accumulator_value);
    options.eps = o.value("eps", options.eps);
    return std::make_unique<optim::Adagrad>(parameters, options);
  });
}

TEMPLATE_TEST_CASE("Adagrad's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) { return std::make_unique<optim::Adagrad>(parameters); };
  check_continues<D, double>(make);
  check_continues<D, bfloat16>(make);
}

TEST_CASE("Adagrad refuses what PyTorch refuses") {
  const Weights<Cpu> net(recorded_start());
  const auto error = [&](optim::AdagradOptions o) { return error_of([&] { optim::Adagrad(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("Adagrad: lr must not be negative: -1"));
  CHECK_THAT(error({.lr_decay = -1}), ContainsSubstring("Adagrad: lr_decay must not be negative: -1"));
  CHECK_THAT(error_of([&] { optim::Adagrad(net.parameters()).set_momentum(0.9); }),
             ContainsSubstring("Adagrad: there is no momentum to set to 0.9"));
}

}  // namespace optim_adagrad
