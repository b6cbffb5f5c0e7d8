#include "support/tensors.hpp"

#include <tern/nn/pad.hpp>

namespace nn_pad {
using namespace tern_test;

TEMPLATE_TEST_CASE("pad layers put their border around the last dimensions", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3, 4}, {1, 1, 2, 2});
  const auto line = x.view({1, 1, 4});
  const auto block = x.view({1, 1, 1, 2, 2});
  const auto values = [](auto layer, const auto& input) { return values_of(layer.to(f64)(input)); };
  CHECK(values(nn::ZeroPad2d<D>({1, 0, 0, 0}), x) == std::vector<double>{0, 1, 2, 0, 3, 4});
  CHECK(values(nn::ConstantPad1d<D>(1, 5), line) == std::vector<double>{5, 1, 2, 3, 4, 5});
  CHECK(values(nn::ReflectionPad1d<D>({2, 0}), line) == std::vector<double>{3, 2, 1, 2, 3, 4});
  CHECK(values(nn::ReplicationPad2d<D>({0, 1, 0, 0}), x) == std::vector<double>{1, 2, 2, 3, 4, 4});
  CHECK(values(nn::CircularPad2d<D>({0, 0, 1, 0}), x) == std::vector<double>{3, 4, 1, 2, 3, 4});
  CHECK(values(nn::ReplicationPad3d<D>({0, 0, 0, 0, 0, 1}), block) == std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(nn::ZeroPad3d<D>(1).to(f64)(block).shape() == tern::detail::Shape{1, 1, 3, 4, 4});
  CHECK(error_of([] { nn::ZeroPad2d<D>({1, 1}); }) == "ZeroPad2d: one size or 4 are needed, not [1, 1]");
}

}  // namespace nn_pad
