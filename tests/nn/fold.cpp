#include "same_layer.hpp"
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

TEMPLATE_TEST_CASE("Unfold and Fold take PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({1, 2, 7, 8}), columns = spread_tensor<D, float>({1, 4, 9});
  check_same_layer([] { return nn::Unfold<D>(2, 3, 1, 2); },
                   [] { return nn::Unfold<D>(2, {.dilation = 3, .padding = 1, .stride = 2}); }, x);
  check_same_layer([] { return nn::Unfold<D>(2, {2, 2}); }, [] { return nn::Unfold<D>(2, {.dilation = 2}); }, x);
  check_same_layer([] { return nn::Unfold<D>({2, 3}); },
                   [] { return nn::Unfold<D>(tern::detail::Shape{2, 3}, UnfoldOptions()); }, x);
  check_same_layer([] { return nn::Fold<D>({6, 6}, 2, 1, 0, 2); }, [] { return nn::Fold<D>({6, 6}, 2, {.stride = 2}); },
                   columns);
  check_same_layer([] { return nn::Fold<D>({5, 5}, 2, {2, 2}); },
                   [] { return nn::Fold<D>({5, 5}, 2, {.dilation = 2}); }, columns);
}

}  // namespace nn_fold
