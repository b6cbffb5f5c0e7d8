#include "support/sixteen_bits.hpp"
#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/statistics.hpp"

namespace ops_statistics {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("var, std and logsumexp as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const char* name : {"var of one value", "var of nothing"}) {
    const RecordedCase c(name);
    c.check(var(c.input<D>(0).detach()));
  }
  const RecordedCase equal("var of equal values"), equal_std("std of equal values"), biased("var, correction 0"),
      nothing("std of nothing"), lse("logsumexp of nothing"), row("logsumexp over an empty dimension"),
      empty_row("var over an empty dimension"), infinite("logsumexp with infinities");
  const auto a = equal.input<D>(0), b = equal_std.input<D>(0), c = biased.input<D>(0), d = infinite.input<D>(0);
  equal.check(var(a), a);
  equal_std.check(tern::std(b, {}, 1, false), b);
  biased.check(var(c, {}, 0), c);
  nothing.check(tern::std(nothing.input<D>(0), {}, 1, false));
  lse.check(logsumexp(lse.input<D>(0), {0}));
  row.check(logsumexp(row.input<D>(0), {1}));
  empty_row.check(var(empty_row.input<D>(0), {1}));
  infinite.check(logsumexp(d, {1}), d);
}

TEMPLATE_TEST_CASE("gradients of var, std and logsumexp", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const detail::Dims& dims : {detail::Dims{}, detail::Dims{1}, detail::Dims{0, -1}})
    for (const auto& layout : layouts(spread_tensor<TestType>({2, 3, 4}))) {
      auto x = layout.detach().requires_grad_();
      const auto variance = [&](const auto& v) { return var(v * v, dims, 0.5); };
      const auto deviation = [&](const auto& v) { return tern::std(v * v, dims, 1, true); };
      const auto lse = [&](const auto& v) { return logsumexp(v * v, dims); };
      CHECK(gradcheck(variance, std::tuple{x}));
      CHECK(gradcheck(deviation, std::tuple{x}));
      CHECK(gradcheck(lse, std::tuple{x}));
      CHECK(gradgradcheck(variance, std::tuple{x}));
      CHECK(gradgradcheck(deviation, std::tuple{x}));
      CHECK(gradgradcheck(lse, std::tuple{x}));
    }
}

TEMPLATE_TEST_CASE("a small variance far from zero is not lost", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType, float>({10001, 10002, 10003});
  CHECK(var(x).item() == 1);
  CHECK(float(var(tensor_of<TestType, bfloat16>({256, 258, 260})).item()) == 4);
  CHECK(float(tern::std(full<TestType, half>({2}, 0) + tensor_of<TestType, half>({-600, 600}), {}, 0, false).item()) ==
        600);
}

TEMPLATE_TEST_CASE("logsumexp of large numbers does not overflow", "[ops]", TERN_TEST_DEVICES) {
  CHECK(float(logsumexp(full<TestType, float>({2}, 1e4), {0}).item()) == Approx(1e4 + std::log(2.)));
}

TEMPLATE_TEST_CASE("var, std and logsumexp refuse dimensions that are not there", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2});
  CHECK(error_of([&] { var(x, {1}); }) == "var: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { tern::std(x, {1}, 1, false); }) == "std: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { logsumexp(x, {-2}); }) == "logsumexp: dimension -2 is out of range [-1, 0]");
}

TEMPLATE_TEST_CASE("the gradient of logsumexp in 16 bits is rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({4, 50}, 0, 60);
  check_rounded_once_in_16_bits([](const auto& v) { return logsumexp(v, 1); }, x);
}

TEMPLATE_TEST_CASE("a bool alone says unbiased, and no dimension", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor<TestType>({1., 2., 3., 6.}, f64).reshape({2, 2});
  CHECK(x.var(false).item() == 3.5);
  CHECK(var(x, true).item() == 14. / 3);
  CHECK(x.std(false).item() == std::sqrt(3.5));
  CHECK(tern::std(x, true).item() == std::sqrt(14. / 3));
  CHECK(var_mean(x, false).first.item() == 3.5);
  CHECK(std_mean(x, false).first.item() == std::sqrt(3.5));
}

}  // namespace ops_statistics
