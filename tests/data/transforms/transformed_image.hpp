// One image through one transform.
#pragma once
#include "support/recorded.hpp"

#include <tern/data/image.hpp>

namespace tern_test {

/// What a transform makes of an image [C, H, W] with the random numbers of sample `sample`.
template <class T>
Tensor<Cpu> transformed_image(const T& transform, const Tensor<Cpu>& x, Index sample = 0) {
  data::Image image;
  std::copy_n(x.data(), x.numel(), image.replace(x.size(0), x.size(1), x.size(2)));
  data::Random random({1, 0}, 0, sample);
  transform(image, random);
  const auto out = empty<Cpu>({image.channels(), image.height(), image.width()});
  std::copy_n(image.data(), image.numel(), out.data());
  return out;
}

/// [C, H, W] of 1, 2, 3, …: every pixel says where it comes from.
inline Tensor<Cpu> numbered_image(Index channels, Index height, Index width) {
  const auto x = empty<Cpu>({channels, height, width});
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = float(i + 1);
  return x;
}

/// Pixel (c, y, x), or `outside` where there is none.
inline float pixel(const Tensor<Cpu>& image, Index c, Index y, Index x, float outside) {
  const bool inside = y >= 0 && y < image.size(1) && x >= 0 && x < image.size(2);
  return inside ? image(c, y, x) : outside;
}

inline bool same_pixels(const Tensor<Cpu>& a, const Tensor<Cpu>& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.numel(), b.data());
}

/// Holds what a call makes of each recorded image of that name against what torchvision made of it.
template <class F>
void check_recorded_images(const std::string& name, double tolerance, const F& call) {
  int count = 0;
  for (const Json& j : recorded_cases("image_transforms")) {
    if (j["name"] != name) continue;
    ++count;
    const auto x = tensor_of<Cpu, float>(numbers_of(j["image"]), shape_of(j["image"]));
    const Tensor<Cpu> y = call(x, j["args"]);
    INFO(name << " of " << j["image"]["shape"] << " with " << j["args"]);
    REQUIRE(y.shape() == shape_of(j["output"]));
    check_close(values_of(y), numbers_of(j["output"]), tolerance, tolerance);
  }
  REQUIRE(count > 2);
}

}  // namespace tern_test
