// Parameters as members: what may take their place.
#include "support/tensors.hpp"

#include <tern/nn/linear.hpp>
#include <tern/optim/sgd.hpp>

namespace nn_parameter {
using namespace tern_test;

TEMPLATE_TEST_CASE("a tensor replaces a parameter unless others hold it", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D> layer(2, 2), tied(2, 2);
  layer.bias = zeros<D>({2});
  CHECK(layer.bias.requires_grad());
  tied.weight = layer.weight;
  CHECK(tied.weight.impl() == layer.weight.impl());
  const optim::SGD sgd(layer.parameters(), 0.1);
  const auto before = values_of(layer.weight);
  CHECK_THAT(error_of([&] {
               const NoGradGuard off;
               layer.weight = layer.weight * 0.5;
             }),
             Catch::Matchers::ContainsSubstring("nn::Parameter: a tensor replaces a parameter that others hold"));
  CHECK(values_of(layer.weight) == before);
  layer.weight = nn::Parameter<D>(zeros<D>({2, 2}));
  CHECK(layer.weight.impl() != tied.weight.impl());
  layer.bias = {};
  CHECK_FALSE(layer.bias.defined());
}

}  // namespace nn_parameter
