#include "support/catch.hpp"

#include <cmath>
#include <vector>

#include <tern/data/digits.hpp>

namespace data_digits {
using namespace tern;

namespace {

using Image = std::vector<double>;

Image image(const data::Mnist& set, Index i) {
  const std::uint8_t* const first = set.images().data() + i * 784;
  return Image(first, first + 784);
}

/// The digit whose mean image is nearest to x.
int nearest(const std::vector<Image>& means, const Image& x) {
  int best = -1;
  double best_distance = 0;
  for (int digit = 0; digit < 10; ++digit) {
    double distance = 0;
    for (std::size_t k = 0; k < 784; ++k) distance += std::pow(x[k] - means[std::size_t(digit)][k], 2);
    if (best < 0 || distance < best_distance) best = digit, best_distance = distance;
  }
  return best;
}

}  // namespace

TEST_CASE("generated digits can be told apart, but not without effort", "[data]") {
  const data::Mnist train = data::generated_digits(2000, 1), test = data::generated_digits(500, 2);
  std::vector<Image> means(10, Image(784));
  for (Index i = 0; i < train.size(); ++i) {
    const Image x = image(train, i);
    Image& mean = means[std::size_t(train.labels()(i))];
    for (std::size_t k = 0; k < 784; ++k) mean[k] += x[k] / 200;
  }
  int right = 0;
  for (Index i = 0; i < test.size(); ++i) right += nearest(means, image(test, i)) == test.labels()(i);
  CHECK(right > 300);  // of 500; guessing gives 50
  CHECK(right < 490);
}

TEST_CASE("generated digits are the same for the same seed", "[data]") {
  const data::Mnist a = data::generated_digits(30, 1), b = data::generated_digits(20, 1),
                    c = data::generated_digits(20, 2);
  for (Index i = 0; i < 20; ++i) {
    CHECK(a.labels()(i) == i % 10);
    CHECK(image(a, i) == image(b, i));
    CHECK(image(a, i) != image(c, i));
    CHECK(image(a, i) != image(a, i + 10));
  }
}

}  // namespace data_digits
