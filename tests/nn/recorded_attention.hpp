// Layers with attention held against PyTorch's (tests/recorded/attention.json, transformer_layers.json).
#pragma once
#include "support/recorded.hpp"

#include <tern/autograd/backward.hpp>
#include <tern/nn/module.hpp>

namespace tern_test {

/// Fills the module as the recording did and compares the output of forward(inputs) and all gradients.
template <class Net, class F>
void check_recorded_attention(const std::string& name, const Net& net, const F& forward,
                              const char* file = "attention") {
  using D = typename Net::device_type;
  INFO(name);
  int k = 0;
  for (const NamedTensor& entry : net.state_dict()) {
    std::vector<double> values;
    for (Index i = 0; i < entry.tensor.numel(); ++i) values.push_back(0.4 * std::sin(1.3 * double(i) + k));
    ++k;
    const NoGradGuard off;
    entry.tensor.template as<D, double>().copy_(tensor_of<D>(values, entry.tensor.shape()));
  }
  for (const Json& recorded : recorded_cases(file)) {
    if (recorded["name"] != name) continue;
    std::vector<Tensor<D, double>> inputs, wanted;
    for (const Json& input : recorded["inputs"]) {
      inputs.push_back(tensor_of<D>(numbers_of(input), shape_of(input)));
      inputs.back().requires_grad_();
    }
    wanted = inputs;
    for (const auto& parameter : net.parameters()) wanted.push_back(parameter.tensor.template as<D, double>());
    const Tensor<D, double> output = forward(inputs);
    check_close(values_of(output), numbers_of(recorded["output"]), 1e-9, 1e-10);
    std::vector<double> incoming;
    for (Index i = 0; i < output.numel(); ++i) incoming.push_back(std::sin(double(i)));
    const auto gradients = grad<D, double>({output}, wanted, {tensor_of<D>(incoming, output.shape())});
    for (std::size_t i = 0; i < inputs.size(); ++i)
      check_close(values_of(gradients[i]), numbers_of(recorded["gradients"][i]), 1e-8, 1e-9);
    std::vector<double> norms;
    for (std::size_t i = inputs.size(); i < wanted.size(); ++i) {
      double squares = 0;
      for (const double g : values_of(gradients[i])) squares += g * g;
      norms.push_back(std::sqrt(squares));
    }
    check_close(norms, recorded["parameter_gradient_norms"].get<std::vector<double>>(), 1e-8, 1e-9);
    return;
  }
  FAIL("no such recorded case");
}

}  // namespace tern_test
