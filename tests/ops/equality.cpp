// Equality of whole tensors.
#include "tern/ops/equality.hpp"

#include "support/tensors.hpp"

namespace ops_equality {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("equal compares shapes and elements", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({3, 4});
  for (const auto& layout : layouts(x)) CHECK(equal(x, layout));
  CHECK(x.equal(x.clone()));
  CHECK_FALSE(equal(x, x.t()));
  CHECK_FALSE(equal(x, x.view({12})));
  const auto other = x.clone();
  other.narrow(0, 2, 1).narrow(1, 3, 1).fill_(9);
  CHECK_FALSE(equal(x, other));
  CHECK(equal(zeros<D>({0}), ones<D>({0})));
  CHECK_FALSE(equal(full<D>({}, NAN), full<D>({}, NAN)));
  CHECK(equal(tensor_of<D, Index>({1, 2}), tensor_of<D, Index>({1, 2})));
  CHECK_FALSE(equal(tensor_of<D, bool>({1, 0}), tensor_of<D, bool>({1, 1})));
}

TEMPLATE_TEST_CASE("allclose allows for rounding", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3});
  CHECK(allclose(x, x + 1e-6));
  CHECK_FALSE(allclose(x, x + 1e-3));
  CHECK(x.allclose(x + 1e-3, 0, 2e-3));
  CHECK(allclose(x.view({3, 1}).expand({3, 2}), x.view({3, 1})));
  const auto with_nan = full<D>({2}, NAN);
  CHECK_FALSE(allclose(with_nan, with_nan));
  CHECK(allclose(with_nan, with_nan, 1e-5, 1e-8, true));
  const auto whole = tensor_of<D, Index>({100, 200});
  CHECK(allclose(whole, whole));
  CHECK_FALSE(allclose(whole, whole + 1));
  CHECK(allclose(whole, whole + 1, 0.1));
  CHECK(error_of([&] { allclose(x, zeros<D, double>({2})); }) == "allclose: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { allclose(x, x, -1); }) == "allclose: tolerances must not be negative: rtol -1, atol 1e-08");
  CHECK(error_of([&] { equal(x, Tensor<D, double>()); }) == "equal: a tensor is undefined");
}

}  // namespace ops_equality
