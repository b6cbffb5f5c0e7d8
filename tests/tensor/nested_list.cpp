// Braced lists: their shapes and numbers.
#include "support/tensors.hpp"

#include <tern/tensor/creation.hpp>

namespace tensor_nested_list {
using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T>
void check(const Tensor<D, T>& x, const detail::Shape& shape, const std::vector<double>& values) {
  CHECK(x.shape() == shape);
  CHECK(values_of(x) == values);
}

}  // namespace

TEMPLATE_TEST_CASE("each pair of braces is a dimension", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  check(tensor<D>({5}), 1, {5});
  check(tensor<D>({{5}}), {1, 1}, {5});
  check(tensor<D>({{0}, {2}}), {2, 1}, {0, 2});
  check(tensor<D>({{0, 2}}), {1, 2}, {0, 2});
  check(tensor<D>({{{0}}, {{1}}}), {2, 1, 1}, {0, 1});
  check(tensor<D>({{{0}, {1}}}), {1, 2, 1}, {0, 1});
  check(tensor<D>({{{{1, 2}, {3, 4}}}}), {1, 1, 2, 2}, {1, 2, 3, 4});
  check(tensor<D>({}), 0, {});
  check(tensor<D>({{}, {}}), {2, 0}, {});
  CHECK(error_of([] { tensor<D>({{{{{{{{{1}}}}}}}}}); }) != "");  // nine dimensions
}

TEMPLATE_TEST_CASE("numbers of several types stand in one list", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const std::size_t size = 3;
  const double variable = 0.25;
  check(tensor<D>({1, 2.5, 3.f, true, size, variable, half(0.5)}), 7, {1, 2.5, 3, 1, 3, 0.25, 0.5});
  check(tensor<D, Index>({1, 2.0, size}), 3, {1, 2, 3});
  check(tensor<D, Index>({INT64_MIN + 1, INT64_MAX}) - INT64_MAX, 2, {double(2), 0});
  check(tensor<D, bool>({{true}, {false}}), {2, 1}, {1, 0});
}

TEMPLATE_TEST_CASE("lists refuse", "[creation][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([] { tensor<D>({{0}, {1, 2}}); }) == "tensor: rows of different lengths: 1 and 2");
  CHECK(error_of([] { tensor<D>({{}, {1}}); }) == "tensor: rows of different lengths: 0 and 1");
  CHECK(error_of([] { tensor<D>({{{1}}, {{1}, {2}}}); }) == "tensor: blocks of different sizes: 1 and 2");
  CHECK(error_of([] { tensor<D>({{1, 2}, 3}); }) == "tensor: numbers and lists stand beside each other");
  CHECK(error_of([] { tensor<D>({1, {2}}); }) == "tensor: numbers and lists stand beside each other");
  CHECK(error_of([] { tensor<D, std::uint8_t>({1, 256}); }) ==
        "tensor: the number 256 does not fit a tensor of uint8, which holds integers from 0 to 255");
  CHECK(error_of([] { tensor<D, std::int32_t>({1, 2.5}); }).find("tensor: the number 2.5 does not fit") == 0);
}

}  // namespace tensor_nested_list
