#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/shape.hpp"

namespace ops_shape {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("shape ops by their positions", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& x : layouts(tensor_of<TestType>({0, 1, 2, 3, 4, 5}, {2, 3}))) {
    CHECK(values_of(broadcast_to(x, {2, 2, 3})) == std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    CHECK(unflatten(x, 1, {3, -1}).shape() == detail::Shape{2, 3, 1});
    CHECK(values_of(movedim(x, 0, -1)) == std::vector<double>{0, 3, 1, 4, 2, 5});
    CHECK(movedim(broadcast_to(x, {4, 2, 3}), {0, 1}, {2, 0}).shape() == detail::Shape{2, 3, 4});
    CHECK(values_of(diagonal(x)) == std::vector<double>{0, 4});
    CHECK(values_of(x.diagonal(1)) == std::vector<double>{1, 5});
    CHECK(values_of(x.diagonal(-1)) == std::vector<double>{3});
    CHECK(diagonal(x, 7).shape() == detail::Shape{0});
    CHECK(values_of(x.repeat({2, 1})) == std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    CHECK(repeat(x, {2, 0, 3}).shape() == detail::Shape{2, 0, 9});
    CHECK(values_of(x.tile(2)) == std::vector<double>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    CHECK(values_of(x.flip({0, 1})) == std::vector<double>{5, 4, 3, 2, 1, 0});
    CHECK(values_of(x.roll(1)) == std::vector<double>{5, 0, 1, 2, 3, 4});
    CHECK(values_of(x.roll(-1, 1)) == std::vector<double>{1, 2, 0, 4, 5, 3});
    CHECK(values_of(hstack(std::vector{x, x})) == std::vector<double>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    CHECK(values_of(vstack(std::vector{x, x})) == std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  }
  const auto row = tensor_of<TestType>({1, 2});
  CHECK(hstack(std::vector{row, row}).shape() == detail::Shape{4});
  CHECK(vstack(std::vector{row, row}).shape() == detail::Shape{2, 2});
}

TEMPLATE_TEST_CASE("a diagonal is a view, a repeat is not", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2, 2});
  x.diagonal().fill_(1);
  CHECK(values_of(x) == std::vector<double>{1, 0, 0, 1});
  x.repeat({1, 1}).fill_(7);
  CHECK(values_of(x) == std::vector<double>{1, 0, 0, 1});
}

TEMPLATE_TEST_CASE("a repeat makes no tensor for each copy", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, bool>({1});
  const Index before = memory_in_use();
  const auto y = repeat(x, {10'000'000});
  CHECK(y.shape() == detail::Shape{10'000'000});
  CHECK(memory_in_use() - before < 30'000'000);
  CHECK(values_of(repeat(tensor_of<TestType>({1, 2}, {1, 2, 1, 1, 1, 1, 1, 1}), {1, 2, 1, 1, 1, 1, 1, 2})) ==
        std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2});
}

TEMPLATE_TEST_CASE("gradients of shape ops", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const auto& layout : layouts(spread_tensor<TestType>({2, 3}))) {
    auto x = layout.detach().requires_grad_();
    const auto check = [&](const auto& op) {
      const auto f = [&](const auto& v) { return op(v * v); };
      CHECK(gradcheck(f, std::tuple{x}));
      CHECK(gradgradcheck(f, std::tuple{x}));
    };
    check([](const auto& v) { return broadcast_to(v, {2, 2, 3}); });
    check([](const auto& v) { return unflatten(v, 1, {3, 1}); });
    check([](const auto& v) { return movedim(v, 0, 1); });
    check([](const auto& v) { return diagonal(v, 1); });
    check([](const auto& v) { return diagonal(v, -1, 1, 0); });
    check([](const auto& v) { return repeat(v, {2, 1, 2}); });
    check([](const auto& v) { return tile(v, {2}); });
    check([](const auto& v) { return flip(v, {1}); });
    check([](const auto& v) { return roll(v, {1, 2}, {0, 1}); });
    check([](const auto& v) { return hstack(std::vector{v, v}); });
    check([](const auto& v) { return vstack(std::vector{v, v}); });
  }
}

TEMPLATE_TEST_CASE("shape ops refuse what does not fit", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2, 3});
  CHECK(error_of([&] { broadcast_to(x, {3, 3}); }) == "broadcast_to: cannot expand [2, 3] to [3, 3]");
  CHECK(error_of([&] { unflatten(x, 1, {2, 2}); }) == "unflatten: shape [2, 2] does not fit the elements of [3]");
  CHECK(error_of([&] { movedim(x, {0, 1}, {0}); }) ==
        "movedim: as many sources as destinations are needed: [0, 1], [0]");
  CHECK(error_of([&] { movedim(x, {0, -2}, {0, 1}); }) == "movedim: dimension -2 is named twice");
  CHECK(error_of([&] { diagonal(x, 0, 1, -1); }) == "diagonal: two different dimensions are needed, not 1 and -1");
  CHECK(error_of([&] { repeat(x, 2); }) == "repeat: a number for every dimension is needed: [2] for [2, 3]");
  CHECK(error_of([&] { tile(x, -1); }) == "tile: the numbers must not be negative: [1, -1]");
  CHECK(error_of([&] { flip(x, 2); }) == "flip: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { roll(x, {1, 2}, 0); }) == "roll: as many shifts as dimensions are needed: [1, 2] for [0]");
  const std::vector<Tensor<TestType, double>> none, different{x, zeros<TestType, double>({3, 2})};
  CHECK(error_of([&] { hstack(none); }) == "hstack: at least one tensor is needed");
  CHECK(error_of([&] { vstack(different); }) == "vstack: shapes [2, 3] and [3, 2] differ in a dimension other than 0");
}

TEMPLATE_TEST_CASE("the shape of another tensor", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3});
  const auto mask = zeros<D, bool>({3, 2});
  CHECK(x.view_as(mask).shape() == detail::Shape{3, 2});
  CHECK(values_of(x.view_as(mask)) == values_of(x));
  CHECK(values_of(x.t().reshape_as(x)) == values_of(x.t()));
  CHECK(values_of(x[0].expand_as(x)) == values_of(x[0].expand({2, 3})));
  CHECK(error_of([&] { x.t().view_as(x.view(6)); }).find("view: ") == 0);
  CHECK(error_of([&] { x.reshape_as(zeros<D>({4})); }).find("reshape: ") == 0);
}

TEMPLATE_TEST_CASE("lists of tensors stand in braces", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({3}), b = spread_tensor<D>({2});
  const auto same = [](const auto& x, const auto& y) { check_close(values_of(x), values_of(y)); };
  same(meshgrid({a, b})[1], meshgrid(std::vector{a, b})[1]);
  same(meshgrid({a, b}, "xy")[0], meshgrid(std::vector{a, b}, "xy")[0]);
  same(meshgrid(a, b, "xy")[0], meshgrid(std::vector{a, b}, "xy")[0]);
  same(meshgrid(a, b, a)[2], meshgrid(std::vector{a, b, a})[2]);
  const auto [rows, columns] = meshgrid(a, b);
  same(rows, meshgrid(std::vector{a, b})[0]), same(columns, meshgrid(std::vector{a, b})[1]);
  const auto [left, right] = broadcast_tensors({a, b.narrow(0, 0, 1)});
  same(left, a), same(right, b.narrow(0, 0, 1).expand({3}));
  same(hstack({a, b}), hstack(std::vector{a, b}));
  same(vstack({a, a}), vstack(std::vector{a, a}));
  same(cat({a, b}), cat(std::vector{a, b}));
  same(stack({a, a}, 1), stack(std::vector{a, a}, 1));
}

}  // namespace ops_shape
