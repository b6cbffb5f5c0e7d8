#include "recorded_optimiser.hpp"

#include <tern/optim/adam.hpp>

namespace optim_adam {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class Options>
Options options_of(const Json& o) {
  check_known(o, {"lr", "betas", "eps", "weight_decay", "amsgrad"});
  Options options;
  options.lr = o.value("lr", options.lr);
  if (o.contains("betas")) options.betas = {o["betas"][0], o["betas"][1]};
  options.eps = o.value("eps", options.eps);
  options.weight_decay = o.value("weight_decay", options.weight_decay);
  options.amsgrad = o.value("amsgrad", false);
  return options;
}

}  // namespace

TEMPLATE_TEST_CASE("Adam and AdamW take PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_optimiser<D>("Adam", 4, [](const auto& parameters, const Json& o) {
    return std::make_unique<optim::Adam>(parameters, options_of<optim::AdamOptions>(o));
  });
  check_recorded_optimiser<D>("AdamW", 3, [](const auto& parameters, const Json& o) {
    return std::make_unique<optim::AdamW>(parameters, options_of<optim::AdamWOptions>(o));
  });
}

TEMPLATE_TEST_CASE("Adam's state continues bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto adam = [](const auto& parameters) {
    return std::make_unique<optim::Adam>(parameters, optim::AdamOptions{.lr = 0.02});
  };
  const auto amsgrad = [](const auto& parameters) {
    return std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions{.lr = 0.02, .amsgrad = true});
  };
  check_continues<D, double>(adam);
  check_continues<D, bfloat16>(adam);
  check_continues<D, float>(amsgrad);
  const Weights<D> net(recorded_start());
  const auto optimiser = amsgrad(net.parameters());
  set_recorded_gradient(net.weight, 1);
  optimiser->step();
  std::vector<std::string> names;
  for (const NamedTensor& entry : optimiser->state_dict()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"lr", "momentum", "weight.step", "weight.exp_avg", "weight.exp_avg_sq",
                                          "weight.max_exp_avg_sq"});
}

TEMPLATE_TEST_CASE("Adam refuses what PyTorch refuses", "", TERN_TEST_DEVICES) {
  const Weights<TestType> net(recorded_start());
  const auto error = [&](optim::AdamOptions o) { return error_of([&] { optim::Adam(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("Adam: lr must not be negative: -1"));
  CHECK_THAT(error({.betas = {1, 0.9}}), ContainsSubstring("Adam: betas.first must be less than 1, not 1"));
  CHECK_THAT(error({.betas = {-0.1, 0.9}}), ContainsSubstring("Adam: betas.first must not be negative: -0.1"));
  CHECK_THAT(error({.betas = {0.9, 1.5}}), ContainsSubstring("Adam: betas.second must be less than 1, not 1.5"));
  CHECK_THAT(error({.eps = -1}), ContainsSubstring("Adam: eps must not be negative: -1"));
  CHECK_THAT(error({.weight_decay = -1}), ContainsSubstring("Adam: weight_decay must not be negative: -1"));
  CHECK_THAT(error_of([&] { optim::AdamW(net.parameters(), {.lr = -1}); }),
             ContainsSubstring("AdamW: lr must not be negative: -1"));
}

}  // namespace optim_adam
