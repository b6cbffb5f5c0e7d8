// The pieces that structured bindings take.
#include "support/tensors.hpp"

#include <tern/ops/unpack.hpp>

namespace ops_unpack {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("pieces whose number is known are those of chunk, split and unbind", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 4, 6});
  const auto same = [](const auto& piece, const auto& expected) {
    CHECK(piece.shape() == expected.shape());
    check_close(values_of(piece), values_of(expected));
  };
  const auto [q, k, v] = chunk<3>(x, -1);
  same(q, x.narrow(2, 0, 2)), same(k, x.narrow(2, 2, 2)), same(v, x.narrow(2, 4, 2));
  const auto [short_one, long_one] = split(x, {1, 3}, 1);
  same(short_one, x.narrow(1, 0, 1)), same(long_one, x.narrow(1, 1, 3));
  const auto [first, second, last] = split<3>(x, 2, 2);
  same(first, q), same(second, k), same(last, v);
  const auto [front, back] = unbind<2>(x);
  same(front, x[0]), same(back, x[1]);
  auto all = chunk<2>(x, 1);
  CHECK(all.size() == 2);
  same(all[1], x.narrow(1, 2, 2));
  const std::vector<Tensor<D, double>> list = all;
  same(list[0], x.narrow(1, 0, 2));
}

TEMPLATE_TEST_CASE("pieces whose number is known have a gradient", "[ops][autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({2, 4});
  x.requires_grad_();
  const auto [a, b] = chunk<2>(x, 1);
  (a * 2 + b * 3).sum().backward();
  check_close(values_of(x.grad()), {2, 2, 3, 3, 2, 2, 3, 3});
}

TEMPLATE_TEST_CASE("sizes whose number is known are the shape's", "[ops]", TERN_TEST_DEVICES) {
  const auto [batch, length, width] = sizes<3>(zeros<TestType>({2, 0, 6}));
  CHECK((batch == 2 && length == 0 && width == 6));
}

TEMPLATE_TEST_CASE("another number of pieces or sizes is refused", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 4, 6});
  CHECK(error_of([&] { sizes<2>(x); }) == "sizes: the program takes 2 sizes, the shape is [2, 4, 6]");
  CHECK(error_of([&] { chunk<3>(x); }) == "chunk: the program takes 3 pieces, there are 2");
  CHECK(error_of([&] { split<2>(x, 2, 2); }) == "split: the program takes 2 pieces, there are 3");
  CHECK(error_of([&] { unbind<3>(x); }) == "unbind: the program takes 3 pieces, there are 2");
  CHECK(error_of([&] { sizes<2>(Tensor<D>()); }) != "");
}

}  // namespace ops_unpack
