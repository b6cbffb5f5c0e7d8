#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/reduce.hpp"

namespace ops_reduce {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("sum, mean, any, all: values, keepdim, negative dimensions", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, 2, 3, 4, 5, 6}, {2, 3});
  check_close(values_of(x.sum()), {21});
  CHECK(x.sum().shape() == detail::Shape{});
  check_close(values_of(x.sum({-1})), {6, 15});
  CHECK(x.sum({-1}, true).shape() == detail::Shape{2, 1});
  CHECK(x.sum({0, 1}, true).shape() == detail::Shape{1, 1});
  check_close(values_of(x.mean({0})), {2.5, 3.5, 4.5});
  check_close(values_of(any(x - 1, {0})), {1, 1, 1});
  check_close(values_of(all(x - 1, {0})), {0, 1, 1});
  check_close(values_of(tensor_of<TestType>({3}, {}).sum({-1})), {3});
  CHECK(x.sum().item() == 21);
  CHECK(mean(x > 2, f64).item() == 4 / 6.);
  CHECK((x > 2).sum(f32).item() == 4);
  CHECK(x.sum(i32).item() == 21);  // int64, as every sum of integers
}

TEMPLATE_TEST_CASE("sum, mean, any, all: PyTorch's conventions", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  RecordedCase nothing("sum of nothing");
  nothing.check(sum(nothing.input<D>(0)));
  RecordedCase("mean of nothing").check(mean(RecordedCase("mean of nothing").input<D>(0)));
  RecordedCase("any of nothing").check(any(nothing.input<D>(0)));
  RecordedCase("all of nothing").check(all(nothing.input<D>(0)));
  RecordedCase empty_dimension("sum over an empty dimension");
  empty_dimension.check(sum(empty_dimension.input<D>(0), {1}));
  RecordedCase("mean over an empty dimension").check(mean(empty_dimension.input<D>(0), {1}));
  RecordedCase small("sum of uint8 is int64"), flags("sum of bool is int64"), nan("any of nan");
  small.check(small.input<D, std::uint8_t>(0).sum());
  flags.check(flags.input<D, bool>(0).sum());
  nan.check(any(nan.input<D>(0)));
}

namespace {

/// Sums over the dimensions that are 1 in `kept`, which is the result's shape.
std::vector<double> plain_sums(const std::vector<double>& x, const detail::Shape& shape, const detail::Shape& kept) {
  std::vector<double> sums(std::size_t(kept.numel()), 0);
  for (Index i = 0; i < shape.numel(); ++i) {
    Index rest = i, at = 0, stride = 1;
    for (int d = shape.n; d-- > 0; rest /= shape[d])
      if (kept[d] != 1) at += rest % shape[d] * stride, stride *= kept[d];
    sums[std::size_t(at)] += x[std::size_t(i)];
  }
  return sums;
}

}  // namespace

// Elements that a GPU's threads read four at a time, of one sum or of four sums, or one by one.
TEMPLATE_TEST_CASE("sums of few and of many elements, at any address", "[ops]", TERN_TEST_DEVICES) {
  const auto check = []<class T>(detail::Type<T>, double tolerance) {
    for (const auto& [shape, kept] : std::vector<std::pair<detail::Shape, detail::Shape>>{{{7}, {1}},
                                                                                          {{70001}, {1}},
                                                                                          {{3, 40000}, {3, 1}},
                                                                                          {{300, 10}, {300, 1}},
                                                                                          {{5, 64}, {5, 1}},
                                                                                          {{5, 64}, {1, 64}},
                                                                                          {{3000, 12}, {1, 12}},
                                                                                          {{50, 7}, {1, 7}},
                                                                                          {{600, 260}, {1, 260}},
                                                                                          {{4, 6, 8, 5}, {1, 6, 1, 5}},
                                                                                          {{4, 6, 5, 8}, {1, 6, 1, 8}},
                                                                                          {{4, 6, 5, 8}, {4, 1, 5, 1}},
                                                                                          {{2, 3, 1000}, {1, 3, 1}}}) {
      std::vector<double> first;
      for (const Index offset : {0, 1, 4}) {
        const auto x = zeros<TestType, T>({shape.numel() + 4}).narrow(0, offset, shape.numel()).view(shape);
        x.copy_(spread_tensor<TestType, T>(shape, 0.5, 2));
        detail::Dims dims;
        for (int d = 0; d < shape.n; ++d)
          if (kept[d] == 1 && shape[d] != 1) dims.push_back(d);
        INFO(detail::text({shape}) << " to " << detail::text({kept}) << " of " << detail::name_of(dtype_of<T>)
                                   << " from element " << offset);
        const auto sums = values_of(sum(x, dims));
        check_close(sums, plain_sums(values_of(x), shape, kept), tolerance);
        if (offset == 0) first = sums;
        CHECK(sums == first);
      }
    }
  };
  check(detail::Type<float>{}, 1e-5);
  check(detail::Type<double>{}, 1e-12);
  check(detail::Type<bfloat16>{}, 1e-2);
  check(detail::Type<std::int32_t>{}, 0);
}

TEMPLATE_TEST_CASE("the mean of 16-bit numbers whose sum overflows is right", "[ops]", TERN_TEST_DEVICES) {
  CHECK(float(mean(full<TestType, half>({1000}, 1000)).item()) == 1000);
}

TEMPLATE_TEST_CASE("gradients of sum and mean", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const detail::Shape& shape : {detail::Shape{2, 3, 4}, detail::Shape{1, 3, 1}})
    for (const detail::Dims& dims : {detail::Dims{}, detail::Dims{1}, detail::Dims{0, -1}})
      for (const auto& layout : layouts(spread_tensor<TestType>(shape))) {
        auto x = layout.detach().requires_grad_();
        const auto by_sum = [&](const auto& v) { return sum(v * v, dims); };
        const auto by_mean = [&](const auto& v) { return mean(v * v, dims, true); };
        CHECK(gradcheck(by_sum, std::tuple{x}));
        CHECK(gradcheck(by_mean, std::tuple{x}));
        CHECK(gradgradcheck(by_sum, std::tuple{x}));
        CHECK(gradgradcheck(by_mean, std::tuple{x}));
      }
}

TEMPLATE_TEST_CASE("a mapped sum derives its gradients", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  auto a = spread_tensor<TestType>({2, 3}).requires_grad_(), b = spread_tensor<TestType>({3}, 1, 2).requires_grad_();
  const auto f = [](const auto& x, const auto& y) {
    return detail::map_sum({"test", CallSite::unknown}, Own{[](auto u, auto v) { return u * u / v; }}, {1}, false, 3, x,
                           y);
  };
  CHECK(gradcheck(f, std::tuple{a, b}));
  CHECK(gradgradcheck(f, std::tuple{a, b}));
  check_close(values_of(f(a, b)), values_of(mean(a * a / b, {1})));
}

TEMPLATE_TEST_CASE("reductions refuse dimensions that are not there", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2, 3});
  CHECK(error_of([&] { sum(x, {2}); }) == "sum: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { mean(x, {0, -2}); }) == "mean: dimension -2 is named twice");
  CHECK(error_of([&] { any(x, {-3}); }) == "any: dimension -3 is out of range [-2, 1]");
  CHECK(error_of([&] { all(Tensor<TestType>()); }) == "all: a tensor is undefined");
  CHECK(error_of([&] { x.item(); }) == "item: a tensor of one element is needed, not of shape [2, 3]");
}

TEMPLATE_TEST_CASE("reductions and running sums in another type, over a dimension", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto n = tensor<D>({2, 3, 4, 5}, i64).reshape({2, 2});
  CHECK(std::is_same_v<decltype(n.sum(0, true, f64)), Tensor<D, double>>);
  CHECK(values_of(n.sum(0, true, f64)) == std::vector<double>{6, 8});
  CHECK(n.sum(0, true, f64).dim() == 2);
  CHECK(values_of(n.mean(1, false, f32)) == std::vector<double>{2.5, 4.5});
  CHECK(values_of(n.prod(0, false, f32)) == std::vector<double>{8, 15});
  CHECK(values_of(n.cumsum(1, f64)) == std::vector<double>{2, 5, 4, 9});
  CHECK(values_of(n.cumprod(1, f32)) == std::vector<double>{2, 6, 4, 20});
}

}  // namespace ops_reduce
