// MNIST's digits on a terminal.
#pragma once
#include <tern/data/mnist_source.hpp>
#include <tern/train/fit.hpp>

#include <algorithm>
#include <cstdio>

namespace support {

/// Says so where the digits are not MNIST's.
inline void warn_of_generated(const tern::data::MnistSource& mnist) {
  if (mnist.source == "generated")
    std::printf("NOT MNIST: %s; these are digits drawn by this program.\n", mnist.reason.c_str());
}

/// Draws the first images that the network gets wrong.
template <tern::Device D, class Net>
void draw_mistakes(Net& net, const tern::data::Mnist& set, tern::Index count) {
  const tern::InferenceMode inference;
  net.eval();
  for (tern::Index i = 0; i < set.size() && count > 0; ++i) {
    const auto [x, y] = set.batch({&i, 1});
    const tern::Index guess = tern::train::scores_of(net, x.to(D{})).argmax(1).item(), truth = y.item();
    if (guess == truth) continue;
    --count;
    std::printf("a %lld, taken for a %lld\n", (long long)truth, (long long)guess);
    const float* pixel = x.data();
    for (int row = 0; row < 14; ++row, pixel += 28) {  // two rows of pixels each
      for (int column = 0; column < 28; ++column, ++pixel) {
        const float ink = pixel[0] + pixel[28];
        std::putchar(" .:*#"[std::min(int(ink * 2.5f), 4)]);
      }
      std::putchar('\n');
    }
  }
}

}  // namespace support
