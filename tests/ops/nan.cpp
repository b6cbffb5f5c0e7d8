// Sums and means without NaN, and NaN replaced, against PyTorch's values.
#include "tern/ops/nan.hpp"
#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_nan {
using namespace tern;
using namespace tern_test;

namespace {
using Values = std::vector<double>;
const double inf = std::numeric_limits<double>::infinity();
}  // namespace

TEMPLATE_TEST_CASE("sums and means leave NaN out", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& x : layouts(tensor_of<D>({NAN, 1, 3, NAN, NAN, NAN, 4, 5, 6}, {3, 3}))) {
    CHECK(values_of(nansum(x)) == Values{19});
    CHECK(values_of(x.nansum(1, true)) == Values{4, 0, 15});
    CHECK(values_of(nanmean(x)) == Values{19. / 5});
    const auto rows = values_of(x.nanmean(1));
    CHECK((rows[0] == 2 && std::isnan(rows[1]) && rows[2] == 5));
  }
  CHECK(nansum(full<D>({}, NAN)).item() == 0);
  CHECK(std::isnan(nanmean(zeros<D>({0})).item()));
  const Tensor<D, Index> counts = nansum(tensor_of<D, std::uint8_t>({200, 100}));
  CHECK(counts.item() == 300);
}

TEMPLATE_TEST_CASE("NaN and infinities are replaced", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& x : layouts(tensor_of<D, float>({NAN, 1, inf, -inf, -2, 0}, {3, 2}))) {
    CHECK(values_of(nan_to_num(x)) == Values{0, 1, 0x1.fffffep127, -0x1.fffffep127, -2, 0});
    CHECK(values_of(x.nan_to_num(7, 8, -9)) == Values{7, 1, 8, -9, -2, 0});
    CHECK(values_of(nan_to_num(x, inf, {}, inf))[0] == inf);
    CHECK(&x.nan_to_num_(3) == &x);
    CHECK(values_of(x)[0] == 3);
  }
  CHECK(values_of(nan_to_num(tensor_of<D, half>({inf, -inf}))) == Values{65504, -65504});
  CHECK(values_of(nan_to_num(tensor_of<D, bfloat16>({inf}))) == Values{0x1.fep127});
  const auto whole = tensor_of<D, Index>({1, 2});
  CHECK(values_of(nan_to_num(whole, 7)) == Values{1, 2});
  CHECK(values_of(nan_to_num_(whole)) == Values{1, 2});
}

TEMPLATE_TEST_CASE("gradients of sums without NaN", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = tensor_of<D>({NAN, 1, inf, 4}, {2, 2}).requires_grad_();
  nansum(x * x, 1).narrow(0, 0, 1).backward();
  CHECK(values_of(x.grad())[1] == 2);
  auto y = tensor_of<D>({NAN, 1, inf, 4}, {2, 2}).requires_grad_();
  (nan_to_num(y).sum() + nanmean(y, 1)[0]).backward();
  CHECK(values_of(y.grad()) == Values{0, 2, 0, 1});
  const auto z = spread_tensor<D>({2, 3}).requires_grad_();
  for (const auto f : {+[](const Tensor<D, double>& a) { return nansum(a * a, 0); },
                       +[](const Tensor<D, double>& a) { return nanmean(a * a, 1); },
                       +[](const Tensor<D, double>& a) { return nan_to_num(a * a); }}) {
    CHECK(gradcheck(f, std::tuple{z}));
    CHECK(gradgradcheck(f, std::tuple{z}));
  }
  check_rounded_once_in_16_bits([](const auto& a) { return nanmean(a, 1); }, spread_tensor<D>({3, 50}, 0, 2));
}

TEMPLATE_TEST_CASE("sums without NaN refuse what the others refuse", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 3});
  CHECK(error_of([&] { nansum(x, 2); }) == "nansum: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { nanmean(x, {0, 0}); }).find("nanmean: ") == 0);
  CHECK(error_of([&] { nan_to_num(x.to(f16), 1e6); }).find("nan_to_num: ") == 0);
  CHECK(error_of([&] { nan_to_num_(ones<D>({3}).requires_grad_()); }).find("nan_to_num_: ") == 0);
}

}  // namespace ops_nan
