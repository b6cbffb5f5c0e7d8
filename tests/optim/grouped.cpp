// What the options of all optimisers share: groups, lists of tensors, positions, lines in Errors. Over 400 lines,
// because each optimiser is a row of several tables.
#include "recorded_optimiser.hpp"

#include <tern/optim/optim.hpp>

namespace optim_grouped {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Numbers in two layers of one kind, so that names of their parameters are the same, and a third tensor.
template <Device D, class T = double>
struct Parts : nn::Module<D, T> {
  Weights<D, T> body{{1, 0.7, 0.4}}, head{{1, 0.7}}, late{{1, 0.7, 0.4, 0.1}};
  TERN_FIELDS(Parts, body, head, late)

  void set_gradients(int step) {
    for (const auto* part : {&body, &head, &late}) set_recorded_gradient(part->weight, step);
  }
};

optim::SGDOptions sgd_options(const Json& o) {
  check_known(o, {"lr", "momentum", "weight_decay"});
  return {.lr = o["lr"], .momentum = o.value("momentum", 0.), .weight_decay = o.value("weight_decay", 0.)};
}
optim::AdamWOptions adamw_options(const Json& o) {
  check_known(o, {"lr", "weight_decay"});
  return {.lr = o["lr"], .weight_decay = o.value("weight_decay", 1e-2)};
}
optim::NAdamOptions nadam_options(const Json& o) {
  check_known(o, {"lr", "momentum_decay", "betas"});
  optim::NAdamOptions options;
  options.lr = o.value("lr", options.lr);
  options.momentum_decay = o.value("momentum_decay", options.momentum_decay);
  if (o.contains("betas")) options.betas = {o["betas"][0], o["betas"][1]};
  return options;
}

std::unique_ptr<optim::LRScheduler> schedule_of(const Json& recorded, optim::Optimizer& optimiser) {
  if (recorded["schedule"].is_null()) return nullptr;
  const std::string name = recorded["schedule"];
  const Json& o = recorded["schedule_options"];
  if (name == "StepLR")
    return std::make_unique<optim::StepLR>(optimiser,
                                           optim::StepLROptions{.step_size = o["step_size"], .gamma = o["gamma"]});
  if (name == "CosineAnnealingLR")
    return std::make_unique<optim::CosineAnnealingLR>(
        optimiser, optim::CosineAnnealingLROptions{.T_max = o["T_max"], .eta_min = o["eta_min"]});
  if (name == "LinearLR")
    return std::make_unique<optim::LinearLR>(optimiser, optim::LinearLROptions{.total_iters = o["total_iters"]});
  REQUIRE(name == "OneCycleLR");
  return std::make_unique<optim::OneCycleLR>(
      optimiser, optim::OneCycleLROptions{.max_lr = o["max_lr"], .total_steps = o["total_steps"]});
}

template <class Rule, Device D, class Options>
void check_groups(const Json& recorded, const Options& options) {
  INFO(recorded["optimiser"] << ' ' << recorded["groups"].dump() << ' ' << recorded["schedule"]);
  Parts<D> net;
  Rule optimiser({{net.body.parameters(), options(recorded["groups"][0])},
                  {net.head.parameters(), options(recorded["groups"][1])}});
  const auto schedule = schedule_of(recorded, optimiser);
  for (int step = 1; step <= 50; ++step) {
    if (step == 21 && !schedule) optimiser.add_param_group({net.late.parameters(), {.lr = 0.05}});
    net.set_gradients(step);
    optimiser.step();
    if (schedule) schedule->step();
    const auto after = recorded["after"].find(std::to_string(step));
    if (after == recorded["after"].end()) continue;
    INFO("after step " << step);
    const auto values = [&](std::size_t i) { return (*after)["values"][i].template get<std::vector<double>>(); };
    check_close(values_of(net.body.weight), values(0), 1e-6, 0);
    check_close(values_of(net.head.weight), values(1), 1e-6, 0);
    check_close(values_of(net.late.weight), values(2), 1e-6, 0);
    std::vector<double> rates;
    for (std::size_t group = 0; group < optimiser.group_count(); ++group) rates.push_back(optimiser.lr(group));
    check_close(rates, (*after)["rates"].template get<std::vector<double>>(), 1e-9, 1e-15);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("groups of parameters take PyTorch's steps at PyTorch's rates", "", TERN_TEST_DEVICES) {
  using D = TestType;
  int seen = 0;
  for (const Json& recorded : recorded_cases("groups")) {
    ++seen;
    if (recorded["optimiser"] == "SGD") check_groups<optim::SGD, D>(recorded, sgd_options);
    else if (recorded["optimiser"] == "AdamW") check_groups<optim::AdamW, D>(recorded, adamw_options);
    else check_groups<optim::NAdam, D>(recorded, nadam_options);
  }
  CHECK(seen == 5);
}

TEMPLATE_TEST_CASE("a group's options can be changed between steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Parts<D> net;
  optim::SGD sgd({{net.body.parameters(), {.lr = 1}}, {net.head.parameters(), {.lr = 0}}});
  sgd.param_groups()[1].lr = 2;
  CHECK(sgd.lr(1) == 2);
  net.body.weight.set_grad(ones<D, double>({3}));
  net.head.weight.set_grad(ones<D, double>({2}));
  sgd.step();
  check_close(values_of(net.body.weight), {0, -0.3, -0.6});
  check_close(values_of(net.head.weight), {-1, -1.3});
  sgd.set_lr(0.5, 0);
  CHECK(sgd.lr() == 0.5);
  CHECK(sgd.lr(1) == 2);
  sgd.set_lr(0.25);
  CHECK(sgd.lr() == 0.25);
  CHECK(sgd.lr(1) == 0.25);
  CHECK_THAT(error_of([&] { sgd.lr(2); }), ContainsSubstring("SGD: there is no group 2 among 2"));
}

TEMPLATE_TEST_CASE("where() makes groups of one network's parameters", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Parts<D> net;
  const auto all = net.parameters();
  const auto small = [](const NamedTensor& p) { return p.tensor.numel() < 3; };
  optim::SGD sgd({{all.where(small), {.lr = 1}}, {all.where(std::not_fn(small)), {.lr = 2}}});
  REQUIRE(sgd.state_slots().size() == 3);
  CHECK(sgd.state_slots()[0].name == "head.weight");
  CHECK(sgd.state_slots()[2].name == "group1/late.weight");
}

TEMPLATE_TEST_CASE("the state of groups continues bit for bit, and follows a network", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto make = [](const Parts<D>& net) {
    return std::make_unique<optim::Adam>(std::initializer_list<optim::Adam::Group>{
        {net.body.parameters(), {.lr = 0.02}}, {net.head.parameters(), {.lr = 0.05, .betas = {0.8, 0.9}}}});
  };
  const auto run = [](Parts<D>& net, optim::Optimizer& optimiser, int first, int last) {
    optim::StepLR schedule(optimiser, {.step_size = 3, .gamma = 0.5});
    for (int step = first; step <= last; ++step) {
      schedule.set_epoch(step - 1);
      net.set_gradients(step);
      optimiser.step();
    }
  };
  Parts<D> straight, before;
  const auto whole = make(straight), first = make(before);
  run(straight, *whole, 1, 20);
  run(before, *first, 1, 8);
  Parts<D> after = before.clone();
  const auto second = make(after);
  second->load_state_dict(first->state_dict());
  CHECK(second->lr(1) == first->lr(1));
  second->set_lr(0.02, 0);  // what the schedule of the resumed training starts from
  second->set_lr(0.05, 1);
  run(after, *second, 9, 14);
  Parts<D> moved = after.clone();
  second->to({moved.body.parameters(), moved.head.parameters()});
  run(moved, *second, 15, 20);
  CHECK(values_of(moved.body.weight) == values_of(straight.body.weight));
  CHECK(values_of(moved.head.weight) == values_of(straight.head.weight));
  CHECK(values_of(moved.late.weight) == std::vector<double>{1, 0.7, 0.4, 0.1});

  std::vector<std::string> names;
  for (const NamedTensor& entry : first->state_dict()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"lr", "initial_lr", "momentum", "group1/lr", "group1/initial_lr",
                                          "group1/momentum", "weight.step", "weight.exp_avg", "weight.exp_avg_sq",
                                          "group1/weight.step", "group1/weight.exp_avg", "group1/weight.exp_avg_sq"});
  optim::Adam single(before.body.parameters());
  CHECK_THAT(error_of([&] { single.load_state_dict(first->state_dict()); }),
             ContainsSubstring("nothing in this optimiser is called group1/lr"));
  CHECK_THAT(error_of([&] { first->load_state_dict(single.state_dict()); }),
             ContainsSubstring("group1/weight.step is missing"));
  CHECK_THAT(error_of([&] { second->to(moved.body); }), ContainsSubstring("to: 1 lists of parameters for 2 groups"));
}

TEMPLATE_TEST_CASE("groups refuse what PyTorch refuses", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Parts<D> net;
  optim::SGD sgd(net.body.parameters());
  CHECK_THAT(error_of([&] { sgd.add_param_group({net.parameters(), {}}); }),
             ContainsSubstring("SGD: parameter body.weight is in another group, as weight"));
  CHECK_THAT(error_of([&] { sgd.add_param_group({net.head.parameters(), {.lr = -1}}); }),
             ContainsSubstring("SGD: lr must not be negative"));
  CHECK(sgd.group_count() == 1);
  CHECK_THAT(
      error_of([&] { sgd.add_param_group({net.head.parameters().where([](const NamedTensor&) { return false; })}); }),
      ContainsSubstring("SGD: there are no parameters"));
  CHECK_THAT(error_of([] { optim::SGD(std::initializer_list<optim::SGD::Group>{}); }),
             ContainsSubstring("SGD: there are no parameters"));
}

namespace {

/// Two matrices as a network.
template <Device D, class T = double>
struct Pair : nn::Module<D, T> {
  nn::Parameter<D, T> left = spread_tensor<D>({2, 3}, 0.2, 1.5), right = spread_tensor<D>({3, 2}, -1, 1);
  TERN_FIELDS(Pair, left, right)
};

template <class D>
void take_steps(const Tensor<D, double>& x, const Tensor<D, double>& y, auto& optimiser) {
  const auto closure = [&] {
    optimiser.zero_grad();
    const auto loss = (matmul(x, y) - 1).square().sum();
    loss.backward();
    return loss;
  };
  for (int i = 0; i < 3; ++i) {
    if constexpr (requires { optimiser.step(closure); }) optimiser.step(closure);
    else closure(), optimiser.step();
  }
}

}  // namespace

TEMPLATE_TEST_CASE("optimisers take plain tensors and step as with a network's", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const auto& make) {
    const Pair<D> of_network, in_braces, in_vector;
    auto a = make(of_network.parameters()),
         b = make(std::initializer_list<Tensor<D, double>>{in_braces.left, in_braces.right}),
         c = make(std::vector<Tensor<D, double>>{in_vector.left, in_vector.right});
    take_steps<D>(of_network.left, of_network.right, *a);
    take_steps<D>(in_braces.left, in_braces.right, *b);
    take_steps<D>(in_vector.left, in_vector.right, *c);
    for (const Pair<D>* pair : {&in_braces, &in_vector}) {
      check_close(values_of(pair->left), values_of(of_network.left), 0, 0);
      check_close(values_of(pair->right), values_of(of_network.right), 0, 0);
    }
    CHECK(values_of(of_network.left) != values_of(Pair<D>().left));
  };
  const auto check_rate = []<class Rule>(std::type_identity<Rule>) {
    const Pair<D> pair;
    CHECK(Rule(pair.parameters(), 0.25).lr() == 0.25);
    CHECK(Rule(std::vector<Tensor<D, double>>{pair.left, pair.right}, 0.25f).lr() == 0.25);
    CHECK(Rule({pair.left, pair.right}, 2).lr() == 2);
    CHECK(Rule({pair.left}, 2).lr() == 2);
  };
  const auto of = [&]<class Rule>(std::type_identity<Rule>) {
    check([](const auto& list) { return std::make_unique<Rule>(list); });
    check_rate(std::type_identity<Rule>());
  };
  of(std::type_identity<optim::SGD>()), of(std::type_identity<optim::Adam>()), of(std::type_identity<optim::AdamW>());
  of(std::type_identity<optim::Adadelta>()), of(std::type_identity<optim::Adagrad>()),
      of(std::type_identity<optim::RMSprop>());
  of(std::type_identity<optim::Adamax>()), of(std::type_identity<optim::Rprop>()),
      of(std::type_identity<optim::ASGD>());
  of(std::type_identity<optim::NAdam>()), of(std::type_identity<optim::RAdam>()), of(std::type_identity<optim::Muon>());
  check([](const auto& list) { return std::make_unique<optim::LBFGS<D, double>>(list); });
  check_rate(std::type_identity<optim::LBFGS<D, double>>());
}

TEMPLATE_TEST_CASE("optimisers take their options by position, in the order of PyTorch's signatures", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = []<class Rule, class Options>(std::type_identity<Rule>, const Options& options, auto... by_place) {
    const Pair<D> named, placed;
    Rule a(named.parameters(), options), b(placed.parameters(), by_place...);
    take_steps<D>(named.left, named.right, a);
    take_steps<D>(placed.left, placed.right, b);
    check_close(values_of(placed.left), values_of(named.left), 0, 0);
    CHECK(values_of(placed.left) != values_of(Pair<D>().left));
  };
  using std::type_identity, std::pair;
  const pair betas{0.8, 0.95};
  check(type_identity<optim::SGD>(), optim::SGDOptions{.lr = 0.1, .momentum = 0.9}, 0.1, 0.9);
  check(type_identity<optim::SGD>(),
        optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.2}, 0.1, 0.9, 0.5f, 0.2);
  check(type_identity<optim::SGD>(),
        optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.2, .nesterov = true}, 0.1, 0.9, 0, 0.2, true);
  check(type_identity<optim::Adam>(),
        optim::AdamOptions{.lr = 0.1, .betas = betas, .eps = 0.01, .weight_decay = 0.2, .amsgrad = true}, 0.1, betas,
        0.01, 0.2, true);
  check(type_identity<optim::AdamW>(), optim::AdamWOptions{.lr = 0.1, .betas = betas}, 0.1, betas);
  check(type_identity<optim::AdamW>(),
        optim::AdamWOptions{.lr = 0.1, .betas = betas, .eps = 0.01, .weight_decay = 0.2, .amsgrad = true}, 0.1, betas,
        0.01, 0.2, true);
  check(type_identity<optim::Adamax>(),
        optim::AdamaxOptions{.lr = 0.1, .betas = betas, .eps = 0.01, .weight_decay = 0.2}, 0.1, betas, 0.01, 0.2);
  check(type_identity<optim::NAdam>(),
        optim::NAdamOptions{.lr = 0.1,
                            .betas = betas,
                            .eps = 0.01,
                            .weight_decay = 0.2,
                            .momentum_decay = 0.3,
                            .decoupled_weight_decay = true},
        0.1, betas, 0.01, 0.2, 0.3, true);
  check(
      type_identity<optim::RAdam>(),
      optim::RAdamOptions{.lr = 0.1, .betas = betas, .eps = 0.01, .weight_decay = 0.2, .decoupled_weight_decay = true},
      0.1, betas, 0.01, 0.2, true);
  check(type_identity<optim::RMSprop>(),
        optim::RMSpropOptions{
            .lr = 0.1, .alpha = 0.9, .eps = 0.01, .weight_decay = 0.2, .momentum = 0.3, .centered = true},
        0.1, 0.9, 0.01, 0.2, 0.3, true);
  check(type_identity<optim::Adagrad>(),
        optim::AdagradOptions{
            .lr = 0.1, .lr_decay = 0.3, .weight_decay = 0.2, .initial_accumulator_value = 0.4, .eps = 0.01},
        0.1, 0.3, 0.2, 0.4, 0.01);
  check(type_identity<optim::Adadelta>(),
        optim::AdadeltaOptions{.lr = 0.1, .rho = 0.8, .eps = 0.01, .weight_decay = 0.2}, 0.1, 0.8, 0.01, 0.2);
  check(type_identity<optim::ASGD>(),
        optim::ASGDOptions{.lr = 0.1, .lambd = 0.2, .alpha = 0.3, .t0 = 1, .weight_decay = 0.4}, 0.1, 0.2, 0.3, 1, 0.4);
  check(type_identity<optim::Rprop>(), optim::RpropOptions{.lr = 0.1, .etas = {0.4, 1.3}, .step_sizes = {0.01, 0.11}},
        0.1, pair{0.4, 1.3}, pair{0.01, 0.11});
  check(type_identity<optim::Muon>(),
        optim::MuonOptions{.lr = 0.1, .weight_decay = 0.2, .momentum = 0.8, .nesterov = false}, 0.1, 0.2, 0.8, false);

  const nn::Linear<D> net(2, 2);
  CHECK(optim::Adam({net.weight, net.bias}, 0.1, {0, 0.95}).param_groups()[0].betas == pair{0., 0.95});
  optim::SGD of_layer(std::vector{net.weight, net.bias}, {.lr = 0.5});
  CHECK(of_layer.state_slots()[1].parameter.impl() == net.bias.impl());
  CHECK(of_layer.state_slots()[1].name == "1");
}

TEMPLATE_TEST_CASE("plain tensors stand in braces, in groups with their own rates too", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2}).requires_grad_(), y = ones<D>({2}).requires_grad_(), z = ones<D>({2}).requires_grad_();
  nn::Linear<D> net(2, 2);
  optim::SGD one({x, y}, {.lr = 0.5});
  (x.sum() + 2 * y.sum()).backward();
  one.step();
  check_close(values_of(x), {0.5, 0.5});
  check_close(values_of(y), {0, 0});
  optim::AdamW groups({{{x, y}, {.lr = 0.1}}, {net.parameters(), {.lr = 0.2}}});
  groups.add_param_group({{z}, {.lr = 0.3}});
  CHECK(groups.state_slots().size() == 5);
  CHECK((groups.lr(0) == 0.1 && groups.lr(1) == 0.2 && groups.lr(2) == 0.3));
  CHECK(groups.state_slots()[1].name == "1");
  CHECK(groups.state_slots()[4].name == "group2/0");
  optim::LBFGS lbfgs({x, y}, {.lr = 0.5}), positional({x, y}, 0.5), of_net(net.parameters(), 0.5);
  CHECK((lbfgs.lr() == 0.5 && positional.lr() == 0.5 && of_net.lr() == 0.5));
  optim::Adam of_layer({net.weight, net.bias});
  CHECK(of_layer.state_slots()[0].parameter.impl() == net.weight.impl());
  CHECK_THAT(error_of([&] { optim::SGD({x * 2}); }),
             ContainsSubstring("SGD: parameter 0 was computed from others; only leaves can be optimised"));
  CHECK_THAT(error_of([&] { optim::SGD({x, Tensor<D>()}); }), ContainsSubstring("SGD: parameter 1 is undefined"));
  CHECK_THAT(error_of([&] { optim::SGD(std::vector<Tensor<D>>()); }),
             ContainsSubstring("SGD: there are no parameters"));
}

TEMPLATE_TEST_CASE("groups share options, but for what a group gives itself", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D> a(2, 2), b(2, 2);
  optim::AdamW adam({{{a.weight, b.weight}, {.weight_decay = 0.1}}, {{a.bias, b.bias}, {.weight_decay = 0}}},
                    {.lr = 3e-4, .betas = {0.9, 0.95}});
  CHECK((adam.lr(0) == 3e-4 && adam.lr(1) == 3e-4));
  CHECK((adam.param_groups()[0].weight_decay == 0.1 && adam.param_groups()[1].weight_decay == 0));
  CHECK((adam.param_groups()[0].betas.second == 0.95 && adam.param_groups()[1].betas.second == 0.95));
  optim::SGD sgd({{a.parameters(), {.lr = 1}}, {b.parameters()}}, {.lr = 0.1, .momentum = 0.9, .weight_decay = 2});
  CHECK((sgd.lr(0) == 1 && sgd.lr(1) == 0.1 && sgd.momentum(0) == 0.9));
  CHECK((sgd.param_groups()[0].weight_decay == 2 && sgd.param_groups()[1].weight_decay == 2));
  CHECK_THAT(error_of([&] { optim::SGD({{a.parameters(), {.lr = -1}}, {b.parameters()}}, {.lr = 1}); }),
             ContainsSubstring("SGD: lr must not be negative: -1"));
  CHECK_THAT(error_of([&] { optim::Rprop({{a.parameters(), {.weight_decay = 1}}}, {.lr = 1}); }),
             ContainsSubstring("Rprop: there is no weight decay: 1"));
}

TEMPLATE_TEST_CASE("an Error of an optimiser's or schedule's constructor ends with the user's line", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Parts<D> net;
  const auto parameters = net.body.parameters();
  optim::SGD sgd(net.head.parameters());
  const auto check = [](int line, const auto& f) {
    CHECK(line_of(whole_error_of(f)) == " (grouped.cpp:" + std::to_string(line) + ")");
  };
  check(__LINE__, [&] { optim::SGD(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::SGD(parameters, -0.1); });
  check(__LINE__, [&] { optim::SGD({net.late.weight}, -0.1); });
  check(__LINE__, [&] { optim::SGD(parameters, 0.1, -0.9); });
  check(__LINE__, [&] { optim::SGD(parameters, {.nesterov = true}); });
  check(__LINE__, [&] { optim::SGD opt({{parameters, {.lr = -0.1}}}); });
  check(__LINE__, [&] { sgd.add_param_group({parameters, {.lr = -0.1}}); });
  check(__LINE__, [&] { optim::Adam(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::AdamW(parameters, {.betas = {2, 0.9}}); });
  check(__LINE__, [&] { optim::NAdam(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::RAdam(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::RMSprop(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::Adagrad(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::Adadelta(parameters, {.rho = 2}); });
  check(__LINE__, [&] { optim::Adamax(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::Rprop(parameters, {.etas = {2, 3}}); });
  check(__LINE__, [&] { optim::ASGD(parameters, {.alpha = -1}); });
  check(__LINE__, [&] { optim::Muon(parameters, {.lr = 0.1}); });  // its weight is no matrix
  check(__LINE__, [&] { optim::LBFGS(parameters, {.lr = -0.1}); });
  check(__LINE__, [&] { optim::LBFGS(parameters, -0.1); });
  check(__LINE__, [&] { optim::LBFGS({net.late.weight}, -0.1); });
  check(__LINE__, [&] { optim::ExponentialMovingAverage(parameters, {.decay = 2}); });
  check(__LINE__, [&] { optim::GradScaler<D>({.init_scale = -1}); });
  check(__LINE__, [&] { optim::StepLR(sgd, {.step_size = 0}); });
  check(__LINE__, [&] { optim::CosineAnnealingLR(sgd, {.T_max = 0}); });
  check(__LINE__, [&] { optim::CosineAnnealingWarmRestarts(sgd, {.T_0 = 0}); });
  check(__LINE__, [&] { optim::LinearLR(sgd, {.total_iters = 0}); });
  check(__LINE__, [&] { optim::SequentialLR(sgd, {}, {}); });
  check(__LINE__, [&] { optim::ReduceLROnPlateau(sgd, {.factor = 2}); });
  check(__LINE__, [&] { optim::OneCycleLR(sgd, {.total_steps = 0}); });
  check(__LINE__, [&] { optim::StepLR(sgd, 0); });
  check(__LINE__, [&] { optim::CosineAnnealingLR(sgd, 0, 0.1); });
  check(__LINE__, [&] { optim::CosineAnnealingWarmRestarts(sgd, 1, 0); });
  check(__LINE__, [&] { optim::LinearLR(sgd, 2); });
  check(__LINE__, [&] { optim::ConstantLR(sgd, 2); });
  check(__LINE__, [&] { optim::PolynomialLR(sgd, 0); });
  check(__LINE__, [&] { optim::OneCycleLR(sgd, 0.1, 0); });
  check(__LINE__, [&] { optim::CyclicLR(sgd, 0.1, 0.2, 0); });
  optim::OneCycleLR cycle(sgd, {.total_steps = 1});
  cycle.step();
  check(__LINE__, [&] { cycle.step(); });
  check(__LINE__, [&] { optim::clip_grad_norm_(parameters, 1, -1); });
  check(__LINE__, [&] { optim::clip_grad_value_(parameters, -1); });
}

TEMPLATE_TEST_CASE("maximize takes the steps of the negated loss", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = []<class Rule, class Options>(std::type_identity<Rule>, Options o) {
    const auto start = tensor<D>({1., -0.7, 0.4}, f64);
    const auto up = start.clone().requires_grad_(), down = start.clone().requires_grad_();
    Rule minimise({down}, o);
    o.maximize = true;
    Rule maximise({up}, o);
    for (int i = 0; i < 5; ++i) {
      minimise.zero_grad(), maximise.zero_grad();
      (-(down.sin() * down).sum()).backward();
      (up.sin() * up).sum().backward();
      minimise.step(), maximise.step();
    }
    INFO(typeid(Rule).name());
    CHECK(values_of(up) == values_of(down));
    CHECK_FALSE(values_of(up) == values_of(start));
  };
  using std::type_identity;
  check(type_identity<optim::SGD>(), optim::SGDOptions{.lr = 0.1, .momentum = 0.5, .weight_decay = 0.1});
  check(type_identity<optim::Adam>(), optim::AdamOptions{.lr = 0.1, .weight_decay = 0.1});
  check(type_identity<optim::Adam>(), optim::AdamOptions{.lr = 0.1, .amsgrad = true});
  check(type_identity<optim::AdamW>(), optim::AdamWOptions{.lr = 0.1});
  check(type_identity<optim::Adadelta>(), optim::AdadeltaOptions{.weight_decay = 0.1});
  check(type_identity<optim::Adagrad>(), optim::AdagradOptions{.lr = 0.1, .weight_decay = 0.1});
  check(type_identity<optim::Adamax>(), optim::AdamaxOptions{.lr = 0.1, .weight_decay = 0.1});
  check(type_identity<optim::ASGD>(), optim::ASGDOptions{.lr = 0.1, .weight_decay = 0.1});
  check(type_identity<optim::NAdam>(), optim::NAdamOptions{.lr = 0.1, .weight_decay = 0.1});
  check(type_identity<optim::RAdam>(), optim::RAdamOptions{.lr = 0.1, .weight_decay = 0.1});
  check(type_identity<optim::RMSprop>(), optim::RMSpropOptions{.lr = 0.1, .weight_decay = 0.1});
  check(type_identity<optim::RMSprop>(), optim::RMSpropOptions{.lr = 0.1, .momentum = 0.5, .centered = true});
  check(type_identity<optim::Rprop>(), optim::RpropOptions{.lr = 0.1});
}

}  // namespace optim_grouped
