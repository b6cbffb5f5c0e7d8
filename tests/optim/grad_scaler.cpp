#include "support/tensors.hpp"

#if defined(TERN_TESTS_ON_CUDA)
#include "support/emulator.hpp"
#endif

#include <tern/device/cuda/graph.hpp>
#include <tern/device/events.hpp>
#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>

namespace optim_grad_scaler {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), no_number = std::numeric_limits<double>::quiet_NaN();

/// A network whose gradients are the weights' own values times a factor.
template <class D>
struct Training {
  nn::Linear<D> net{3, 2};
  optim::GradScaler<D> scaler;

  explicit Training(const optim::GradScalerOptions& options = {}) : scaler(options) {
    net.load_state_dict(
        {{"weight", spread_tensor<D, float>({2, 3}, -1, 1)}, {"bias", tensor_of<D, float>({0.5, -0.25})}});
  }
  void backward(double factor) {
    net.zero_grad();
    const auto loss = (net.weight.square().sum() + net.bias.square().sum()) * (0.5 * factor);
    scaler.scale(loss).backward();
  }
  void step(optim::Optimizer& optimizer, double factor) {
    backward(factor);
    scaler.step(optimizer);
    scaler.update();
  }
  std::vector<double> weights() const {
    auto all = values_of(net.weight);
    for (const double b : values_of(net.bias)) all.push_back(b);
    return all;
  }
};

/// Weights after ten steps, one of which meets a gradient that is not finite if `overflow` is not 1; and the state of
/// the optimiser.
template <class D, class Rule, class Options>
std::pair<std::vector<double>, StateDict> trained(const Options& options, double overflow) {
  Training<D> t({.growth_interval = 4});
  Rule optimizer(t.net.parameters(), options);
  for (int i = 0; i < 11; ++i) {
    if (i == 5 && overflow == 1) continue;
    t.step(optimizer, i == 5 ? overflow : 0.5);
    // 1 to 4 double the scale; then it is halved and 4 more steps double it again, or they go on.
    if (overflow != 1 && i == 5) CHECK(t.scaler.get_scale() == 65536);
  }
  CHECK(t.scaler.get_scale() == (overflow == 1 ? 4 * 65536. : 2 * 65536.));
  return {t.weights(), optimizer.state_dict()};
}

/// A step that overflows is as if it had not been.
template <class D, class Rule, class Options>
void check_skipped(const Options& options, double tolerance) {
  INFO("lr " << options.lr);
  const auto [plain, state] = trained<D, Rule>(options, 1);
  for (const double overflow : {inf, -inf, no_number}) {
    const auto [skipped, same_state] = trained<D, Rule>(options, overflow);
    check_close(skipped, plain, tolerance, tolerance);
    REQUIRE(same_state.size() == state.size());
    for (std::size_t i = 0; i < state.size(); ++i)
      if (state[i].name.ends_with(".step"))
        CHECK(*same_state[i].tensor.template as<Cpu, Index>().data() ==
              *state[i].tensor.template as<Cpu, Index>().data());
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a scaled loss's gradients are those of the loss", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t;
  optim::SGD sgd(t.net.parameters(), {.lr = 0.5});
  CHECK(t.scaler.get_scale() == 65536);
  t.backward(1);
  const auto before = values_of(t.net.weight);
  auto scaled = values_of(t.net.weight.grad());
  for (std::size_t i = 0; i < scaled.size(); ++i) CHECK(scaled[i] == 65536 * before[i]);
  t.scaler.unscale_(sgd);
  CHECK(values_of(t.net.weight.grad()) == before);
  t.scaler.step(sgd);
  t.scaler.update();
  check_close(values_of(t.net.weight), values_of(tensor_of<D, float>(before) * 0.5), 1e-6);
}

TEMPLATE_TEST_CASE("a step that overflows is skipped, and the scale halved", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const double exact = HostDevice<D> ? 0 : 1e-6;  // a device computes numbers of the step in float
  check_skipped<D, optim::SGD>(optim::SGDOptions{.lr = 0.1}, exact);
  check_skipped<D, optim::SGD>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.3}, exact);
  check_skipped<D, optim::Adam>(optim::AdamOptions{.lr = 0.1, .amsgrad = true}, exact);
  check_skipped<D, optim::AdamW>(optim::AdamWOptions{.lr = 0.1}, exact);
  check_skipped<D, optim::RMSprop>(optim::RMSpropOptions{.lr = 0.1, .momentum = 0.5}, exact);
  check_skipped<D, optim::Adagrad>(optim::AdagradOptions{.lr = 0.1, .lr_decay = 0.2, .initial_accumulator_value = 0.1},
                                   exact);
  check_skipped<D, optim::Adadelta>(optim::AdadeltaOptions{}, exact);
  check_skipped<D, optim::Adamax>(optim::AdamaxOptions{.lr = 0.1}, exact);
  check_skipped<D, optim::Rprop>(optim::RpropOptions{.lr = 0.1}, exact);
  check_skipped<D, optim::ASGD>(optim::ASGDOptions{.lr = 0.1, .lambd = 0.2, .t0 = 2}, exact);
  check_skipped<D, optim::NAdam>(optim::NAdamOptions{.lr = 0.1}, exact);
  check_skipped<D, optim::RAdam>(optim::RAdamOptions{.lr = 0.1}, exact);
}

TEMPLATE_TEST_CASE("with a scaler an optimiser's steps are its own", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> plain, scaled;
  optim::Adam one(plain.net.parameters(), {.lr = 0.01}), other(scaled.net.parameters(), {.lr = 0.01});
  for (int i = 0; i < 20; ++i) {
    plain.net.zero_grad();
    ((plain.net.weight.square().sum() + plain.net.bias.square().sum()) * 0.5).backward();
    one.step();
    scaled.step(other, 1);
    if (i == 9) scaled.step(other, inf);
  }
  check_close(scaled.weights(), plain.weights(), HostDevice<D> ? 0 : 2e-6, HostDevice<D> ? 0 : 2e-6);
  other.step();  // without the scaler, from the same count
  plain.net.weight.set_grad(scaled.net.weight.grad());
  plain.net.bias.set_grad(scaled.net.bias.grad());
  one.step();
  check_close(scaled.weights(), plain.weights(), HostDevice<D> ? 0 : 3e-6, HostDevice<D> ? 0 : 3e-6);
}

TEMPLATE_TEST_CASE("every element that is not finite is found, in each type", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using T = typename decltype(type)::type;
    for (const Index n : {1, 7, 33, 1000})
      for (const Index at : {Index(0), n / 2, n - 1})
        for (const double factor : {1., inf, -inf, no_number}) {
          auto values = spread_values(n);
          for (double& v : values) v = 8 * double(compute_t<T>(T(compute_t<T>(v))));
          auto expected = values;
          for (double& v : expected) v /= 4;
          values[std::size_t(at)] *= factor;
          const auto g = tensor_of<D, T>(values);
          const auto scale = full<D>({}, 4), found = zeros<D>({});
          const auto none = zeros<D, T>({0}), other = full<D, T>({2 * n}, 2);
          const tern::detail::Array* const gradients[] = {none.impl(), other.impl(), g.impl(), none.impl()};
          detail::backend::run<D, T>(detail::backend::Unscale{gradients, 4, *scale.impl(), *found.impl()});
          CHECK((found.item() == 1) == (factor != 1));
          if (factor == 1) CHECK(values_of(g) == expected);
          CHECK(values_of(other) == std::vector<double>(std::size_t(2 * n), 0.5));
        }
  };
  check(f32), check(f64), check(bf16), check(f16);
}

TEMPLATE_TEST_CASE("the scale grows after growth_interval steps, up to the largest float", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t({.init_scale = 0x1p126, .growth_interval = 2});
  optim::SGD sgd(t.net.parameters(), {.lr = 0});
  std::vector<double> scales;
  for (int i = 0; i < 6; ++i) {
    t.step(sgd, 0);
    scales.push_back(t.scaler.get_scale() / 0x1p126);
  }
  CHECK(scales == std::vector<double>{1, 2, 2, 2, 2, 2});
  t.step(sgd, no_number);
  CHECK(t.scaler.get_scale() == 0x1p126);
  t.backward(0);
  t.scaler.step(sgd);
  t.scaler.update(128.);
  CHECK(t.scaler.get_scale() == 128);
}

TEMPLATE_TEST_CASE("one scaler for two optimisers: only the one that overflowed is skipped", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D> a(2, 1), b(2, 1);
  optim::SGD of_a(a.parameters(), {.lr = 0.1}), of_b(b.parameters(), {.lr = 0.1});
  optim::GradScaler<D> scaler;
  scaler.scale(a.weight.sum() * inf + a.bias.sum() + b.weight.sum() + b.bias.sum()).backward();
  const auto before_a = values_of(a.weight), before_b = values_of(b.weight);
  scaler.step(of_a);
  scaler.step(of_b);
  scaler.update();
  CHECK(values_of(a.weight) == before_a);
  CHECK(values_of(b.weight) != before_b);
  CHECK(scaler.get_scale() == 32768);
}

TEMPLATE_TEST_CASE("gradients are clipped between unscale_() and step()", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t;
  optim::SGD sgd(t.net.parameters(), {.lr = 1});
  const auto before = t.weights();
  t.backward(1000);
  t.scaler.unscale_(sgd);
  const double norm = optim::clip_grad_norm_(t.net.parameters(), 0.5).item();
  t.scaler.step(sgd);
  t.scaler.update();
  double squares = 0, moved = 0;
  for (const double w : before) squares += 1e6 * w * w;
  CHECK(std::fabs(norm - std::sqrt(squares)) < 1e-3 * norm);
  const auto after = t.weights();
  for (std::size_t i = 0; i < after.size(); ++i) moved += (after[i] - before[i]) * (after[i] - before[i]);
  CHECK(std::fabs(std::sqrt(moved) - 0.5) < 1e-5);
  t.backward(no_number);  // clipping makes all of them NaN
  t.scaler.unscale_(sgd);
  optim::clip_grad_norm_(t.net.parameters(), 0.5);
  t.scaler.step(sgd);
  t.scaler.update();
  CHECK(t.weights() == after);
}

TEMPLATE_TEST_CASE("gradients of several batches are unscaled once, at their step", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t;
  optim::SGD sgd(t.net.parameters(), {.lr = 0.5});
  const auto before = t.weights();
  const auto add = [&](double factor) {
    t.scaler.scale((t.net.weight.square().sum() + t.net.bias.square().sum()) * (0.5 * factor)).backward();
  };
  for (const double factor : {0.25, inf}) {
    sgd.zero_grad();
    add(0.25);
    add(factor);
    add(0.5);
    t.scaler.step(sgd);
    t.scaler.update();
    const auto after = t.weights();
    for (std::size_t i = 0; i < after.size(); ++i) CHECK(after[i] == before[i] / 2);  // the second step is skipped
  }
  CHECK(t.scaler.get_scale() == 32768);
}

TEMPLATE_TEST_CASE("a scaler's state is restored", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t({.init_scale = 1024, .growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 3}), other;
  optim::SGD sgd(t.net.parameters(), {.lr = 0});
  for (int i = 0; i < 5; ++i) t.step(sgd, 0);
  const StateDict state = t.scaler.state_dict();
  std::string names;
  for (const NamedTensor& entry : state) names += entry.name + " ";
  CHECK(names == "scale growth_factor backoff_factor growth_interval _growth_tracker ");
  other.scaler.load_state_dict(state);
  CHECK(other.scaler.get_scale() == 4096);
  CHECK((other.scaler.get_growth_factor() == 4 && other.scaler.get_backoff_factor() == 0.25 &&
         other.scaler.get_growth_interval() == 3));
  optim::SGD of_other(other.net.parameters(), {.lr = 0});
  other.step(of_other, 0);
  CHECK(other.scaler.get_scale() == 16384);  // the third step since the scale changed
  StateDict short_state = state;
  short_state.pop_back();
  CHECK_THAT(error_of([&] { other.scaler.load_state_dict(short_state); }), ContainsSubstring("5 numbers, not 4"));
  StateDict wrong = state;
  wrong[0].tensor = full<Cpu, double>({}, -1);
  CHECK_THAT(error_of([&] { other.scaler.load_state_dict(wrong); }), ContainsSubstring("scale must be"));
  CHECK(other.scaler.get_scale() == 16384);
}

TEMPLATE_TEST_CASE("a scaler that is not enabled does nothing", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t({.enabled = false});
  optim::SGD sgd(t.net.parameters(), {.lr = 1});
  t.scaler.unscale_(sgd);
  t.step(sgd, 1);
  CHECK(t.weights() == std::vector<double>(8, 0));
  CHECK((t.scaler.get_scale() == 1 && t.scaler.state_dict().empty() && !t.scaler.is_enabled()));
  t.scaler.load_state_dict({});
}

TEMPLATE_TEST_CASE("a scaler refuses calls in another order, and numbers that do not scale", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Training<D> t;
  optim::SGD sgd(t.net.parameters(), {.lr = 0.1});
  CHECK_THAT(error_of([&] { t.scaler.step(sgd); }), ContainsSubstring("no parameter of the optimiser has a gradient"));
  CHECK_THAT(error_of([&] { t.scaler.update(); }), ContainsSubstring("update: no gradients were unscaled"));
  t.backward(1);
  t.scaler.unscale_(sgd);
  CHECK_THAT(error_of([&] { t.scaler.unscale_(sgd); }),
             ContainsSubstring("unscale_: the optimiser's gradients were unscaled"));
  t.scaler.step(sgd);
  CHECK_THAT(error_of([&] { t.scaler.step(sgd); }), ContainsSubstring("step: the optimiser was stepped"));
  CHECK_THAT(error_of([&] { t.scaler.unscale_(sgd); }), ContainsSubstring("unscale_: the optimiser was stepped"));
  const auto refused = [](const optim::GradScalerOptions& options) {
    return error_of([&] { optim::GradScaler<D> scaler(options); });
  };
  CHECK_THAT(refused({.init_scale = 0}), ContainsSubstring("scale must be"));
  CHECK_THAT(refused({.init_scale = 1e39}), ContainsSubstring("scale must be"));
  CHECK_THAT(refused({.growth_factor = 1}), ContainsSubstring("growth_factor"));
  CHECK_THAT(refused({.backoff_factor = 1}), ContainsSubstring("backoff_factor"));
  CHECK_THAT(refused({.growth_interval = 0}), ContainsSubstring("growth_interval"));
  if constexpr (!std::is_same_v<D, Cpu>) {
    nn::Linear<Cpu> elsewhere(2, 1);
    optim::SGD of_it(elsewhere.parameters(), {.lr = 0.1});
    elsewhere.weight.sum().backward();
    CHECK_THAT(error_of([&] {
                 t.scaler.update(1.);
                 t.scaler.step(of_it);
               }),
               ContainsSubstring("weight is on cpu"));
  }
}

TEMPLATE_TEST_CASE("nothing waits for the device", "", TERN_TEST_DEVICES) {
  using D = TestType;
  auto net = nn::mixed<half>(nn::Linear<D>(3, 2));
  optim::Adam adam(net.parameters(), {.lr = 0.01});
  optim::GradScaler<D> scaler;
  const auto x = spread_tensor<D, float>({4, 3});
  const auto waits = [] { return tern::detail::device_events.count[int(tern::detail::Work::wait)]; };
  const auto before = waits();
  for (int i = 0; i < 4; ++i) {
    adam.zero_grad();
    scaler.scale(net(x).square().mean()).backward();
    scaler.unscale_(adam);
    optim::clip_grad_norm_(net.parameters(), 1);
    scaler.step(adam);
    scaler.update();
  }
  CHECK(waits() == before);
}

#if defined(TERN_TESTS_ON_CUDA)
TEST_CASE("a scaled step of many parameters is few launches", "[cuda]") {
  NEED_EMULATOR();
  std::vector<nn::Linear<Cuda>> layers;
  for (int i = 0; i < 130; ++i) layers.emplace_back(1, 1);
  optim::SGD sgd({{layers[0].parameters(), {.lr = 0.1}}});
  for (std::size_t i = 1; i < layers.size(); ++i) sgd.add_param_group({layers[i].parameters(), {.lr = 0.1}});
  optim::GradScaler<Cuda> scaler;
  for (const auto& layer : layers) layer.weight.set_grad(ones<Cuda>({1, 1})), layer.bias.set_grad(ones<Cuda>({1}));
  scaler.unscale_(sgd);
  scaler.update();
  fail_call(nullptr, 0, 0);
  scaler.unscale_(sgd);
  CHECK(calls_of("cuLaunchKernel") == 3);  // the flag of 0, and 260 gradients in two parts
  CHECK(values_of(layers[129].weight.grad()) == std::vector<double>{0x1p-32});
}

TEST_CASE("scaled steps are captured: one that overflows is skipped when it is replayed", "[cuda]") {
  const auto run = [](bool replayed) {
    manual_seed(4);
    auto net = nn::mixed<half>(nn::Linear<Cuda>(6, 3));
    optim::Adam adam(net.parameters(), {.lr = 0.05});
    optim::GradScaler<Cuda> scaler({.growth_interval = 3});
    const auto x = spread_tensor<Cpu, float>({4, 6}).cuda();
    auto factor = ones<Cuda>({});
    const auto step = [&] {
      adam.zero_grad();
      scaler.scale(net(x).square().mean() * factor).backward();
      scaler.step(adam);
      scaler.update();
    };
    step();
    cuda::Graph graph;
    if (replayed) graph.capture(step);
    std::vector<double> seen;
    for (int i = 0; i < 12; ++i) {
      factor.fill_(i == 4 ? inf : 1);
      replayed ? graph.replay() : step();
      seen.push_back(scaler.get_scale());
    }
    for (const double w : values_of(net.named_parameters()[0].tensor)) seen.push_back(w);
    for (const double w : values_of(net(x)))
      seen.push_back(w);  // outside of the graph, with the weights that the replays left
    return seen;
  };
  const auto plain = run(false);
  CHECK((plain[3] == 4 * 32768. && plain[4] == 2 * 32768.));
  CHECK(run(true) == plain);
}
#endif

}  // namespace optim_grad_scaler
