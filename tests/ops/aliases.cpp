// Other names of ops.
#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "tern/ops/ops.hpp"

namespace ops_aliases {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("other names are those of their ops, as functions and as methods", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3}), y = spread_tensor<D>({2, 3}) * -0.5;
  const auto same = [](const auto& a, const auto& b) {
    CHECK(a.shape() == b.shape());
    CHECK(values_of(a) == values_of(b));
  };
  same(concat({x, y}, 1), cat({x, y}, 1));
  same(concatenate({x, y}), cat({x, y}));
  same(ger(x[0], y[1]), outer(x[0], y[1]));
  same(vdot(x[0], y[1]), dot(x[0], y[1]));
  same(swapaxes(x, 0, 1), x.t());
  same(x.swapaxes(0, 1), x.t());
  same(swapdims(x, -1, 0), x.t());
  same(x.swapdims(0, 1), x.t());
  same(moveaxis(x, 0, 1), x.t());
  same(x.moveaxis({0, 1}, {1, 0}), x.t());
  same(narrow_copy(x, 1, 1, 2), x.narrow(1, 1, 2));
  same(x.narrow_copy(1, 1, 2), x.narrow(1, 1, 2));
  same(x.ravel(), x.reshape(-1));
  same(x.argwhere(), x.nonzero());
  same(x.absolute(), x.abs());
  same(x.multiply(2), x * 2);
  same(x.clone().divide_(y), x / y);
  same(x.greater(y), x > y);
  same(x.less_equal(0.5), x <= 0.5);
  same(x.clip({}, 0.5), x.clamp_max(0.5));
  same(x.clip(y, x), x.clamp(y, x));
  same(x.clone().clip_(0.1, 0.5), x.clamp(0.1, 0.5));
  same(x.arctan2(y), x.atan2(y));
  same(x.positive(), x);
  same(x[0].vdot(y[1]), dot(x[0], y[1]));
  same(fliplr(x), x.flip(1));
  same(x.fliplr(), x.flip(1));
  same(flipud(x), x.flip(0));
  same(x.flipud(), x.flip(0));
  same(diagflat(x), diag(x.reshape(-1)));
  same(x.diagflat(-2), diag(x.reshape(-1), -2));
  CHECK(x.type_as(zeros<D, Index>({1})).dtype() == DType::int64);
  CHECK(x.nbytes() == 6 * x.element_size());
}

TEMPLATE_TEST_CASE("sizes, strides and the kind of elements have PyTorch's other names", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({2, 3, 4}).transpose(0, 2);
  CHECK(x.stride() == detail::Shape{1, 4, 12});
  CHECK(x.stride() == x.strides());
  CHECK((x.stride(0) == 1 && x.stride(-1) == 12));
  CHECK(x.ndimension() == 3);
  CHECK(x.nelement() == 24);
  CHECK(numel(x) == 24);
  CHECK(numel(zeros<D, bool>({0, 3})) == 0);
  CHECK((x.is_floating_point() && zeros<D, bfloat16>({1}).is_floating_point() && is_floating_point(x)));
  CHECK(!(zeros<D, bool>({1}).is_floating_point() || is_floating_point(zeros<D, Index>({1}))));
  static_assert(Tensor<D, half>::is_floating_point() && !Tensor<D, std::uint8_t>::is_floating_point());
  CHECK(error_of([] { Tensor<D>().stride(); }) == "strides: a tensor is undefined");
}

TEMPLATE_TEST_CASE("a copy under another name shares no memory", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3});
  const auto before = values_of(x);
  narrow_copy(x, 0, 0, 1).fill_(7);
  CHECK(values_of(x) == before);
}

}  // namespace ops_aliases
