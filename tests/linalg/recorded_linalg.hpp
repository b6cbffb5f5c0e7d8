// Results and gradients of linear algebra against those of torch.linalg (tests/recorded/linalg.json).
#pragma once
#include "support/recorded.hpp"
#include "tern/functional/gradcheck.hpp"

namespace tern_test {

/// Fails unless each element is within `tolerance` times the largest of those expected.
inline void check_near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
  double largest = 0;
  for (double x : expected) largest = std::max(largest, std::fabs(x));
  check_close(actual, expected, 0, tolerance * (largest > 0 ? largest : 1));
}

/// The weights of the incoming gradient.
template <class T>
Tensor<Cpu, T> incoming(const tern::detail::Shape& shape) {
  std::vector<double> values;
  for (Index i = 0; i < shape.numel(); ++i)
    values.push_back(std::round(1000 * std::sin(1.7 * double(i * i) + 3.1 * double(i) + 4.5)) / 1000);
  return tensor_of<Cpu, T>(values, shape);
}

template <class T>
using Results = std::vector<Tensor<Cpu, T>>;

/// Holds f(inputs) and its gradients against the recorded cases of an op, for inputs in row-major order or in another.
template <class T, class F>
void check_recorded(const std::string& op, const F& f, bool row_major, double tolerance) {
  static const Json all = recorded_cases("linalg");
  const std::string name = op.substr(0, op.find(','));
  int count = 0;
  for (const Json& recorded : all) {
    const std::string input_name = recorded["name"];
    if (recorded["op"] != op) continue;
    if (std::is_same_v<T, float> && (input_name == "badly conditioned" || input_name == "of different scales"))
      continue;
    INFO(op << ", " << input_name << (row_major ? "" : ", not row-major"));
    ++count;
    Results<T> inputs;
    for (const Json& j : recorded["inputs"]) {
      const auto x = tensor_of<Cpu, T>(numbers_of(j), shape_of(j));
      const bool turn = !row_major && x.dim() > 1;
      inputs.push_back((turn ? x.mT().contiguous().mT() : x).detach().requires_grad_());
    }
    if (recorded.contains("refused")) {
      CHECK(error_of([&] { f(inputs); }).find(name + ": ") == 0);
      continue;
    }
    const Results<T> outputs = f(inputs);
    REQUIRE(outputs.size() == recorded["outputs"].size());
    Tensor<Cpu, T> loss = zeros<Cpu, T>({});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      INFO("output " << i);
      const Json& expected = recorded["outputs"][i];
      REQUIRE(outputs[i].shape() == shape_of(expected));
      check_near(values_of(outputs[i]), numbers_of(expected), tolerance);
      loss = loss + sum(outputs[i] * incoming<T>(outputs[i].shape()));
    }
    if (recorded.contains("gradient_refused")) {
      CHECK(error_of([&] { loss.backward(); }).find(name + ": ") == 0);
      continue;
    }
    loss.backward();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      INFO("gradient " << i);
      check_near(values_of(inputs[i].grad()), numbers_of(recorded["gradients"][i]), tolerance);
    }
  }
  REQUIRE(count > 0);
}

/// The same in double and float, in both orders. f is a generic function of a list of inputs.
template <class F>
void check_recorded(const std::string& op, const F& f) {
  for (const bool row_major : {true, false}) {
    check_recorded<double>(op, f, row_major, 1e-9);
    check_recorded<float>(op, f, row_major, 2e-4);
  }
}

/// gradcheck and gradgradcheck of f at a matrix or batch of this shape.
template <class F>
void check_gradients(const F& f, const tern::detail::Shape& shape) {
  const auto x = spread_tensor<Cpu>(shape).requires_grad_();
  CHECK(gradcheck(f, std::tuple{x}));
  CHECK(gradgradcheck(f, std::tuple{x}));
}

/// 1, 2, …: weights that tell the columns of a factor apart.
template <class T>
Tensor<Cpu, T> steps(Index n) {
  return to_type(arange<Cpu>(Index(1), n + 1), tern::detail::Type<T>{});
}

}  // namespace tern_test
