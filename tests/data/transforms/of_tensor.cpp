#include "support/errors.hpp"

#include <tern/data/transforms.hpp>
#include <tern/ops/reduce.hpp>

#include "transformed_image.hpp"

namespace data_transforms_of_tensor {
using namespace tern;
using namespace tern::data::transforms;
using tern_test::error_of;
using tern_test::numbered_image;
using tern_test::same_pixels;
using tern_test::transformed_image;

TEST_CASE("a transform of a tensor is that of its image", "[data]") {
  const auto x = numbered_image(3, 6, 5);
  CHECK(same_pixels(Resize(4)(x), transformed_image(Resize(4), x)));
  CHECK(same_pixels(CenterCrop({2, 4})(x), transformed_image(CenterCrop({2, 4}), x)));
  CHECK(same_pixels(RandomHorizontalFlip(1)(x), transformed_image(RandomHorizontalFlip(1), x)));
  const Compose all(Resize(4), CenterCrop(2), Normalize({1, 2, 3}, {4, 5, 6}));
  CHECK(same_pixels(all(x), transformed_image(all, x)));
  const Compose own([](data::Image& image, auto&) { image.data()[0] = -1; }, RandomVerticalFlip(0));
  CHECK(own(x)(0, 0, 0) == -1);
  CHECK(x(0, 0, 0) == 1);
  CHECK(same_pixels(Normalize({0}, {1})(x.transpose(1, 2)), x.transpose(1, 2).contiguous()));
}

TEST_CASE("the images of a tensor get the same random numbers, and each call others", "[data]") {
  const auto x = empty<Cpu>({4, 1, 9, 9});
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = float(i % 81);
  const RandomState before = random_state();
  manual_seed(3);
  const RandomCrop crop(4);
  const auto first = crop(x);
  REQUIRE(first.shape() == tern::detail::Shape{4, 1, 4, 4});
  for (Index i = 1; i < 4; ++i) CHECK(same_pixels(first[i], first[0]));
  bool differs = false;
  for (int i = 0; i < 10; ++i) differs |= !same_pixels(crop(x), first);
  CHECK(differs);
  manual_seed(3);
  CHECK(same_pixels(crop(x), first));
  manual_seed(3);
  Compose(Resize(4), CenterCrop(2), Normalize({0}, {1}))(x);  // none of them draws
  CHECK(same_pixels(crop(x), first));
  set_random_state(before);
}

TEST_CASE("tensors that are no images are refused", "[data]") {
  CHECK(error_of([] { Resize(4)(ones<Cpu>({3, 4})); }) ==
        "transforms: an image is [C, H, W], and images are [N, C, H, W], not [3, 4]");
  CHECK(error_of([] { Resize(4)(ones<Cpu>({0, 3, 4, 4})); }) ==
        "transforms: an image is [C, H, W], and images are [N, C, H, W], not [0, 3, 4, 4]");
  const auto flat = ones<Cpu>({3});
  TERN_TEST_LINE(Resize(4)(flat));
  int calls = 0;
  const Compose grows([&](data::Image& image, auto&) { image.replace(1, 1, ++calls); });
  CHECK(error_of([&] { grows(ones<Cpu>({2, 1, 1, 1})); }) ==
        "transforms: images of a batch differ in size: [2, 1, 1, 1] and [2, 1, 1, 2]");
}

}  // namespace data_transforms_of_tensor
