#include "recorded_optimiser.hpp"

#include <tern/optim/sgd.hpp>

namespace optim_sgd {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("SGD takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  check_recorded_optimiser<TestType>("SGD", 7, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize"});
    return std::make_unique<optim::SGD>(parameters, optim::SGDOptions{.lr = o.value("lr", 1e-3),
                                                                      .momentum = o.value("momentum", 0.),
                                                                      .dampening = o.value("dampening", 0.),
                                                                      .weight_decay = o.value("weight_decay", 0.),
                                                                      .nesterov = o.value("nesterov", false),
                                                                      .maximize = o.value("maximize", false)});
  });
}

TEMPLATE_TEST_CASE("SGD's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const auto& parameters) {
    return std::make_unique<optim::SGD>(parameters, optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .dampening = 0.1});
  };
  check_continues<D, double>(make);
  check_continues<D, float>(make);
  check_continues<D, bfloat16>(make);
  check_continues<D, half>(make);
  const Weights<D> net(recorded_start());
  const auto sgd = make(net.parameters());
  set_recorded_gradient(net.weight, 1);
  sgd->step();
  CHECK(sgd->state_dict().back().name == "weight.momentum_buffer");
}

TEMPLATE_TEST_CASE("SGD refuses what PyTorch refuses", "", TERN_TEST_DEVICES) {
  const Weights<TestType> net(recorded_start());
  const auto error = [&](optim::SGDOptions o) { return error_of([&] { optim::SGD(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK(error({.lr = 0}).empty());
  CHECK_THAT(error({.lr = -0.1}), ContainsSubstring("SGD: lr must not be negative: -0.1"));
  CHECK_THAT(error({.lr = std::nan("")}), ContainsSubstring("SGD: lr must be a number, not nan"));
  CHECK_THAT(error({.momentum = -1}), ContainsSubstring("SGD: momentum must not be negative: -1"));
  CHECK_THAT(error({.weight_decay = -1}), ContainsSubstring("SGD: weight_decay must not be negative: -1"));
  CHECK_THAT(error({.nesterov = true}), ContainsSubstring("nesterov needs momentum"));
  CHECK_THAT(error({.momentum = 0.9, .dampening = 0.5, .nesterov = true}), ContainsSubstring("dampening 0.5"));
}

}  // namespace optim_sgd
