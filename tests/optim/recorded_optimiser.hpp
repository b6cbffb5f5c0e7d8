// 100 steps of an optimiser held against PyTorch's (tests/recorded/optimisers.json).
#pragma once
#include "support/recorded.hpp"

#include <set>

#include <tern/nn/module.hpp>

namespace tern_test {

/// One parameter: the smallest network.
template <Device D, class T = double>
struct Weights : nn::Module<D, T> {
  nn::Parameter<D, T> weight;
  explicit Weights(const std::vector<double>& values) : weight(tensor_of<D, T>(values)) {}
  TERN_FIELDS(Weights, weight)
};

inline std::vector<double> recorded_start() {
  std::vector<double> start;
  for (int i = 0; i < 5; ++i) start.push_back(1 - 0.3 * i);
  return start;
}

/// The gradient that the recording used before step `step`.
template <class D, class T>
void set_recorded_gradient(const nn::Parameter<D, T>& x, int step) {
  std::vector<double> g = values_of(x);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = std::sin(0.1 * step + double(i)) * g[i] + std::cos(double(i));
  x.set_grad(tensor_of<D, T>(g, x.shape()));
}

/// Runs every recorded case of one optimiser; make(parameters, options) makes it.
template <class D, class Make>
void check_recorded_optimiser(const std::string& name, int cases, const Make& make) {
  int seen = 0;
  for (const Json& recorded : recorded_cases("optimisers")) {
    if (recorded["optimiser"] != name) continue;
    ++seen;
    INFO(name << ' ' << recorded["options"].dump());
    const Weights<D> net(recorded_start());
    const auto optimiser = make(net.parameters(), recorded["options"]);
    for (int step = 1; step <= 100; ++step) {
      set_recorded_gradient(net.weight, step);
      optimiser->step();
      const auto after = recorded["after"].find(std::to_string(step));
      if (after == recorded["after"].end()) continue;
      INFO("after step " << step);
      check_close(values_of(net.weight), after->template get<std::vector<double>>(), 1e-6, 0);
    }
  }
  CHECK(seen == cases);
}

/// Fails on an option that the caller does not read: a case must not pass for another reason than it says.
inline void check_known(const Json& options, const std::set<std::string>& known) {
  for (const auto& [name, value] : options.items()) {
    INFO("option " << name);
    REQUIRE(known.count(name));
  }
}

/// state_dict() and load_state_dict(): 20 steps at once, and 8, a new optimiser of a clone, 12 more, give the same
/// bits.
template <class D, class T, class Make>
void check_continues(const Make& make) {
  Weights<D, T> straight(recorded_start()), before(recorded_start());
  const auto whole = make(straight.parameters()), first = make(before.parameters());
  for (int step = 1; step <= 20; ++step) {
    set_recorded_gradient(straight.weight, step);
    whole->step();
  }
  for (int step = 1; step <= 8; ++step) {
    set_recorded_gradient(before.weight, step);
    first->step();
  }
  const Weights<D, T> after = before.clone();
  const auto second = make(after.parameters());
  second->load_state_dict(first->state_dict());
  for (int step = 9; step <= 20; ++step) {
    set_recorded_gradient(after.weight, step);
    second->step();
  }
  CHECK(values_of(after.weight) == values_of(straight.weight));
  const StateDict a = whole->state_dict(), b = second->state_dict();
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].name);
    CHECK(a[i].name == b[i].name);
    const AnyTensor x = a[i].tensor.cpu(), y = b[i].tensor.cpu();
    CHECK(std::memcmp(x.impl()->data, y.impl()->data, std::size_t(x.numel() * tern::detail::size_of(x.dtype()))) == 0);
  }
}

}  // namespace tern_test
