// Sums of products: equations against the ops that they stand for, and what is no equation.
#include "tern/ops/einsum.hpp"
#include "support/tensors.hpp"
#include "tern/ops/blas.hpp"

namespace ops_einsum {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("einsum says what other ops do", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  using List = std::vector<Tensor<D, double>>;
  const auto a = spread_tensor<D>({2, 3, 4}), b = spread_tensor<D>({2, 4, 5}, -1, 2), m = spread_tensor<D>({3, 3});
  check_close(values_of(einsum("bij,bjk->bik", List{a, b})), values_of(bmm(a, b)));
  check_close(values_of(einsum("bij,bjk", List{a, b})), values_of(sum(bmm(a, b), 0)));
  check_close(values_of(einsum("...ij->...ji", List{a})), values_of(transpose(a, 1, 2)));
  check_close(values_of(einsum("ii", List{m})), values_of(trace(m)));
  check_close(values_of(einsum("ii->i", List{m})), values_of(diagonal(m)));
  check_close(values_of(einsum("bij,bij->", List{a, a})), values_of(sum(mul(a, a))));
  check_close(values_of(einsum("ij,kl->ijkl", List{m, m})), values_of(tensordot(m, m, 0)));
  check_close(values_of(einsum(" b i j , i k , b j l -> k l b ", List{a, m, b})),
              values_of(permute(bmm(bmm(m.t().expand({2, 3, 3}), a), b), {1, 2, 0})));
  check_close(values_of(einsum("...i,...i->...", List{a, spread_tensor<D>({4})})),
              values_of(sum(mul(a, spread_tensor<D>({4})), 2)));
  CHECK(einsum("ij,jk->ik", List{zeros<D, double>({2, 0}), zeros<D, double>({0, 3})}).shape() == detail::Shape{2, 3});
}

TEMPLATE_TEST_CASE("einsum refuses what is no equation of its tensors", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  using List = std::vector<Tensor<D, double>>;
  const auto a = spread_tensor<D>({2, 3});
  for (const char* equation : {"ij,jk", "i", "ijk", "ij->k", "ij->ii", "ij-i", "i1", "ij->i->j", "....ij", "i.j"})
    CHECK(error_of([&] { einsum(equation, List{a}); }).find("einsum: ") == 0);
  CHECK(error_of([&] { einsum("ij,ij", List{a, a.t()}); }) == "einsum: one subscript names sizes 2 and 3");
  CHECK(error_of([&] { einsum("ii", List{a}); }) == "einsum: a repeated subscript names sizes 2 and 3");
}

TEMPLATE_TEST_CASE("bilinear is a product from both sides", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({4, 2}), y = spread_tensor<D>({4, 3}, 1, 2), w = spread_tensor<D>({5, 2, 3}, -2, 1);
  const auto b = spread_tensor<D>({5});
  const auto expected = add(einsum("ni,oij,nj->no", std::vector{x, w, y}), b);
  check_close(values_of(bilinear(x, y, w, b)), values_of(expected));
}

TEMPLATE_TEST_CASE("einsum takes its tensors in braces, in a vector, or as arguments", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({2, 3}), b = spread_tensor<D>({3, 4}), c = spread_tensor<D>({4});
  const auto expected = values_of(matmul(matmul(a, b), c));
  check_close(values_of(einsum("ij,jk,k->i", {a, b, c})), expected);
  check_close(values_of(einsum("ij,jk,k->i", std::vector{a, b, c})), expected);
  check_close(values_of(einsum("ij,jk,k->i", a, b, c)), expected);
  check_close(values_of(einsum("ij->ji", a)), values_of(a.t()));
  const std::string line = "einsum.cpp:" + std::to_string(__LINE__ + 1);
  const std::string said = whole_error_of([&] { einsum("ij,jk", a); });
  CHECK(said.find(line) != std::string::npos);
}

}  // namespace ops_einsum
