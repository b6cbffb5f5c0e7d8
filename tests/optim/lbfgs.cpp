#include "support/recorded.hpp"

#include <tern/nn/module.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/lbfgs.hpp>

namespace optim_lbfgs {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = double>
struct Two : nn::Module<D, T> {
  nn::Parameter<D, T> a = tensor_of<D, T>({1, 0.7}), b = tensor_of<D, T>({1, 0.7, 0.4, 0.1}, {2, 2});
  TERN_FIELDS(Two, a, b)
  Tensor<D, T> all() const { return cat(std::vector<Tensor<D, T>>{a, b.flatten()}); }
};

template <class D>
Tensor<D, double> rosenbrock(const Tensor<D, double>& x) {
  const auto low = x.narrow(0, 0, x.size(0) - 1), high = x.narrow(0, 1, x.size(0) - 1);
  return (100 * (high - low.square()).square() + (1 - low).square()).sum();
}
template <class D>
Tensor<D, double> bowl(const Tensor<D, double>& x) {
  const auto index = tensor_of<D>({1, 2, 3, 4, 5, 6});
  return (index * (x - 1).square()).sum() + 0.1 * x.square().square().sum();
}

optim::LBFGSOptions options_of(const Json& o) {
  for (const auto& [key, value] : o.items())
    REQUIRE(std::string(" lr max_iter max_eval history_size tolerance_grad tolerance_change line_search_fn ")
                .find(" " + key + " ") != std::string::npos);
  optim::LBFGSOptions options;
  options.lr = o.value("lr", options.lr);
  options.max_iter = o.value("max_iter", options.max_iter);
  options.max_eval = o.value("max_eval", options.max_eval);
  options.history_size = o.value("history_size", options.history_size);
  options.tolerance_grad = o.value("tolerance_grad", options.tolerance_grad);
  options.tolerance_change = o.value("tolerance_change", options.tolerance_change);
  if (o.contains("line_search_fn")) options.line_search_fn = "strong_wolfe";
  return options;
}

}  // namespace

TEMPLATE_TEST_CASE("LBFGS takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  int seen = 0;
  for (const Json& recorded : recorded_cases("lbfgs")) {
    ++seen;
    INFO(recorded["function"] << ' ' << recorded["options"].dump());
    const Two<D> net;
    optim::LBFGS lbfgs(net.parameters(), options_of(recorded["options"]));
    const auto closure = [&] {
      lbfgs.zero_grad();
      const auto loss = recorded["function"] == "bowl" ? bowl(net.all()) : rosenbrock(net.all());
      loss.backward();
      return loss;
    };
    int step = 0;
    for (const Json& after : recorded["after"]) {
      INFO("step " << ++step);
      const double loss = lbfgs.step(closure);
      check_close({loss}, {after["loss"].get<double>()}, 1e-6, 1e-13);
      check_close(values_of(net.all()), after["values"].get<std::vector<double>>(), 1e-6, 0);
      CHECK(lbfgs.evaluations() == after["evaluations"].get<Index>());
      CHECK(lbfgs.iterations() == after["iterations"].get<Index>());
    }
  }
  CHECK(seen == 8);
}

TEMPLATE_TEST_CASE("LBFGS solves a fit to the last digits, by a closure that returns a number", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Two<D> net;
  optim::LBFGS lbfgs(net.parameters(), {.tolerance_change = 0, .line_search_fn = optim::LineSearch::strong_wolfe});
  const auto closure = [&] {
    lbfgs.zero_grad();
    const auto loss = rosenbrock(net.all());
    loss.backward();
    return loss.item();
  };
  for (int i = 0; i < 8; ++i) lbfgs.step(closure);
  check_close(values_of(net.all()), std::vector<double>(6, 1), 1e-8);
}

TEMPLATE_TEST_CASE("LBFGS continues bit for bit from its state", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto step = [](optim::LBFGS<D, double>& lbfgs, const Two<D>& net) {
    lbfgs.step([&] {
      lbfgs.zero_grad();
      const auto loss = rosenbrock(net.all());
      loss.backward();
      return loss;
    });
  };
  const optim::LBFGSOptions options{.lr = 0.5, .max_iter = 3, .history_size = 4};
  const Two<D> net, other;
  optim::LBFGS lbfgs(net.parameters(), options), resumed(other.parameters());
  step(lbfgs, net), step(lbfgs, net);
  StateDict dict;  // as from a file
  for (const NamedTensor& entry : lbfgs.state_dict()) dict.push_back({entry.name, entry.tensor.cpu()});
  other.load_state_dict(net.state_dict());
  optim::LBFGS continued(other.parameters(), options);
  continued.load_state_dict(dict);
  continued.set_lr(0.25), lbfgs.set_lr(0.25);
  step(lbfgs, net), step(continued, other);
  CHECK(values_of(other.all()) == values_of(net.all()));
  CHECK(continued.iterations() == lbfgs.iterations());

  dict.pop_back();
  CHECK_THAT(error_of([&] { resumed.load_state_dict(dict); }),
             ContainsSubstring("nothing in this optimiser is called history"));
  CHECK_THAT(error_of([&] { resumed.load_state_dict({}); }),
             ContainsSubstring("load_state_dict: the optimiser's lr is missing"));
  TERN_TEST_LINE(resumed.load_state_dict({}));
  const nn::Linear<D, double> single(1, 1);
  optim::LBFGS small(single.parameters());
  CHECK_THAT(error_of([&] { small.load_state_dict(lbfgs.state_dict()); }),
             ContainsSubstring("direction has shape [6], the parameter [2]"));
}

TEMPLATE_TEST_CASE("LBFGS leaves parameters without a gradient alone, and refuses what has no meaning", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const Two<D> net;
  const auto before = values_of(net.a);
  optim::LBFGS lbfgs(net.parameters());
  lbfgs.step([&] {
    lbfgs.zero_grad();
    const auto loss = net.b.square().sum();
    loss.backward();
    return loss;
  });
  CHECK(values_of(net.a) == before);
  check_close(values_of(net.b), std::vector<double>(4, 0), 0, 1e-6);
  const auto error = [&](optim::LBFGSOptions o) { return error_of([&] { optim::LBFGS(net.parameters(), o); }); };
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("LBFGS: lr must not be negative: -1"));
  CHECK_THAT(error({.max_iter = 0}), ContainsSubstring("LBFGS: max_iter must be positive, not 0"));
  CHECK_THAT(error({.history_size = 0}), ContainsSubstring("LBFGS: history_size must be positive, not 0"));
}

}  // namespace optim_lbfgs
