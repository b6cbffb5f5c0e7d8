#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/norm.hpp"

namespace ops_norm {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("norms, and their gradients at zero, as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const char* kind : {"norm of zeros", "norm"})
    for (const auto& [p, name] :
         std::vector<std::pair<double, const char*>>{{2, "2.0"}, {1, "1.0"}, {INFINITY, "inf"}, {3, "3.0"}}) {
      const RecordedCase c(std::string(kind) + ", p = " + name);
      const auto x = c.input<D>(0);
      c.check(norm(x, p), x);
    }
  const RecordedCase zero("norm, p = 0.0"), nothing("norm of nothing");
  CHECK(norm(zero.input<D>(0), 0).item() == 3);
  nothing.check(norm(nothing.input<D>(0)));
}

TEMPLATE_TEST_CASE("gradients of norms", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const double p : {1., 2., 3., 2.5, 0.5, double(INFINITY), -double(INFINITY)})
    for (const detail::Dims& dims : {detail::Dims{}, detail::Dims{1}, detail::Dims{0, -1}}) {
      INFO("p = " << p);
      auto x = spread_tensor<TestType>({2, 3, 4}).requires_grad_();
      const auto f = [&](const auto& v) { return norm(v, p, dims); };
      CHECK(gradcheck(f, std::tuple{x}));
      CHECK(gradgradcheck([&](const auto& v) { return norm(v * v + v, p, dims, true); }, std::tuple{x}));
    }
}

TEMPLATE_TEST_CASE("the norm of 16-bit numbers whose squares overflow is right", "[ops]", TERN_TEST_DEVICES) {
  CHECK(float(norm(full<TestType, half>({4}, 1000)).item()) == 2000);
}

TEMPLATE_TEST_CASE("Frobenius' norm has a name", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, -2, 2, 4, -4, 2}, {2, 3});
  CHECK(norm(x, "fro").item() == Approx(std::sqrt(45.)));
  CHECK(values_of(x.norm("fro", 1, true)) == std::vector<double>{3, 6});
  CHECK(error_of([&] { norm(x, "nuc"); }) == "norm: p is a number or \"fro\", not \"nuc\"");
}

TEMPLATE_TEST_CASE("norm refuses", "[ops]", TERN_TEST_DEVICES) {
  CHECK(error_of([&] { norm(zeros<TestType>({2}), 2, {1}); }) == "norm: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { norm(zeros<TestType>({0}), double(INFINITY)); }) == "norm: dimension 0 of [0] is empty");
}

}  // namespace ops_norm
