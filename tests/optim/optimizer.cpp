#include "recorded_optimiser.hpp"

#include <tern/optim/adam.hpp>
#include <tern/optim/grad_scaler.hpp>
#include <tern/optim/lbfgs.hpp>
#include <tern/optim/nadam.hpp>
#include <tern/optim/sgd.hpp>

#if defined(TERN_TESTS_ON_CUDA)
#include "support/emulator.hpp"
#endif

namespace optim_optimizer {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Mixed : nn::Module<D, T> {
  nn::Parameter<D, double> wide = ones<D, double>({3});
  nn::Parameter<D, bfloat16> narrow = ones<D, bfloat16>({2});
  nn::Parameter<D, T> plain = ones<D, T>({2});
  TERN_FIELDS(Mixed, wide, narrow, plain)
};

template <Device D, class T = double>
struct Matrix : nn::Module<D, T> {
  nn::Parameter<D, T> weight = zeros<D, T>({2, 3});
  TERN_FIELDS(Matrix, weight)
};

template <Device D, class T = float>
struct Nothing : nn::Module<D, T> {
  TERN_FIELDS(Nothing)
};

/// Parameters of many sizes: none, one chunk of a kernel, several, and their neighbours.
template <Device D, class T = float>
struct Many : nn::Module<D, T> {
  std::vector<Weights<D, T>> parts;
  TERN_FIELDS(Many, parts)
  explicit Many(int count) {
    const int sizes[] = {3, 1024, 0, 1, 1023, 2500, 1025, 2048};
    for (int i = 0; i < count; ++i) parts.emplace_back(values(i, count > 20 ? 1 + i % 3 : sizes[i % 8]));
  }
  static std::vector<double> values(int seed, int n) {
    std::vector<double> all;
    for (int i = 0; i < n; ++i) all.push_back(std::sin(seed + 0.1 * i));
    return all;
  }
  /// Step `step`'s gradients. Some parameters have none in some steps; one never has.
  void set_gradients(int step, double factor = 1) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool has_one = i != 4 && (i + std::size_t(step)) % 7 != 0;
      auto g = values(int(i) + 10 * step, int(parts[i].weight.numel()));
      for (double& x : g) x *= factor;
      parts[i].weight.set_grad(has_one ? tensor_of<D, T>(g) : Tensor<D, T>());
    }
  }
  std::vector<double> all_values() const {
    std::vector<double> all;
    for (const auto& part : parts)
      for (const double x : values_of(part.weight)) all.push_back(x);
    return all;
  }
};

/// The parameters after four steps, which an optimiser takes for all of them together, or one for each of them alone. A
/// step whose gradients are not finite comes third if they are scaled.
template <class D, class T, class Rule, class Options>
std::vector<double> stepped(const Options& options, int count, bool together, bool scaled) {
  Many<D, T> net(count);
  std::vector<std::unique_ptr<Rule>> rules;
  if (together) rules.push_back(std::make_unique<Rule>(net.parameters(), options));
  else
    for (auto& part : net.parts) rules.push_back(std::make_unique<Rule>(part.parameters(), options));
  const auto found = zeros<D>({});
  for (int step = 0; step < 4; ++step) {
    const bool overflows = scaled && step == 2;
    net.set_gradients(step, overflows ? 1e30 : 1);
    found.fill_(overflows);
    for (auto& rule : rules) scaled ? rule->step_unless(found) : rule->step();
  }
  return net.all_values();
}

StateDict without(StateDict dict, const std::string& name) {
  std::erase_if(dict, [&](const NamedTensor& entry) { return entry.name == name; });
  return dict;
}

}  // namespace

TEMPLATE_TEST_CASE("steps too small for a 16-bit parameter add up in its float copy", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using T = typename decltype(type)::type;
    const Weights<D, T> net({1, -1});
    optim::SGD sgd(net.parameters(), {.lr = 1e-4});
    for (int step = 0; step < 100; ++step) {
      net.weight.set_grad(tensor_of<D, T>({1, 1}));
      sgd.step();
      if (step == 0) CHECK(values_of(net.weight) == std::vector<double>{1, -1});
    }
    const float master = 1 - 0.01f;
    check_close(values_of(sgd.state_slots()[0].master.template as<D>()), {0.99, -1.01}, 1e-5);
    check_close(values_of(net.weight), {double(float(T(master))), double(float(T(-1.01f)))}, 1e-12);
  };
  check(bf16);
  check(f16);
}

TEMPLATE_TEST_CASE("a write to a 16-bit parameter between steps counts", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Weights<D, bfloat16> net({1, -1});
  optim::SGD sgd(net.parameters(), {.lr = 0.5});
  net.weight.set_grad(tensor_of<D, bfloat16>({1, 1}));
  sgd.step();
  net.weight.detach().fill_(8);
  sgd.step();
  CHECK(values_of(net.weight) == std::vector<double>{7.5, 7.5});
}

TEMPLATE_TEST_CASE("parameters of several types share an optimiser; those without a gradient are left alone", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const Mixed<D> net;
  optim::SGD sgd(net.parameters(), {.lr = 0.25, .momentum = 0.5});
  const std::uint32_t version = net.plain.version();
  for (int step = 0; step < 2; ++step) {
    net.wide.set_grad(ones<D, double>({3}));
    net.narrow.set_grad(ones<D, bfloat16>({2}));
    sgd.step();
  }
  CHECK(values_of(net.wide) == std::vector<double>(3, 1 - 0.25 - 0.375));
  CHECK(values_of(net.narrow) == std::vector<double>(2, 0.375));
  CHECK(values_of(net.plain) == std::vector<double>(2, 1));
  CHECK(net.plain.version() == version);
  CHECK(net.wide.version() > 0);
  sgd.zero_grad();
  CHECK_FALSE(net.wide.grad().defined());
  CHECK_FALSE(net.narrow.grad().defined());
}

TEMPLATE_TEST_CASE("zero_grad(false) fills gradients with zeros where they are", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Mixed<D> net;
  const Matrix<D> matrix;
  optim::SGD sgd(net.parameters());
  optim::LBFGS lbfgs(matrix.parameters());
  const auto check = [](auto& owner, const auto& x) {
    const auto gradient = ones<D, typename std::remove_cvref_t<decltype(x)>::value_type>(x.shape());
    x.set_grad(gradient);
    owner.zero_grad(false);
    CHECK(x.grad().impl() == gradient.impl());
    CHECK(values_of(gradient) == std::vector<double>(std::size_t(x.numel()), 0));
    CHECK(gradient.version() > 0);
    owner.zero_grad(true);
    CHECK_FALSE(x.grad().defined());
    owner.zero_grad(false);
    CHECK_FALSE(x.grad().defined());
  };
  check(sgd, net.wide), check(sgd, net.narrow), check(net, net.narrow), check(matrix, matrix.weight);
  check(lbfgs, matrix.weight);
  // A gradient with a graph of its own stays as it was for that graph.
  net.plain.square().sum().backward({}, true, true);
  const auto gradient = net.plain.grad();
  const auto product = gradient * gradient;
  sgd.zero_grad(false);
  CHECK(values_of(net.plain.grad()) == std::vector<double>(2, 0));
  CHECK(values_of(grad(product.sum(), net.plain)) == std::vector<double>(2, 8));
}

TEMPLATE_TEST_CASE("step(closure) calls it once, steps with its gradients and returns its loss", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = full<D>({2}, 3).requires_grad_();
  optim::SGD sgd({x}, {.lr = 0.5});
  int calls = 0;
  const Tensor<D> loss = sgd.step([&, offset = 1.] {
    ++calls;
    sgd.zero_grad();
    const auto y = (x * x).sum() + offset;
    y.backward();
    return y;
  });
  CHECK(calls == 1);
  CHECK(loss.item() == 19);
  CHECK(values_of(x) == std::vector<double>{0, 0});
}

TEMPLATE_TEST_CASE("parameters step together as each would alone", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = []<class T, class Rule>(tern::detail::Type<T>, std::type_identity<Rule>, const auto& options,
                                             int count, bool scaled) {
    const auto together = stepped<D, T, Rule>(options, count, true, scaled),
               alone = stepped<D, T, Rule>(options, count, false, scaled);
    CHECK(together == alone);
    CHECK(together != Many<D, T>(count).all_values());
  };
  const optim::SGDOptions sgd{.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.01};
  const optim::AdamOptions adam{.lr = 0.01, .weight_decay = 0.1, .amsgrad = true};
  for (const bool scaled : {false, true}) {
    check(tern::detail::Type<float>{}, std::type_identity<optim::SGD>{}, sgd, 20, scaled);
    check(bf16, std::type_identity<optim::SGD>{}, sgd, 20, scaled);
    check(f16, std::type_identity<optim::Adam>{}, adam, 20, scaled);
  }
  check(tern::detail::Type<double>{}, std::type_identity<optim::Adam>{}, adam, 20, false);
  check(tern::detail::Type<float>{}, std::type_identity<optim::NAdam>{}, optim::NAdamOptions{}, 20, true);
  check(tern::detail::Type<float>{}, std::type_identity<optim::Adam>{}, adam, 161, true);
}

#if defined(TERN_TESTS_ON_CUDA)
TEST_CASE("a step of many parameters is few launches", "[cuda]") {
  NEED_EMULATOR();
  const auto launches = []<class Rule>(std::type_identity<Rule>, const auto& options, int count) {
    Many<Cuda> net(count);
    Rule rule(net.parameters(), options);
    for (auto& part : net.parts) part.weight.set_grad(ones_like(part.weight));
    rule.step();
    fail_call(nullptr, 0, 0);
    rule.step();
    return calls_of("cuLaunchKernel");
  };
  CHECK(launches(std::type_identity<optim::SGD>{}, optim::SGDOptions{.momentum = 0.9}, 20) == 1);
  CHECK(launches(std::type_identity<optim::Adam>{}, optim::AdamOptions{}, 20) == 1);
  CHECK(launches(std::type_identity<optim::SGD>{}, optim::SGDOptions{.momentum = 0.9}, 161) == 2);  // as ResNet-50
  CHECK(launches(std::type_identity<optim::Adam>{}, optim::AdamOptions{}, 161) == 2);
}
#endif

TEMPLATE_TEST_CASE("a gradient in another memory order is taken as it stands", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Matrix<D> net;
  optim::SGD sgd(net.parameters(), {.lr = 1});
  net.weight.set_grad(tensor_of<D>({1, 2, 3, 4, 5, 6}, {3, 2}).transpose(0, 1));
  sgd.step();
  CHECK(values_of(net.weight) == std::vector<double>{-1, -3, -5, -2, -4, -6});
}

TEMPLATE_TEST_CASE("a step after the forward pass is noticed by the backward pass", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Weights<D> net({1, 2});
  optim::SGD sgd(net.parameters(), {.lr = 1});
  const auto y = sum(net.weight * net.weight);
  net.weight.set_grad(ones<D, double>({2}));
  sgd.step();
  CHECK_THROWS_AS(y.backward(), Error);
}

TEMPLATE_TEST_CASE("load_state_dict() takes rate and momentum too, and refuses what does not fit", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const Weights<D> net(recorded_start()), other({1, 2});
  optim::Adam adam(net.parameters(), {.lr = 0.1, .betas = {0.8, 0.9}}), fresh(net.parameters());
  set_recorded_gradient(net.weight, 1);
  adam.step();
  adam.set_lr(0.05);
  const StateDict dict = adam.state_dict();
  fresh.load_state_dict(dict);
  CHECK(fresh.lr() == 0.05);
  CHECK(fresh.momentum() == 0.8);

  const auto refusal = [](auto& optimiser, const StateDict& state) {
    return error_of([&] { optimiser.load_state_dict(state); });
  };
  CHECK_THAT(refusal(fresh, without(dict, "weight.step")), ContainsSubstring("the optimiser's weight.step is missing"));
  CHECK_THAT(refusal(fresh, without(dict, "lr")), ContainsSubstring("the optimiser's lr is missing"));
  TERN_TEST_LINE(fresh.load_state_dict({}));
  CHECK_THAT(refusal(fresh, without(dict, "weight.exp_avg")),
             ContainsSubstring("nothing in this optimiser is called weight.exp_avg_sq"));
  optim::Adam small(other.parameters());
  CHECK_THAT(refusal(small, dict),
             ContainsSubstring("the optimiser's weight.exp_avg has shape [5], the parameter [2]"));
  CHECK(small.lr() == 1e-3);
  CHECK(small.state_slots()[0].state.empty());
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  CHECK_THAT(refusal(sgd, dict), ContainsSubstring("nothing in this optimiser is called weight.exp_avg"));
  CHECK(sgd.momentum() == 0.9);
  StateDict odd = dict;
  odd[2].tensor = zeros<Cpu, Index>({2});
  CHECK_THAT(refusal(fresh, odd), ContainsSubstring("the optimiser's weight.step is not a number, but has shape [2]"));
}

TEMPLATE_TEST_CASE("an optimiser needs parameters", "", TERN_TEST_DEVICES) {
  CHECK_THAT(error_of([] { optim::SGD(Nothing<TestType>().parameters()); }),
             ContainsSubstring("SGD: there are no parameters"));
}

TEMPLATE_TEST_CASE("to(net) goes on with a converted network", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto run = [](const auto& net, auto& optimiser, int first, int last) {
    for (int step = first; step <= last; ++step) {
      set_recorded_gradient(net.weight, step);
      optimiser.step();
    }
  };
  const Weights<D> straight(recorded_start()), net(recorded_start());
  optim::Adam whole(straight.parameters(), {.lr = 0.02}), adam(net.parameters(), {.lr = 0.02});
  run(straight, whole, 1, 20);
  run(net, adam, 1, 10);

  const Weights<D> copy = net.clone();
  adam.to(copy);
  run(copy, adam, 11, 20);
  CHECK(values_of(copy.weight) == values_of(straight.weight));
  CHECK(values_of(net.weight) != values_of(copy.weight));

  // Through float and its 16-bit form: the same steps, as exactly as those types are.
  const auto single = copy.to(f32);
  adam.to(single);
  run(single, adam, 21, 22);
  run(straight, whole, 21, 22);
  check_close(values_of(single.weight), values_of(straight.weight), 1e-5);
  const auto narrow = single.to(bf16);
  adam.to(narrow);
  run(narrow, adam, 23, 24);
  run(straight, whole, 23, 24);
  check_close(values_of(narrow.weight), values_of(straight.weight), 2e-2, 1e-2);
  adam.to(straight);  // float copies of 16-bit parameters are left behind
  run(straight, adam, 25, 26);
  CHECK(adam.state_slots()[0].steps == 26);

  const Mixed<D> different;
  CHECK_THAT(error_of([&] { adam.to(different); }), ContainsSubstring("to: the optimiser's wide.step is missing"));
  CHECK(adam.state_slots()[0].parameter.impl() == straight.weight.impl());
}

TEST_CASE("to(net) follows a network to another device") {
  const Weights<Cpu> straight(recorded_start()), net(recorded_start());
  optim::Adam whole(straight.parameters(), {.lr = 0.02}), adam(net.parameters(), {.lr = 0.02});
  const auto run = [](const auto& weights, auto& optimiser, int first, int last) {
    for (int step = first; step <= last; ++step) {
      set_recorded_gradient(weights.weight, step);
      optimiser.step();
    }
  };
  run(straight, whole, 1, 15);
  run(net, adam, 1, 5);
  const auto there = net.to(Naive{});
  adam.to(there);
  run(there, adam, 6, 10);
  const auto back = there.to(Cpu{});
  adam.to(back);
  run(back, adam, 11, 15);
  check_close(values_of(back.weight), values_of(straight.weight));
}

}  // namespace optim_optimizer
