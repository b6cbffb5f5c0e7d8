// What PyTorch answered at kinks, ties, NaN and infinities, held against the pointwise ops.
#include "support/tensors.hpp"
#include "tern/ops/activations.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

using namespace tern;
using namespace tern_test;

namespace {

const nlohmann::json& recorded(const std::string& name) {
  static const auto all = [] {
    const std::string here = __FILE__;
    std::ifstream file(here.substr(0, here.rfind("ops/")) + "recorded/conventions.json");
    REQUIRE(file);
    return nlohmann::json::parse(file);
  }();
  for (const auto& one : all["cases"])
    if (one["name"] == name) return one;
  throw std::runtime_error("no recorded case: " + name);
}

std::vector<double> numbers(const nlohmann::json& tensor) {
  std::vector<double> values;
  for (const auto& v : tensor["data"]) {
    if (v.is_string()) values.push_back(v == "nan" ? NAN : v == "inf" ? INFINITY : -INFINITY);
    else values.push_back(v.get<double>());
  }
  return values;
}

template <class D>
using Op = std::function<Tensor<D, double>(const std::vector<Tensor<D, double>>&)>;

/// The op's output, and its gradients for an incoming 1, 2, 3, ...
template <class D>
void check_case(const std::string& name, const Op<D>& op) {
  INFO(name);
  const auto& one = recorded(name);
  std::vector<Tensor<D, double>> inputs;
  for (const auto& input : one["inputs"])
    inputs.push_back(tensor_of<D>(numbers(input), Shape(Index(input["data"].size()))).requires_grad_());
  const auto y = op(inputs);
  // PyTorch computes the gradients of hardsigmoid with 1/6 in float.
  const double tolerance = name.find("hardsigmoid") == 0 ? 1e-7 : 1e-12;
  check_close(values_of(y), numbers(one["output"]), tolerance);
  const auto expected = numbers(one["output"]), actual = values_of(y);
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (expected[i] == 0) CHECK(std::signbit(actual[i]) == std::signbit(expected[i]));
  std::vector<double> incoming;
  for (Index i = 1; i <= y.numel(); ++i) incoming.push_back(double(i));
  y.backward(tensor_of<D>(incoming));
  for (std::size_t k = 0; k < inputs.size(); ++k)
    check_close(values_of(inputs[k].grad()), numbers(one["gradients"][k]), tolerance);
}

}  // namespace

TEMPLATE_TEST_CASE("activations and functions at the edges are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
#define EDGES(name) {#name " at the edges", [](const X& x) { return name(x); }}
  const std::map<std::string, std::function<X(const X&)>> ops{
      EDGES(relu), EDGES(leaky_relu), EDGES(elu), EDGES(selu), EDGES(celu), EDGES(hardtanh), EDGES(hardsigmoid),
      EDGES(hardswish), EDGES(relu6), EDGES(softplus), EDGES(softsign), EDGES(silu), EDGES(mish), EDGES(gelu), EDGES(sigmoid),
      EDGES(logsigmoid), EDGES(tanh), EDGES(abs), EDGES(sign), EDGES(sqrt), EDGES(rsqrt), EDGES(log), EDGES(log1p),
      EDGES(reciprocal), EDGES(square), EDGES(exp), EDGES(floor),
      {"relu6 at its corners", [](const X& x) { return relu6(x); }},
      {"hardtanh at its corners", [](const X& x) { return hardtanh(x); }},
      {"hardsigmoid at its corners", [](const X& x) { return hardsigmoid(x); }},
      {"hardswish at its corners", [](const X& x) { return hardswish(x); }},
      {"softplus beyond its threshold", [](const X& x) { return softplus(x); }},
      {"round half to even", [](const X& x) { return round(x); }},
      {"clamp at its bounds", [](const X& x) { return clamp(x, -1, 1); }},
      {"clamp with min above max", [](const X& x) { return clamp(x, 2, 1); }},
      {"where hides nan", [](const X& x) { return where(x > 0, x, zeros<D, double>({})); }},
      {"where over sqrt", [](const X& x) { return where(x > 0, sqrt(x), x); }}};
#undef EDGES
  for (const auto& [name, op] : ops) check_case<D>(name, [&](const auto& x) { return op(x[0]); });
  for (const auto* text : {"0", "1", "2", "3", "0.5", "-1"})
    check_case<D>(std::string("pow with the number ") + text, [&](const auto& x) { return pow(x[0], std::stod(text)); });
}

TEMPLATE_TEST_CASE("ties, zeros and signs of two arguments are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_case<D>("maximum: ties and nan", [](const auto& x) { return maximum(x[0], x[1]); });
  check_case<D>("minimum: ties and nan", [](const auto& x) { return minimum(x[0], x[1]); });
  check_case<D>("remainder", [](const auto& x) { return remainder(x[0], x[1]); });
  check_case<D>("fmod", [](const auto& x) { return fmod(x[0], x[1]); });
  check_case<D>("pow at 0", [](const auto& x) { return pow(x[0], x[1]); });
  check_case<D>("atan2 at the axes", [](const auto& x) { return atan2(x[0], x[1]); });
}

TEMPLATE_TEST_CASE("integer quotients and remainders are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const char* name, const auto& op) {
    const auto& one = recorded(name);
    const auto input = [&](int k) { return tensor_of<D, Index>(numbers(one["inputs"][k])); };
    check_close(values_of(op(input(0), input(1))), numbers(one["output"]));
  };
  check("integer remainder", [](const auto& a, const auto& b) { return remainder(a, b); });
  check("integer floor_divide", [](const auto& a, const auto& b) { return floor_divide(a, b); });
}
