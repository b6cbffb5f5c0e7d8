// Taking and putting by number, against what the simpler ops give; values themselves are compared with PyTorch's
// samples.
#include "tern/ops/take.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_take {
using namespace tern;
using namespace tern_test;

namespace {

template <class D>
Tensor<D, Index> numbers(const std::vector<double>& values, const detail::Shape& shape) {
  return tensor_of<D, Index>(values, shape);
}

}  // namespace

TEMPLATE_TEST_CASE("scatter puts what gather takes", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4});
  const auto at = numbers<D>({3, 1, 0, 2, 2, 1}, {3, 2});
  const auto put = scatter(x, 1, at, tensor_of<D>({10, 11, 12, 13, 14, 15}, {3, 2}));
  CHECK(values_of(gather(put, 1, at)) == std::vector<double>{10, 11, 12, 13, 14, 15});
  CHECK(values_of(put.masked_select(eq(put, x))).size() == 6);
  CHECK(values_of(gather(scatter(x, 1, at, 7), 1, at)) == std::vector<double>(6, 7));
  CHECK(values_of(scatter(x, 0, numbers<D>({}, {0, 4}), x)) == values_of(x));
  CHECK(scatter(full<D, float>({}, 1), 0, full<D, Index>({}, 0), full<D, float>({}, 5)).item() == 5);
}

TEMPLATE_TEST_CASE("nonzero names every position that is not zero", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({0, 2, 0, 0, 0, 3, 4, 0}, {2, 2, 2});
  CHECK(values_of(nonzero(x)) == std::vector<double>{0, 0, 1, 1, 0, 1, 1, 1, 0});
  CHECK(values_of(nonzero(x.transpose(0, 2))) == std::vector<double>{0, 1, 1, 1, 0, 0, 1, 0, 1});
  CHECK(nonzero(zeros<D, float>({3, 4})).shape() == detail::Shape{0, 2});
  CHECK(nonzero(full<D, float>({}, 1)).shape() == detail::Shape{1, 0});
  CHECK(nonzero(zeros<D, float>({2, 0, 3})).shape() == detail::Shape{0, 3});
}

TEMPLATE_TEST_CASE("where names the positions by dimension, as an index takes them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({0, 2, 0, 0, 0, 3, 4, 0}, {2, 2, 2});
  const auto check = [](const auto& a) {
    const std::vector<Tensor<D, Index>> at = where(a);
    const auto rows = nonzero(a);
    REQUIRE(Index(at.size()) == rows.size(1));
    for (std::size_t i = 0; i < at.size(); ++i) CHECK(values_of(at[i]) == values_of(rows.select(1, Index(i))));
    CHECK(values_of(a[at]) == values_of(a[a != 0]));
  };
  check(x);
  check(x.transpose(0, 2));
  check(x > 2);
  check(zeros<D>({3, 4}));
  check(zeros<D>({2, 0, 3}));
  CHECK(values_of(where(x)[2]) == std::vector<double>{1, 1, 0});
  REQUIRE(where(full<D>({}, 7)).size() == 1);  // as torch.where
  CHECK(values_of(where(full<D>({}, 7))[0]) == std::vector<double>{0});
  CHECK(where(full<D>({}, 0))[0].shape() == detail::Shape{0});
  CHECK(error_of([] { where(Tensor<D>()); }) == "where: a tensor is undefined");
}

TEMPLATE_TEST_CASE("unravel_index gives the position of each number", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const detail::Shape& shape) {
    const auto numbers = arange<D>(shape.numel());
    const auto at = unravel_index(numbers, shape);
    REQUIRE(Index(at.size()) == shape.n);
    for (int i = 0; i < shape.n; ++i) {
      std::vector<double> expected;
      for (Index k = 0; k < shape.numel(); ++k) {
        Index below = 1;
        for (int j = i + 1; j < shape.n; ++j) below *= shape[j];
        expected.push_back(double(k / below % shape[i]));
      }
      CHECK(values_of(at[std::size_t(i)]) == expected);
    }
  };
  for (const detail::Shape& shape :
       {detail::Shape{7}, detail::Shape{2, 3}, detail::Shape{4, 1, 3}, detail::Shape{2, 2, 2, 2}})
    check(shape);
  // torch.unravel_index(torch.tensor([[1234, 1], [999, 0]]), (10, 10, 10, 10)) and torch.unravel_index(torch.tensor(9),
  // 12)
  const auto at = unravel_index(numbers<D>({1234, 1, 999, 0}, {2, 2}), {10, 10, 10, 10});
  CHECK(at[0].shape() == detail::Shape{2, 2});
  CHECK(values_of(at[0]) == std::vector<double>{1, 0, 0, 0});
  CHECK(values_of(at[1]) == std::vector<double>{2, 0, 9, 0});
  CHECK(values_of(at[2]) == std::vector<double>{3, 0, 9, 0});
  CHECK(values_of(at[3]) == std::vector<double>{4, 1, 9, 0});
  CHECK(values_of(unravel_index(full<D, Index>({}, 9), 12)[0]) == std::vector<double>{9});
  CHECK(unravel_index(numbers<D>({}, {0}), {2, 0})[1].shape() == detail::Shape{0});
  CHECK(error_of([&] { unravel_index(numbers<D>({6}, {1}), {2, 3}); }).find("unravel_index: ") == 0);
  CHECK(error_of([&] { unravel_index(numbers<D>({-1}, {1}), {2, 3}); }).find("unravel_index: ") == 0);
  CHECK(error_of([&] { unravel_index(numbers<D>({0}, {1}), {2, 0}); }).find("unravel_index: ") == 0);
  CHECK(error_of([&] { unravel_index(numbers<D>({0}, {1}), {2, -3}); }).find("unravel_index: ") == 0);
}

TEMPLATE_TEST_CASE("repeat_interleave repeats neighbours", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(values_of(repeat_interleave(x, 2, 0)) == std::vector<double>{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(values_of(repeat_interleave(x, 2, 1)) == std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  CHECK(values_of(repeat_interleave(x, numbers<D>({2, 0, 1}, {3}), 1)) == std::vector<double>{1, 1, 3, 4, 4, 6});
  CHECK(repeat_interleave(x, 0).shape() == detail::Shape{0});
  CHECK(repeat_interleave(x, numbers<D>({0}, {1}), 0).shape() == detail::Shape{0, 3});
}

TEMPLATE_TEST_CASE("index_fill and take count from the end too", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(values_of(index_fill(x, 1, numbers<D>({-1, 0}, {2}), 9)) == std::vector<double>{9, 2, 9, 9, 5, 9});
  CHECK(values_of(x) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(values_of(take(x.t(), numbers<D>({1, -1}, {2}))) == std::vector<double>{4, 6});
}

TEMPLATE_TEST_CASE("one_hot marks the class", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = numbers<D>({1, 0, 2, 1}, {2, 2});
  CHECK(values_of(one_hot(x)) == std::vector<double>{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0});
  CHECK(one_hot(x, 5).shape() == detail::Shape{2, 2, 5});
  CHECK(one_hot(numbers<D>({}, {0}), 4).shape() == detail::Shape{0, 4});
  CHECK(error_of([&] { one_hot(numbers<D>({-1}, {1})); }) == "one_hot: a class must not be negative: -1");
  CHECK(error_of([&] { one_hot(numbers<D>({-5, -7}, {2})); }) == "one_hot: a class must not be negative: -5");
}

TEMPLATE_TEST_CASE("scatter refuses indices that count from the end, as gather does", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({0, 1, 2, 3, 4, 5}, {2, 3});
  const auto at = numbers<D>({-1}, {1, 1});
  const auto wait = [](const auto& y) { return values_of(y); };
  CHECK(error_of([&] { wait(scatter(x, 1, at, x)); }) == "scatter: index -1 is out of range for a dimension of size 3");
  CHECK(error_of([&] { wait(scatter(x, 1, at, 7)); }) == "scatter: index -1 is out of range for a dimension of size 3");
  CHECK(error_of([&] { wait(scatter_add(x, 1, at, x)); }) ==
        "scatter_add: index -1 is out of range for a dimension of size 3");
  CHECK(error_of([&] { wait(gather(x, 1, at)); }) == "gather: index -1 is out of range for a dimension of size 3");
  CHECK(error_of([&] { wait(take_along_dim(x, at)); }).find("index -1 is out of range for a dimension of size 6") !=
        std::string::npos);
  // The others count from the end.
  CHECK(values_of(take(x, numbers<D>({-1, -6}, {2}))) == std::vector<double>{5, 0});
  CHECK(values_of(take_along_dim(x, at, 1)) == std::vector<double>{2, 5});
  CHECK(values_of(index_fill(x, 1, numbers<D>({-1}, {1}), 9)) == std::vector<double>{0, 1, 9, 3, 4, 9});
}

TEMPLATE_TEST_CASE("scatter in place writes into the tensor, its base and the tape", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto at = numbers<D>({3, 1, 0, 2, 2, 1}, {3, 2});
  const auto source = tensor_of<D>({10, 11, 12, 13, 14, 15}, {3, 2});
  for (const auto& layout : layouts(spread_tensor<D>({3, 4}))) {
    const auto expected = values_of(scatter(layout, 1, at, source));
    const auto version = layout.version();
    CHECK(&layout.scatter_(1, at, source) == &layout);
    CHECK(values_of(layout) == expected);
    CHECK(layout.version() > version);
    scatter_(layout, 1, at, 7);
    CHECK(values_of(gather(layout, 1, at)) == std::vector<double>(6, 7));
  }
  const auto number = full<D, float>({}, 1);
  CHECK(number.scatter_(0, full<D, Index>({}, 0), 5).item() == 5);
  const auto x = spread_tensor<D>({3, 4}).requires_grad_(), s = source.clone().requires_grad_();
  const auto f = [&](const auto& a, const auto& b) {
    const auto y = a * a;
    y.scatter_(1, at, b * b);
    return y;
  };
  CHECK(gradcheck(f, std::tuple{x, s}));
  CHECK(gradgradcheck(f, std::tuple{x, s}));
  CHECK(error_of([&] { scatter_(x, 1, at, s); }).find("leaf") != std::string::npos);
}

TEMPLATE_TEST_CASE("index_copy and index_fill set positions, in place too", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto at = numbers<D>({2, 0}, {2});
  const auto source = tensor_of<D>({10, 11, 12, 13}, {2, 2});
  for (const auto& x : layouts(tensor_of<D>({0, 1, 2, 3, 4, 5}, {2, 3}))) {
    CHECK(values_of(index_copy(x, 1, at, source)) == std::vector<double>{11, 1, 10, 13, 4, 12});
    CHECK(values_of(x) == std::vector<double>{0, 1, 2, 3, 4, 5});
    CHECK(&x.index_copy_(-1, at, source) == &x);
    CHECK(values_of(x) == std::vector<double>{11, 1, 10, 13, 4, 12});
    CHECK(&x.index_fill_(0, numbers<D>({-1}, {1}), 7) == &x);
    CHECK(values_of(x) == std::vector<double>{11, 1, 10, 7, 7, 7});
    x.index_fill_(1, at, full<D, double>({}, 8)), x.masked_fill_(x == 7, full<D, double>({}, 9));
    CHECK(values_of(x) == std::vector<double>{8, 1, 8, 8, 9, 8});
  }
  CHECK(full<D>({}, 1).index_copy_(0, zeros<D, Index>({1}), full<D>({}, 2)).item() == 2);
  CHECK(values_of(tensor_of<D, Index>({1, 2}).index_copy(0, numbers<D>({1}, {1}), tensor_of<D, Index>({9}))) ==
        std::vector<double>{1, 9});
  const auto x = spread_tensor<D>({2, 3}).requires_grad_(), s = source.clone().requires_grad_();
  const auto f = [&](const auto& a, const auto& b) {
    const auto y = index_copy(a * a, 1, at, b * b);
    y.index_copy_(1, at.narrow(0, 0, 1), b.narrow(1, 1, 1)).index_fill_(0, at.narrow(0, 1, 1), b[0][0]);
    return y * y;
  };
  CHECK(gradcheck(f, std::tuple{x, s}));
  CHECK(gradgradcheck(f, std::tuple{x, s}));
  CHECK(error_of([&] { index_copy_(x, 1, at, s); }).find("leaf") != std::string::npos);
  CHECK(error_of([&] { index_copy(x, 1, at, x); }) ==
        "index_copy: a source of shape [2, 3] does not fit 2 positions of dimension 1 of [2, 3]");
  CHECK(error_of([&] { values_of(index_copy(x, 1, numbers<D>({-1}, {1}), s.narrow(1, 0, 1))); }) ==
        "index_copy: index -1 is out of range for a dimension of size 3");
  CHECK(error_of([&] { masked_fill_(x.detach(), x > 0, s); }) ==
        "masked_fill_: the value must be a 0-d tensor, not of shape [2, 2]");
}

TEMPLATE_TEST_CASE("scatter adds or multiplies, several sources to one position too", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using T = typename decltype(type)::type;
    const auto at = numbers<D>({1, 1, 0, 1, 2, 0}, {3, 2}), shorter = numbers<D>({2, 2, 2}, {1, 3});
    for (const auto& x : layouts(tensor_of<D, T>({2, 3, 4, 5, 6, 7, 8, 9, 10}, {3, 3}))) {
      const auto source = tensor_of<D, T>({2, 3, 4, 5, 6, 7}, {3, 2});
      CHECK(values_of(scatter(x, 1, at, source, "multiply")) == std::vector<double>{2, 18, 4, 20, 30, 7, 56, 9, 60});
      CHECK(values_of(x.scatter(1, at, source, "add")) == std::vector<double>{2, 8, 4, 9, 11, 7, 15, 9, 16});
      CHECK(values_of(scatter(x, 0, shorter, 3, "multiply")) == std::vector<double>{2, 3, 4, 5, 6, 7, 24, 27, 30});
      CHECK(values_of(x.scatter(0, shorter, 3, "add")) == std::vector<double>{2, 3, 4, 5, 6, 7, 11, 12, 13});
      const auto expected = values_of(scatter(x, 1, at, source, "multiply"));
      CHECK(values_of(x.scatter_(1, at, source, "multiply")) == expected);
      CHECK(values_of(scatter_(x, 0, shorter, 2, "add")) == std::vector<double>{2, 18, 4, 20, 30, 7, 58, 11, 62});
    }
  };
  check(f32);
  check(f64);
  check(bf16);
  check(i64);
  check(u8);
  auto x = ones<D, double>({3}).requires_grad_();
  scatter(x, 0, numbers<D>({1, 1}, {2}), ones<D, double>({2}), "add").sum().backward();
  CHECK(values_of(x.grad()) == std::vector<double>{1, 1, 1});
  const auto product = scatter(x, 0, numbers<D>({1, 1}, {2}), ones<D, double>({2}), "multiply");
  CHECK(error_of([&] { product.sum().backward(); }).find("scatter with reduce multiply has no gradient") !=
        std::string::npos);
}

TEMPLATE_TEST_CASE("positions may have another integer type", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4});
  const std::vector<double> values{3, 1, 0, 2, 2, 1};
  const auto at = numbers<D>(values, {3, 2});
  const auto narrow_at = tensor_of<D, std::int32_t>(values, {3, 2});
  const auto bytes = tensor_of<D, std::uint8_t>(values, {3, 2});
  CHECK(values_of(gather(x, 1, narrow_at)) == values_of(gather(x, 1, at)));
  CHECK(values_of(x.gather(1, bytes)) == values_of(gather(x, 1, at)));
  CHECK(values_of(scatter(x, 1, narrow_at, x)) == values_of(scatter(x, 1, at, x)));
  CHECK(values_of(x.scatter(1, bytes, 5)) == values_of(scatter(x, 1, at, 5)));
  CHECK(values_of(scatter_add(x, 1, narrow_at, x)) == values_of(scatter_add(x, 1, at, x)));
}

TEMPLATE_TEST_CASE("scatter refuses what does not fit", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({3, 4}), one = ones<D>({1, 1});
  const auto at = numbers<D>({0}, {1, 1}), outside = numbers<D>({4}, {1, 1});
  CHECK(error_of([&] { scatter(x, 1, at, one, "max"); }) == "scatter: reduce is add or multiply, not max");
  CHECK(error_of([&] { scatter_(x, 1, at, 5, "max"); }) == "scatter_: reduce is add or multiply, not max");
  CHECK(error_of([&] { scatter_(x, 2, at, one); }) == "scatter_: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { scatter(x, 1, at, ones<D>({1, 0}), "multiply"); }) ==
        "scatter: index of shape [1, 1] does not fit a tensor of shape [1, 0]");
  CHECK(error_of([&] { scatter(x, 1, outside, one, "multiply"); }).find("scatter: index 4") == 0);
  CHECK(error_of([&] { scatter_(x, 1, outside, one); }) != "");
  CHECK(error_of([&] { scatter_(Tensor<D>(), 1, at, one); }) == "scatter_: a tensor is undefined");
}

}  // namespace ops_take
