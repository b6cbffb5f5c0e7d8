// Matrices by their diagonals, element by element.
#include "tern/ops/triangle.hpp"
#include "support/tensors.hpp"

namespace ops_triangle {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("tril and triu keep their side of a diagonal", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const detail::Shape& shape :
       {detail::Shape{3, 5}, detail::Shape{5, 3}, detail::Shape{2, 4, 4}, detail::Shape{0, 3}}) {
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

TEMPLATE_TEST_CASE("positions of triangles", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(values_of(tril_indices<D>(3, 3)) == std::vector<double>{0, 1, 1, 2, 2, 2, 0, 0, 1, 0, 1, 2});
  CHECK(values_of(triu_indices<D>(2, 3, 1)) == std::vector<double>{0, 0, 1, 1, 2, 2});
  CHECK(tril_indices<D>(2, 0).shape() == detail::Shape{2, 0});
  CHECK(values_of(ones<D>({2, 2}).triu().index({triu_indices<D>(2, 2)[0], triu_indices<D>(2, 2)[1]})) ==
        std::vector<double>{1, 1, 1});
}

TEMPLATE_TEST_CASE("diag_embed puts rows on diagonals", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& x : layouts(tensor_of<D>({1, 2, 3, 4}, {2, 2}))) {
    CHECK(values_of(x.diag_embed()) == std::vector<double>{1, 0, 0, 2, 3, 0, 0, 4});
    CHECK(values_of(diag_embed(x[0], -1)) == std::vector<double>{0, 0, 0, 1, 0, 0, 0, 2, 0});
    for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {-1, 0}, {1, -1}})
      CHECK(values_of(diagonal(diag_embed(x, 1, a, b), 1, a, b)) == values_of(x));
  }
  const auto x = spread_tensor<D>({2, 3}).requires_grad_();
  CHECK(gradgradcheck([](const auto& v) { return diag_embed(v * v * v, 1, 0, 2); }, std::tuple{x}));
  CHECK(error_of([&] { diag_embed(full<D>({}, 1)); }).find("diag_embed: ") == 0);
  CHECK(error_of([&] { diag_embed(x, 0, 1, -2); }) == "diag_embed: two different dimensions are needed, not 1 and -2");
}

// The positions are those that numpy.fill_diagonal and torch.Tensor.fill_diagonal_ write.
TEMPLATE_TEST_CASE("fill_diagonal_ writes the elements whose positions are equal", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const detail::Shape& shape :
       {detail::Shape{3, 5}, detail::Shape{8, 3}, detail::Shape{4, 3}, detail::Shape{3, 3, 3},
        detail::Shape{2, 2, 2, 2}, detail::Shape{5, 1}, detail::Shape{3, 0}}) {
    for (const bool wrap : {false, true}) {
      std::vector<double> expected = values_of(spread_tensor<D>(shape));
      Index step = 0;
      for (int i = 0; i < shape.n; ++i) step = step * shape[i] + 1;
      Index stop = *std::min_element(shape.begin(), shape.end()) * step;
      if (wrap && shape.n == 2) stop = shape.numel();
      for (Index k = 0; k < std::min(stop, shape.numel()); k += step) expected[std::size_t(k)] = 7;
      for (const auto& x : layouts(spread_tensor<D>(shape))) {
        CHECK(values_of(x.fill_diagonal_(7, wrap)) == expected);
        CHECK(values_of(x) == expected);
      }
    }
  }
  CHECK(values_of(zeros<D, Index>({2, 2}).fill_diagonal_(3)) == std::vector<double>{3, 0, 0, 3});
}

TEMPLATE_TEST_CASE("the elements that fill_diagonal_ overwrites have no gradient", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const bool wrap : {false, true}) {
    const auto x = spread_tensor<D>({4, 2}).requires_grad_();
    const auto y = x * 3;
    y.fill_diagonal_(7, wrap);
    y.sum().backward();
    CHECK(values_of(x.grad()) == std::vector<double>{0, 3, 3, 0, 3, 3, wrap ? 0. : 3., 3});
  }
}

TEMPLATE_TEST_CASE("fill_diagonal_ refuses what has no diagonal", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([] { zeros<D>({3}).fill_diagonal_(1); }) ==
        "fill_diagonal_: at least two dimensions are needed, not [3]");
  CHECK(error_of([] { zeros<D>({2, 2, 3}).fill_diagonal_(1); }) ==
        "fill_diagonal_: more than two dimensions must be of one size, not [2, 2, 3]");
  CHECK(error_of([] { zeros<D, std::uint8_t>({2, 2}).fill_diagonal_(300); }).find("fill_diagonal_: ") == 0);
  CHECK(error_of([] { zeros<D>({2, 2}).requires_grad_().fill_diagonal_(1); }).find("fill_diagonal_: ") == 0);
  CHECK(error_of([] { zeros<D>({1, 3}).expand(3, 3).fill_diagonal_(1); }).find("fill_diagonal_: ") == 0);
  TERN_TEST_LINE(zeros<D>({3}).fill_diagonal_(1));
}

}  // namespace ops_triangle
