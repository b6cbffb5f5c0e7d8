#include "recorded_optimiser.hpp"

#include <tern/optim/muon.hpp>

namespace optim_muon {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = double>
struct Matrix : nn::Module<D, T> {
  nn::Parameter<D, T> weight;
  explicit Matrix(const tern::detail::Shape& shape) {
    std::vector<double> start;
    for (Index i = 0; i < shape.numel(); ++i) start.push_back(1 - 0.3 * double(i));
    weight = tensor_of<D, T>(start, shape);
  }
  TERN_FIELDS(Matrix, weight)
};

optim::MuonOptions options_of(const Json& o) {
  check_known(o, {"lr", "nesterov", "weight_decay", "momentum", "ns_steps", "eps", "adjust_lr_fn", "ns_coefficients"});
  optim::MuonOptions options;
  options.lr = o.value("lr", options.lr);
  options.nesterov = o.value("nesterov", options.nesterov);
  options.weight_decay = o.value("weight_decay", options.weight_decay);
  options.momentum = o.value("momentum", options.momentum);
  options.ns_steps = o.value("ns_steps", options.ns_steps);
  options.eps = o.value("eps", options.eps);
  for (std::size_t i = 0; o.contains("ns_coefficients") && i < 3; ++i)
    options.ns_coefficients[i] = o["ns_coefficients"][i];
  const std::string adjust = o.value("adjust_lr_fn", "original");
  if (adjust == "original") options.adjust_lr_fn = "original";
  if (adjust == "match_rms_adamw") options.adjust_lr_fn = "match_rms_adamw";
  if (adjust == "spectral_unclamped") options.adjust_lr_fn = "spectral_unclamped";
  return options;
}

}  // namespace

TEMPLATE_TEST_CASE("Muon takes PyTorch's steps", "", TERN_TEST_DEVICES) {
  using D = TestType;
  int seen = 0;
  for (const Json& recorded : recorded_cases("muon")) {
    ++seen;
    INFO(recorded["shape"].dump() << ' ' << recorded["options"].dump());
    const Matrix<D> net(shape_of(recorded));
    optim::Muon muon(net.parameters(), options_of(recorded["options"]));
    for (int step = 1; step <= 100; ++step) {
      set_recorded_gradient(net.weight, step);
      muon.step();
      const auto after = recorded["after"].find(std::to_string(step));
      if (after == recorded["after"].end()) continue;
      INFO("after step " << step);
      check_close(values_of(net.weight), after->template get<std::vector<double>>(), 1e-6, 0);
    }
  }
  CHECK(seen == 7);
}

TEMPLATE_TEST_CASE("Muon's state continues bit for bit, also for 16-bit parameters", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using T = typename decltype(type)::type;
    const Matrix<D, T> straight({3, 2}), before({3, 2});
    optim::Muon whole(straight.parameters(), {.lr = 0.02}), first(before.parameters(), {.lr = 0.02});
    const auto run = [](const Matrix<D, T>& net, optim::Muon& muon, int from, int to) {
      for (int step = from; step <= to; ++step) {
        set_recorded_gradient(net.weight, step);
        muon.step();
      }
    };
    run(straight, whole, 1, 9);
    run(before, first, 1, 4);
    const Matrix<D, T> after = before.clone();
    optim::Muon second(after.parameters());
    second.load_state_dict(first.state_dict());
    second.param_groups()[0].weight_decay = whole.param_groups()[0].weight_decay;
    run(after, second, 5, 9);
    CHECK(values_of(after.weight) == values_of(straight.weight));
    const Matrix<D> exact({3, 2});
    optim::Muon reference(exact.parameters(), {.lr = 0.02});
    for (int step = 1; step <= 9; ++step) {
      set_recorded_gradient(exact.weight, step);
      reference.step();
    }
    check_close(values_of(straight.weight), values_of(exact.weight), 0, std::is_same_v<T, double> ? 0 : 2e-2);
  };
  check(f64);
  check(bf16);
}

TEMPLATE_TEST_CASE("Muon steps a transposed matrix as it does a plain one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Matrix<D> plain({3, 2});
  Matrix<D> turned({3, 2});
  turned.weight = turned.weight.detach().t().contiguous().t();
  REQUIRE_FALSE(turned.weight.is_contiguous());
  optim::Muon first(plain.parameters(), {.lr = 0.02}), second(turned.parameters(), {.lr = 0.02});
  for (int step = 1; step <= 3; ++step) {
    set_recorded_gradient(plain.weight, step);
    set_recorded_gradient(turned.weight, step);
    first.step();
    second.step();
  }
  check_close(values_of(turned.weight), values_of(plain.weight));
}

TEMPLATE_TEST_CASE("Muon refuses what PyTorch refuses", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Matrix<D> net({2, 3});
  const auto error = [&](optim::MuonOptions o) { return error_of([&] { optim::Muon(net.parameters(), o); }); };
  CHECK(error({}).empty());
  CHECK_THAT(error({.lr = -1}), ContainsSubstring("Muon: lr must not be negative: -1"));
  CHECK_THAT(error({.momentum = -1}), ContainsSubstring("Muon: momentum must not be negative: -1"));
  CHECK_THAT(error({.ns_steps = 100}), ContainsSubstring("Muon: ns_steps must be in [0, 100), not 100"));
  CHECK_THAT(error_of([] { optim::Muon(Weights<D>({1, 2}).parameters()); }),
             ContainsSubstring("Muon: only matrices can be stepped; parameter weight has shape [2]"));
}

}  // namespace optim_muon
