#include "support/tensors.hpp"

#include <tern/nn/linear.hpp>
#include <tern/nn/parameter_vector.hpp>
#include <tern/nn/sequential.hpp>

namespace nn_parameter_vector {
using namespace tern_test;

TEMPLATE_TEST_CASE("the parameters as a vector, and back", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Sequential net(nn::Linear<D, double>(3, 2), nn::Linear<D, double>(2, 1));
  std::vector<double> expected;
  for (const auto& p : net.parameters())
    for (const double v : values_of(p.tensor.template as<D, double>())) expected.push_back(v);
  REQUIRE(expected.size() == 11);
  const auto vector = nn::parameters_to_vector(net.parameters());
  CHECK(values_of(vector) == expected);

  (vector * vector).sum().backward();
  CHECK(values_of(std::get<0>(net.layers).weight.grad())[1] == 2 * expected[1]);

  const auto other = spread_tensor<D>({11}, -1, 1);
  nn::vector_to_parameters(other, net.parameters());
  CHECK(values_of(nn::parameters_to_vector(net.parameters())) == values_of(other));
  CHECK(std::get<1>(net.layers).bias.item() == Approx(values_of(other)[10]));
  other.fill_(7);  // the parameters have memory of their own
  CHECK(values_of(nn::parameters_to_vector(net.parameters()))[0] != 7);
}

TEMPLATE_TEST_CASE("plain tensors as a vector, and back", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = tensor_of<D>({1, 2, 3, 4}, {2, 2}).requires_grad_(), b = tensor_of<D>({5}).requires_grad_();
  CHECK(values_of(nn::parameters_to_vector(std::vector{a.t(), b})) == std::vector<double>{1, 3, 2, 4, 5});
  CHECK(values_of(nn::parameters_to_vector({b, a})) == std::vector<double>{5, 1, 2, 3, 4});
  const nn::Parameter<D, double> p(tensor_of<D>({7, 8}));
  CHECK(values_of(nn::parameters_to_vector(std::vector{p, p})) == std::vector<double>{7, 8, 7, 8});
  nn::vector_to_parameters(tensor_of<D>({6, 7, 8, 9, 10}), std::vector{a, b});
  CHECK(values_of(a) == std::vector<double>{6, 7, 8, 9});
  CHECK(b.item() == 10);
  CHECK(error_of([&] { nn::vector_to_parameters(tensor_of<D>({1, 2}), std::vector{a, b}); }) ==
        "vector_to_parameters: a vector of 5 elements is needed, not [2]");
  CHECK(error_of([&] { nn::vector_to_parameters(tensor_of<D>({1, 2, 3, 4, 5}, {5, 1}), std::vector{a, b}); }) ==
        "vector_to_parameters: a vector of 5 elements is needed, not [5, 1]");
}

}  // namespace nn_parameter_vector
