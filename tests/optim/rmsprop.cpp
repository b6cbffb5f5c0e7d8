#include "recorded_optimiser.hpp"

#include <tern/optim/rmsprop.hpp>

namespace optim_rmsprop {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("RMSprop takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  check_recorded_optimiser<TestType>("RMSprop", 5, [](const auto& parameters, const Json& o) {
    check_known(o, {"lr", "alpha", "eps", "weight_decay", "momentum", "centered"});
    return std::make_unique<optim::RMSprop>(parameters,
                                            optim::RMSpropOptions{.lr = o.value("lr", 1e-2),
                                                                  .alpha = o.value("alpha", 0.99),
                                                                  .eps = o.value("eps", 1e-8),
                                                                  .weight_decay = o.value("weight_decay", 0.),
                                                                  .momentum = o.value("momentum", 0.),
                                                                  .centered = o.value("centered", false)});
  });
}

TEMPLATE_TEST_CASE("RMSprop's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto plain = [](const auto& parameters) {
    return std::make_unique<optim::RMSprop>(parameters, optim::RMSpropOptions{});
  };
  const auto full = [](const auto& parameters) {
    return std::make_unique<optim::RMSprop>(parameters, optim::RMSpropOptions{.momentum = 0.9, .centered = true});
  };
  check_continues<D, double>(plain);
  check_continues<D, bfloat16>(plain);
  check_continues<D, float>(full);
}

TEMPLATE_TEST_CASE("RMSprop refuses what PyTorch refuses", "", TERN_TEST_DEVICES) {
  const Weights<TestType> net(recorded_start());
  const auto error = [&](optim::RMSpropOptions o) { return error_of([&] { optim::RMSprop(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("RMSprop: lr must not be negative: -1"));
  CHECK_THAT(error({.alpha = -1}), ContainsSubstring("RMSprop: alpha must not be negative: -1"));
  CHECK_THAT(error({.eps = -1}), ContainsSubstring("RMSprop: eps must not be negative: -1"));
  CHECK_THAT(error({.weight_decay = -1}), ContainsSubstring("RMSprop: weight_decay must not be negative: -1"));
  CHECK_THAT(error({.momentum = -1}), ContainsSubstring("RMSprop: momentum must not be negative: -1"));
}

}  // namespace optim_rmsprop
