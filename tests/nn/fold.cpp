#include "support/tensors.hpp"

#include <tern/nn/fold.hpp>

namespace nn_fold {
using namespace tern_test;

TEMPLATE_TEST_CASE("Unfold and Fold are the functions of their names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 5, 4});
  const UnfoldOptions options{.padding = 1, .stride = 2};
  nn::Unfold<D> windows({3, 2}, options);
  nn::Fold<D> image({5, 4}, {3, 2}, options);
  const auto columns = windows.to(f64)(x);
  CHECK(values_of(columns) == values_of(unfold(x, {3, 2}, options)));
  CHECK(values_of(image.to(f64)(columns)) == values_of(fold(columns, {5, 4}, {3, 2}, options)));
}

}  // namespace nn_fold
