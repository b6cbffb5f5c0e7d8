// Matrices by their diagonals, element by element.
#include "tern/ops/triangle.hpp"
#include "support/tensors.hpp"

namespace ops_triangle {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("tril and triu keep their side of a diagonal", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const detail::Shape& shape : {detail::Shape{3, 5}, detail::Shape{5, 3}, detail::Shape{2, 4, 4}, detail::Shape{0, 3}}) {
    const auto x = spread_tensor<D>(shape, 1, 2);
    const Index rows = shape[shape.n - 2], columns = shape[shape.n - 1];
    for (Index diagonal = -4; diagonal <= 5; ++diagonal) {
      std::vector<double> lower = values_of(x), upper = lower;
      for (Index k = 0; k < x.numel(); ++k) {
        const Index i = k / columns % rows, j = k % columns;
        if (j > i + diagonal) lower[std::size_t(k)] = 0;
        if (j < i + diagonal) upper[std::size_t(k)] = 0;
      }
      for (const auto& layout : layouts(x)) {
        CHECK(values_of(tril(layout, diagonal)) == lower);
        CHECK(values_of(triu(layout, diagonal)) == upper);
      }
    }
  }
  CHECK(values_of(tril(ones<D, bool>({2, 2}))) == std::vector<double>{1, 0, 1, 1});
}

TEMPLATE_TEST_CASE("what lies outside a triangle is zero, NaN or not", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = full<D, float>({2, 2}, std::numeric_limits<double>::quiet_NaN());
  CHECK(tril(x)[0][1].item() == 0);
}

TEMPLATE_TEST_CASE("diag goes from vectors to matrices and back", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3});
  for (Index diagonal : {-2, 0, 1}) CHECK(values_of(diag(diag(x, diagonal), diagonal)) == values_of(x));
  CHECK(values_of(diag(tensor_of<D>({1, 2}), 1)) == std::vector<double>{0, 1, 0, 0, 0, 2, 0, 0, 0});
}

}  // namespace ops_triangle
