#include "support/recorded.hpp"

#include <tern/nn/linear.hpp>
#include <tern/optim/moving_average.hpp>

namespace optim_moving_average {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = double>
nn::Linear<D, T> layer() {
  nn::Linear<D, T> net(2, 3);
  net.weight.detach().copy_(tensor_of<D, T>({1, 0.7, 0.4, 0.1, -0.2, -0.5}, {3, 2}));
  net.bias.detach().copy_(tensor_of<D, T>({1, 0.7, 0.4}));
  return net;
}

/// What the recording adds to the weights before update `step`.
template <class D, class T>
void move(const nn::Linear<D, T>& net, int step) {
  for (const auto* x : {&net.weight, &net.bias}) {
    std::vector<double> values = values_of(*x);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += std::sin(double(step) + double(i));
    x->detach().copy_(tensor_of<D, T>(values, x->shape()));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("averages are those of PyTorch's AveragedModel", "", TERN_TEST_DEVICES) {
  using D = TestType;
  int seen = 0;
  for (const Json& recorded : recorded_cases("averages")) {
    ++seen;
    INFO("decay " << recorded["decay"]);
    const auto net = layer<D>(), other = layer<D>();
    optim::ExponentialMovingAverage ema(net.parameters(), {.decay = recorded["decay"]});
    for (int step = 1; step <= 50; ++step) {
      move(net, step);
      ema.update();
      const auto after = recorded["after"].find(std::to_string(step));
      if (after == recorded["after"].end()) continue;
      INFO("after update " << step);
      const auto weight = values_of(net.weight), bias = values_of(net.bias);
      const auto version = net.weight.version();
      ema.apply();
      CHECK(net.weight.version() > version);
      check_close(values_of(net.weight), (*after)[0].template get<std::vector<double>>(), 1e-12, 1e-14);
      check_close(values_of(net.bias), (*after)[1].template get<std::vector<double>>(), 1e-12, 1e-14);
      other.load_state_dict(ema.averages());
      CHECK(values_of(other.weight) == values_of(net.weight));
      ema.restore();
      CHECK(values_of(net.weight) == weight);
      CHECK(values_of(net.bias) == bias);
    }
  }
  CHECK(seen == 2);
}

TEMPLATE_TEST_CASE("an average of 16-bit weights is kept in float", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = layer<D, bfloat16>();
  optim::ExponentialMovingAverage ema(net.parameters(), {.decay = 0.999});
  net.bias.detach().fill_(1);
  ema.update();
  net.bias.detach().fill_(2);
  for (int i = 0; i < 2; ++i) ema.update();
  check_close(values_of(ema.averages()[1].tensor.template as<D>()), std::vector<double>(3, 2 - 0.999 * 0.999), 1e-6);
  const auto weights = values_of(net.weight);
  ema.apply();
  CHECK(values_of(net.bias) == std::vector<double>(3, 1));
  ema.restore();
  CHECK(values_of(net.bias) == std::vector<double>(3, 2));
  CHECK(values_of(net.weight) == weights);
}

TEMPLATE_TEST_CASE("averages continue bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = layer<D>();
  optim::ExponentialMovingAverage straight(net.parameters(), {.decay = 0.9}), first(net.parameters(), {.decay = 0.9});
  optim::ExponentialMovingAverage second(net.parameters(), {.decay = 0.9});
  for (int step = 1; step <= 6; ++step) {
    move(net, step);
    straight.update();
    if (step == 4) second.load_state_dict(first.state_dict());
    (step < 4 ? first : second).update();
  }
  CHECK(values_of(second.averages()[0].tensor.template as<D, double>()) ==
        values_of(straight.averages()[0].tensor.template as<D, double>()));
  CHECK_THAT(error_of([&] { second.load_state_dict(second.averages()); }),
             ContainsSubstring("the average's n_averaged is missing"));
  CHECK_THAT(error_of([&] { second.load_state_dict({}); }), ContainsSubstring("the average weight is missing"));
  TERN_TEST_LINE(second.load_state_dict({}));
  // An average that does not fit, after one that does, changes neither.
  const auto before = values_of(second.averages()[0].tensor.template as<D, double>());
  StateDict other = second.state_dict();
  other[0].tensor = zeros<Cpu, double>(other[0].tensor.shape());
  other[1].tensor = zeros<Cpu, Index>(other[1].tensor.shape());
  CHECK_THAT(error_of([&] { second.load_state_dict(other); }), ContainsSubstring("the average's bias is of int64"));
  CHECK(values_of(second.averages()[0].tensor.template as<D, double>()) == before);
  other = second.state_dict();
  other.back().tensor = full<Cpu, Index>({}, -1);
  CHECK_THAT(error_of([&] { second.load_state_dict(other); }),
             ContainsSubstring("the average's n_averaged must not be negative: -1"));
}

TEMPLATE_TEST_CASE("averages refuse what would mix them up with weights", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = layer<D>();
  optim::ExponentialMovingAverage ema(net.parameters());
  CHECK_THAT(error_of([&] { ema.apply(); }), ContainsSubstring("apply() before the first update()"));
  ema.update();
  CHECK_THAT(error_of([&] { ema.restore(); }), ContainsSubstring("restore() without apply()"));
  ema.apply();
  CHECK_THAT(error_of([&] { ema.apply(); }), ContainsSubstring("apply() twice"));
  CHECK_THAT(error_of([&] { ema.update(); }), ContainsSubstring("update() between apply() and restore()"));
  CHECK_THAT(error_of([&] { optim::ExponentialMovingAverage(net.parameters(), {.decay = 1.5}); }),
             ContainsSubstring("decay must be in [0, 1], not 1.5"));
}

TEMPLATE_TEST_CASE("the average of tensors without a network", "", TERN_TEST_DEVICES) {
  const auto x = ones<TestType>({2}).requires_grad_();
  optim::ExponentialMovingAverage ema({x}, {.decay = 0.5}), of_list(std::vector{x}, {.decay = 0.5});
  for (auto* const e : {&ema, &of_list}) e->update();
  {
    const NoGradGuard off;
    x.fill_(3);
  }
  for (auto* const e : {&ema, &of_list}) {
    e->update();
    e->apply();
    check_close(values_of(x), {2, 2});
    e->restore();
  }
}

}  // namespace optim_moving_average
