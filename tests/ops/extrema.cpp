#include "support/recorded.hpp"

#include "tern/ops/extrema.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_extrema {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("amax and amin: ties and NaN as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const char* name : {"amax: ties", "amax: nan"}) {
    const RecordedCase c(name);
    const auto x = c.input<D>(0);
    c.check(amax(x, {1}), x);
  }
  for (const char* name : {"amin: ties", "amin: nan"}) {
    const RecordedCase c(name);
    const auto x = c.input<D>(0);
    c.check(amin(x, {1}), x);
  }
  const RecordedCase largest("amax of all: ties"), smallest("amin of all: ties");
  const auto x = largest.input<D>(0), y = smallest.input<D>(0);
  largest.check(amax(x), x);
  smallest.check(amin(y), y);
}

TEMPLATE_TEST_CASE("argmax and argmin: ties and NaN as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const RecordedCase max_ties("argmax: ties"), min_ties("argmin: ties"), max_nan("argmax: nan"), min_nan("argmin: nan"),
      max_all("argmax of all"), min_all("argmin of all");
  max_ties.check(argmax(max_ties.input<D>(0), 1));
  min_ties.check(argmin(min_ties.input<D>(0), 1));
  max_nan.check(argmax(max_nan.input<D>(0)));
  min_nan.check(argmin(min_nan.input<D>(0)));
  max_all.check(argmax(max_all.input<D>(0)));
  min_all.check(argmin(min_all.input<D>(0)));
}

TEMPLATE_TEST_CASE("positions in a transposed tensor count in its own order", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({0, 1, 9, 3, 4, 5}, {2, 3});
  CHECK(argmax(x).item() == 2);
  CHECK(argmax(x.t()).item() == 4);
  CHECK(argmin(x.t(), 0, true).shape() == detail::Shape{1, 2});
  CHECK(argmax(full<TestType>({}, 3)).item() == 0);
  CHECK(argmax(full<TestType>({}, 3), -1).item() == 0);
}

TEMPLATE_TEST_CASE("gradients of amax and amin", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const detail::Dims& dims : {detail::Dims{}, detail::Dims{1}, detail::Dims{0, -1}})
    for (const auto& layout : layouts(spread_tensor<TestType>({2, 3, 4}))) {
      auto x = layout.detach().requires_grad_();
      const auto largest = [&](const auto& v) { return amax(v * v, dims); };
      const auto smallest = [&](const auto& v) { return amin(v * v, dims, true); };
      CHECK(gradcheck(largest, std::tuple{x}));
      CHECK(gradcheck(smallest, std::tuple{x}));
      CHECK(gradgradcheck(largest, std::tuple{x}));
      CHECK(gradgradcheck(smallest, std::tuple{x}));
    }
}

TEMPLATE_TEST_CASE("max and min of all: ties and NaN share the gradient", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const std::vector<double>& values, const auto& f, double expected,
                        const std::vector<double>& g) {
    for (const auto& layout : layouts(tensor_of<D>(values, {1, Index(values.size())}))) {
      auto x = layout.detach().requires_grad_();
      const auto y = f(x);
      check_close(values_of(y), {expected});
      CHECK(y.shape() == detail::Shape{});
      y.backward();
      CHECK(values_of(x.grad()) == g);
    }
  };
  const auto largest = [](const auto& x) { return max(x); };
  const auto smallest = [](const auto& x) { return x.min(); };
  check({3, 1, 3, 1, 2}, largest, 3, {0.5, 0, 0.5, 0, 0});  // PyTorch's gradients
  check({3, 1, 3, 1, 2}, smallest, 1, {0, 0.5, 0, 0.5, 0});
  check({3, NAN, 3, NAN}, largest, NAN, {0, 0.5, 0, 0.5});
  check({3, NAN, 3, NAN}, smallest, NAN, {0, 0.5, 0, 0.5});
  CHECK(max(tensor_of<D, Index>({4, 9, 2})).item() == 9);
  CHECK(tensor_of<D, bool>({0, 1}).min().item() == false);
  auto many = ones<D, bfloat16>({1000}).requires_grad_();  // 1000 is no bfloat16
  max(many).backward();
  CHECK(values_of(many.grad())[0] == double(float(bfloat16(0.001f))));
}

TEMPLATE_TEST_CASE("max and min along a dimension: values, positions, gradients", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4, 5});
  for (int dim = 0; dim < 3; ++dim)
    for (const auto& layout : layouts(x)) {
      const auto [values, indices] = max(layout, dim - 3);
      CHECK(values_of(values) == values_of(amax(x, dim)));
      CHECK(values_of(indices) == values_of(argmax(x, dim)));
      CHECK(values.shape() == amax(x, dim).shape());
      const auto kept = layout.min(dim, true);
      CHECK(values_of(kept.values) == values_of(amin(x, dim)));
      CHECK(values_of(kept.indices) == values_of(argmin(x, dim)));
      CHECK(kept.values.shape() == amin(x, dim, true).shape());
      CHECK(kept.indices.shape() == kept.values.shape());
    }
  auto ties = tensor_of<D>({3, NAN, 1, NAN, 4, 4, 2, 4}, {2, 4}).requires_grad_();
  CHECK(values_of(max(ties, 1).indices) == std::vector<double>{1, 0});
  max(ties, 1).values.sum().backward();
  CHECK(values_of(ties.grad()) == std::vector<double>{0, 1, 0, 0, 1, 0, 0, 0});
  CHECK(max(full<D>({}, 5), 0).values.shape() == detail::Shape{});
  CHECK(max(zeros<D>({2, 0}), 0).values.shape() == detail::Shape{0});
  auto leaf = spread_tensor<D>({3, 4}).requires_grad_();
  for (const auto& f : {+[](const Tensor<D, double>& v) { return max(v * v, 1).values; },
                        +[](const Tensor<D, double>& v) { return min(v * v, 0, true).values; },
                        +[](const Tensor<D, double>& v) { return max(v * v); }}) {
    CHECK(gradcheck(f, std::tuple{leaf}));
    CHECK(gradgradcheck(f, std::tuple{leaf}));
  }
}

TEMPLATE_TEST_CASE("max and min of two tensors are maximum and minimum", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto a = tensor_of<D>({1, 5, 3}).requires_grad_();
  const auto b = tensor_of<D>({2, 4, 3});
  CHECK(values_of(max(a, b)) == std::vector<double>{2, 5, 3});
  CHECK(values_of(a.min(b)) == std::vector<double>{1, 4, 3});
  a.max(b).sum().backward();
  CHECK(values_of(a.grad()) == std::vector<double>{0, 1, 0.5});
}

TEMPLATE_TEST_CASE("extremes of nothing are refused", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2, 0});
  CHECK(error_of([&] { amax(x, {1}); }) == "amax: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { amin(x); }) == "amin: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { argmax(x, 1); }) == "argmax: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { argmin(x); }) == "argmin: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { max(x); }) == "max: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { min(x, 1); }) == "min: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { max(x, 2); }) == "max: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { min(ones<TestType>({2}), ones<TestType>({3})); }) ==
        "min: shapes do not broadcast: [2] and [3]");
  CHECK(amax(x, {0}).shape() == detail::Shape{0});
  CHECK(error_of([&] { argmax(x, 2); }) == "argmax: dimension 2 is out of range [-2, 1]");
}

TEMPLATE_TEST_CASE("argmax and argmin of all elements keep the dimensions on request", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor<TestType>({1., 5., -2., 3.}).reshape({2, 2});
  CHECK((x.argmax({}, true).shape() == tern::detail::Shape{1, 1} && x.argmax({}, true).item() == 1));
  CHECK((x.argmin({}).dim() == 0 && argmin(x).item() == 2));
  CHECK(values_of(x.argmax(1)) == std::vector<double>{1, 1});
  CHECK(error_of([&] {
          x.argmax({0, 1});
        }).starts_with("argmax: one dimension is needed, or none for all elements, not [0, 1]"));
  CHECK(error_of([&] { zeros<TestType>({0, 4}).argmax(); }).starts_with("argmax: dimension 0 of [0, 4] is empty"));
}

}  // namespace ops_extrema
