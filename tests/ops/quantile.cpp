// The median and other quantiles against a sorted list; ties, NaN and gradients as PyTorch has them.
#include "tern/ops/quantile.hpp"

#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

#include <algorithm>

namespace ops_quantile {
using namespace tern;
using namespace tern_test;

using Values = std::vector<double>;

namespace {

double naive_quantile(Values x, double q, const std::string& interpolation) {
  std::sort(x.begin(), x.end());
  const double rank = q * double(x.size() - 1), low = std::floor(rank), high = std::ceil(rank);
  const auto at = [&](double r) { return x[std::size_t(r)]; };
  if (interpolation == "lower") return at(low);
  if (interpolation == "higher") return at(high);
  if (interpolation == "nearest") return at(std::nearbyint(rank));
  if (interpolation == "midpoint") return (at(low) + at(high)) / 2;
  return at(low) + (rank - low) * (at(high) - at(low));
}

}  // namespace

TEMPLATE_TEST_CASE("the median along every dimension, in any layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4, 5});
  for (int dim = 0; dim < 3; ++dim) {
    const auto rows = movedim(x, dim, -1).reshape({-1, x.size(dim)});
    Values expected;
    for (Index i = 0; i < rows.size(0); ++i) {
      Values row = values_of(rows[i]);
      std::sort(row.begin(), row.end());
      expected.push_back(row[(row.size() - 1) / 2]);
    }
    for (const auto& layout : layouts(x)) {
      const auto [values, indices] = median(layout, dim - 3);
      CHECK(values.shape() == select(x, dim, 0).shape());
      CHECK(values_of(values) == expected);
      CHECK(values_of(gather(x, dim, indices.unsqueeze(dim))) == expected);
      CHECK(layout.median(dim, true).indices.shape() == narrow(x, dim, 0, 1).shape());
    }
  }
  for (const auto& layout : layouts(x)) {
    Values all = values_of(x);
    std::sort(all.begin(), all.end());
    CHECK(layout.median().item() == all[29]);
  }
  CHECK(median(tensor_of<D, Index>({4, 1, 3, 2})).item() == 2);
  CHECK(median(full<D>({}, 5), 0, true).values.shape() == detail::Shape{});
  CHECK(median(zeros<D>({2, 0}), 0).values.shape() == detail::Shape{0});
}

TEMPLATE_TEST_CASE("a NaN is the median; of several, the first", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D, float>({3, NAN, 1, NAN, 4, 3, 2, 1}, {2, 4});
  check_close(values_of(median(x, 1).values), {NAN, 2});
  CHECK(values_of(median(x, 1).indices) == Values{1, 2});
  check_close(values_of(median(x)), {NAN});
  check_close(values_of(median(zeros<D>({0}))), {NAN});
}

TEMPLATE_TEST_CASE("gradients of the median", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto gradient = [](const Values& values, const auto& f) {
    auto x = tensor_of<D>(values).requires_grad_();
    f(x).backward();
    return values_of(x.grad());
  };
  const auto of_all = [](const auto& x) { return median(x); };
  CHECK(gradient({3, 2, 5, 2, 2}, of_all) == Values{0, 1. / 3, 0, 1. / 3, 1. / 3});
  CHECK(gradient({3, NAN, 3, NAN}, of_all) == Values{0, 0.5, 0, 0.5});
  CHECK(gradient({3, NAN, 3, NAN}, [](const auto& x) { return median(x, 0).values; }) == Values{0, 1, 0, 0});
  for (const auto& layout : layouts(spread_tensor<D>({3, 4}))) {
    auto x = layout.detach().requires_grad_();
    const auto whole = [](const auto& v) { return median(v * v); };
    const auto rows = [](const auto& v) { return median(v * v, 1).values; };
    CHECK(gradcheck(whole, std::tuple{x}));
    CHECK(gradgradcheck(whole, std::tuple{x}));
    CHECK(gradcheck(rows, std::tuple{x}));
    CHECK(gradgradcheck(rows, std::tuple{x}));
  }
}

TEMPLATE_TEST_CASE("quantiles of every interpolation, along every dimension, in any layout", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4, 5});
  const Values q{0, 0.1, 0.375, 0.5, 0.99, 1};
  const auto list = tensor_of<D>(q);
  for (const char* interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    INFO(interpolation);
    for (int dim = 0; dim < 3; ++dim) {
      const auto rows = movedim(x, dim, -1).reshape({-1, x.size(dim)});
      Values expected;
      for (const double at : q)
        for (Index i = 0; i < rows.size(0); ++i)
          expected.push_back(naive_quantile(values_of(rows[i]), at, interpolation));
      detail::Shape kept{6, 3, 4, 5};
      kept[dim + 1] = 1;
      for (const auto& layout : layouts(x)) {
        check_close(values_of(quantile(layout, list, dim, false, interpolation)), expected);
        CHECK(quantile(layout, list, dim - 3, true, interpolation).shape() == kept);
        check_close(values_of(layout.quantile(0.99, dim, true, interpolation)),
                    values_of(quantile(x, list, dim, false, interpolation)[4]));
      }
    }
    Values expected;
    for (const double at : q) expected.push_back(naive_quantile(values_of(x), at, interpolation));
    check_close(values_of(x.quantile(list, {}, false, interpolation)), expected);
  }
  CHECK(quantile(x, list, {}, true).shape() == detail::Shape{6, 1, 1, 1});
  CHECK(quantile(x, 0.5, {}, true).shape() == detail::Shape{1, 1, 1});
  CHECK(quantile(x, zeros<D, double>({0}), 1).shape() == detail::Shape{0, 3, 5});
  CHECK(quantile(full<D>({}, 5), 0.3, 0).item() == 5);
  CHECK(quantile(zeros<D>({2, 0}), 0.5, 0).shape() == detail::Shape{0});
}

TEMPLATE_TEST_CASE("quantiles of NaN are NaN", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, NAN, 3, 1, 2, 3}, {2, 3});
  check_close(values_of(quantile(x, 0.25, 1)), {NAN, 1.5});
  check_close(values_of(quantile(x, 0.)), {NAN});
}

TEMPLATE_TEST_CASE("quantiles of 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, bfloat16>({4, 9});
  CHECK(values_of(quantile(x, 0.3, 1)) == values_of(quantile(x.to(f32), 0.3, 1).to(bf16)));
}

TEMPLATE_TEST_CASE("gradients of quantiles by the elements and by q", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto ties = tensor_of<D>({1, 5, 2, 5}).requires_grad_();
  quantile(ties, tensor_of<D>({0.3, 0.5})).sum().backward();
  check_close(values_of(ties.grad()), {0.1, 0.5, 1.4, 0});  // PyTorch's
  auto x = spread_tensor<D>({3, 4}).requires_grad_(), q = tensor_of<D>({0.2, 0.7}).requires_grad_();
  for (const char* interpolation : {"linear", "midpoint", "nearest"}) {
    const auto rows = [&](const auto& v) { return quantile(v * v, 0.4, 1, false, interpolation); };
    CHECK(gradcheck(rows, std::tuple{x}));
    CHECK(gradgradcheck(rows, std::tuple{x}));
  }
  const auto both = [](const auto& v, const auto& p) { return quantile(v * v, p, 0); };
  CHECK(gradcheck(both, std::tuple{x, q}));
  CHECK(gradgradcheck(both, std::tuple{x, q}));
}

TEMPLATE_TEST_CASE("quantiles that do not exist are refused", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({2, 3});
  CHECK(error_of([&] { quantile(x, 1.5); }) == "quantile: q must be in [0, 1], not 1.5");
  CHECK(error_of([&] { quantile(x, NAN); }) == "quantile: q must be in [0, 1], not nan");
  CHECK(error_of([&] { quantile(x, x); }) == "quantile: q must be a number or a vector, not of shape [2, 3]");
  CHECK(error_of([&] { quantile(x, 0.5, 2); }) == "quantile: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { quantile(zeros<D>({2, 0}), 0.5, 1); }) == "quantile: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { quantile(zeros<D>({0}), 0.5); }) == "quantile: dimension 0 of [0] is empty");
  CHECK(error_of([&] { quantile(x, 0.5, 1, false, "cubic"); }) ==
        "quantile: the interpolation is linear, lower, higher, midpoint or nearest, not cubic");
  CHECK(error_of([&] { quantile(Tensor<D>(), 0.5); }) == "quantile: a tensor is undefined");
  CHECK(error_of([&] { median(zeros<D>({2, 0}), 1); }) == "median: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { median(zeros<D, Index>({0})); }) == "median: dimension 0 of [0] is empty");
  CHECK(error_of([&] { median(x, 2); }) == "median: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { median(Tensor<D>()); }) == "median: a tensor is undefined");
}

}  // namespace ops_quantile
