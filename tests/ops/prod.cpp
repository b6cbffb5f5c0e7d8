#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/prod.hpp"

namespace ops_prod {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("products with zeros, of nothing and of integers as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const char* name : {"prod with one zero", "prod with two zeros"}) {
    const RecordedCase c(name);
    const auto x = c.input<D>(0);
    c.check(prod(x), x);
  }
  const RecordedCase rows("prod of rows with zeros"), nothing("prod of nothing"), row("prod over an empty dimension"),
      integers("prod of int32 is int64");
  const auto x = rows.input<D>(0);
  rows.check(prod(x, {1}), x);
  nothing.check(prod(nothing.input<D>(0)));
  row.check(prod(row.input<D>(0), {1}));
  integers.check(integers.input<D, std::int32_t>(0).prod());
}

TEMPLATE_TEST_CASE("gradients of products, at zeros too", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (Index n = 1; n < 6; ++n)
    for (const detail::Dims& dims : {detail::Dims{}, detail::Dims{1}, detail::Dims{0, -1}}) {
      std::vector<double> values;
      for (Index i = 0; i < 6 * n; ++i) values.push_back(double(i * 5 % 7 - 3) / 2);
      auto x = from_vector<TestType>(values, {2, n, 3});
      x.requires_grad_();
      const auto f = [&](const auto& v) { return prod(v, dims); };
      CHECK(gradcheck(f, std::tuple{x}));
      CHECK(gradgradcheck(f, std::tuple{x}));
    }
}

TEMPLATE_TEST_CASE("prod refuses a dimension that is not there", "[ops]", TERN_TEST_DEVICES) {
  CHECK(error_of([&] { prod(zeros<TestType>({2}), {1}); }) == "prod: dimension 1 is out of range [-1, 0]");
}

}  // namespace ops_prod
