// Borders around images; their elements are compared with PyTorch's samples (tests/opinfo).
#include "tern/ops/pad.hpp"
#include "support/tensors.hpp"

namespace ops_pad {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("pad borders with a value or with its own elements", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& x : layouts(tensor_of<D>({1, 2, 3, 4, 5, 6}, {2, 3}))) {
    CHECK(values_of(pad(x, {1, -1, 0, 1}, "constant", 9)) == std::vector<double>{9, 1, 2, 9, 4, 5, 9, 9, 9});
    CHECK(values_of(pad(x, {2, 1}, "reflect")) == std::vector<double>{3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5});
    CHECK(values_of(pad(x, {2, 0, 0, 1}, "replicate")) ==
          std::vector<double>{1, 1, 1, 2, 3, 4, 4, 4, 5, 6, 4, 4, 4, 5, 6});
    CHECK(values_of(pad(x, {2, 1}, "circular")) == std::vector<double>{2, 3, 1, 2, 3, 1, 5, 6, 4, 5, 6, 4});
    // What is cut off on the left does not come back on the right.
    CHECK(values_of(pad(x, {-1, 1}, "circular")) == std::vector<double>{2, 3, 2, 5, 6, 5});
  }
  const auto numbers = tensor_of<D, Index>({1, 2});
  CHECK(values_of(pad(numbers, {1, 0}, "constant", 7)) == std::vector<double>{7, 1, 2});
  CHECK(values_of(pad(numbers, {1, 0}, {.value = 7})) == std::vector<double>{7, 1, 2});
  CHECK(values_of(pad(numbers, {1, 0}, {.mode = "reflect"})) == std::vector<double>{2, 1, 2});
}

TEMPLATE_TEST_CASE("pad keeps channels-last order", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 4, 5}), last = x.contiguous(channels_last);
  for (PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::replicate, PadMode::circular}) {
    const auto y = pad(last, {1, 2, 0, 1}, mode);
    CHECK(y.is_contiguous(channels_last));
    CHECK(values_of(y) == values_of(pad(x, {1, 2, 0, 1}, mode)));
    CHECK(pad(x, {1, 2, 0, 1}, mode).is_contiguous());
  }
}

TEMPLATE_TEST_CASE("gradients of pad", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 2, 3, 4}).requires_grad_();
  for (PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::replicate, PadMode::circular}) {
    const auto f = [mode](const auto& v) { return pad(v * v, {2, -1, 1, 2}, mode); };
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  }
}

TEMPLATE_TEST_CASE("pad removes elements before it adds a border", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({0, 1, 2, 3, 4}, {1, 1, 5});
  CHECK(values_of(pad(x, {-3, -1})) == std::vector<double>{3});
  CHECK(values_of(pad(x, {-5, 3})) == std::vector<double>{0, 0, 0});
  CHECK(pad(x, {-3, -2}).shape() == detail::Shape{1, 1, 0});
  CHECK(values_of(pad(x, {-5, 3}, PadMode::reflect)) == std::vector<double>{3, 2, 1});
  // The edge remains where all of its elements are removed.
  CHECK(values_of(pad(x, {-7, 5}, PadMode::replicate)) == std::vector<double>{4, 4, 4});
  CHECK(values_of(pad(x, {5, -7}, PadMode::replicate)) == std::vector<double>{0, 0, 0});
  const std::string nothing = " leaves nothing of a tensor of shape [1, 1, 5]";
  CHECK(error_of([&] { pad(x, {-7, 5}); }) == "pad: padding [-7, 5]" + nothing);
  CHECK(error_of([&] { pad(x, {5, -6}); }) == "pad: padding [5, -6]" + nothing);
  CHECK(error_of([&] { pad(x, {-3, -3, 4, 0}); }) == "pad: padding [-3, -3, 4, 0]" + nothing);
  CHECK(error_of([&] { pad(x, {-7, 5}, PadMode::circular); }) == "pad: padding [-7, 5]" + nothing);
  CHECK(error_of([&] { pad(x, {INT64_MAX, 0}); }) == "pad: the sum of [5, 9223372036854775807, 0] is out of range");
}

TEMPLATE_TEST_CASE("pad refuses borders that cannot be made", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3});
  CHECK(error_of([&] { pad(x, {1, 1, 1}); }) ==
        "pad: two sizes for each of at most 2 dimensions are needed, not [1, 1, 1]");
  CHECK(error_of([&] { pad(x, {-2, -2}); }) == "pad: padding [-2, -2] leaves nothing of a tensor of shape [2, 3]");
  CHECK(error_of([&] { pad(x, {3, 0}, PadMode::reflect); }) ==
        "pad: a border of 3 cannot be made of a dimension of size 3");
  CHECK(error_of([&] { pad(x, {0, 4}, PadMode::circular); }) ==
        "pad: a border of 4 cannot be made of a dimension of size 3");
  CHECK(error_of([&] { pad(zeros<D>({2, 0}), {0, 1}, PadMode::replicate); }) ==
        "pad: a border of 1 cannot be made of a dimension of size 0");
}

}  // namespace ops_pad
