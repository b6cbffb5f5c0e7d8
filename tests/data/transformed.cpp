#include "support/errors.hpp"

#include <set>

#include <tern/data/cifar.hpp>
#include <tern/data/loader.hpp>
#include <tern/data/mnist.hpp>
#include <tern/data/transforms.hpp>

#include "transforms/transformed_image.hpp"

namespace data_transformed {
using namespace tern;
using namespace tern::data::transforms;
using data::loader;
using data::transformed;
using tern_test::error_of;

namespace {

/// Images [2, 6, 5] whose pixels are numbers of their own, labelled by their number.
data::TensorDataset<float, Index> numbered_set(Index n) {
  const auto x = empty<Cpu>({n, 2, 6, 5});
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = float(i);
  return data::TensorDataset(x, arange<Cpu>(n));
}

/// The same as a set that reads one image at a time.
struct ImagesOneByOne {
  data::TensorDataset<float, Index> all;
  Index size() const { return all.size(); }
  Index label(Index i) const { return i; }
  void read(Index i, data::Image& image) const {
    const auto [x, y] = all.batch({&i, 1});
    std::copy_n(x.data(), 60, image.replace(2, 6, 5));
  }
  auto batch(std::span<const Index> samples) const { return all.batch(samples); }
};

/// All values of an epoch, by sample.
template <class L>
std::vector<std::vector<float>> epoch(L&& batches, Index n) {
  std::vector<std::vector<float>> out;
  out.resize(std::size_t(n));
  for (auto& [x, y] : batches)
    for (Index i = 0; i < y.numel(); ++i) {
      const Index size = x.numel() / y.numel();
      out[std::size_t(y(i))].assign(x.data() + i * size, x.data() + (i + 1) * size);
    }
  return out;
}

const auto shifted = [](data::Image& image, data::Random& random) {
  const float by = random.uniform();
  for (Index i = 0; i < image.numel(); ++i) image.data()[i] += by;
};

}  // namespace

TEST_CASE("an image's random numbers do not depend on who makes its batch", "[data][threads]") {
  const auto set = numbered_set(50);
  const auto crops = transformed(set, RandomCrop(5, {.padding = 2}), RandomHorizontalFlip(), shifted);
  std::vector<std::vector<std::vector<float>>> expected;
  for (const int workers : {0, 1, 3})
    for (const Index batch_size : {1, 7, 50}) {
      auto batches = loader<Cpu>(crops, {.batch_size = batch_size, .shuffle = true, .num_workers = workers, .seed = 4});
      for (std::size_t e = 0; e < 3; ++e) {
        auto seen = epoch(batches, 50);
        if (expected.size() == e) expected.push_back(seen);
        CHECK(seen == expected[e]);
      }
    }
  CHECK(expected[0] != expected[1]);
  auto in_order = loader<Cpu>(crops, {.batch_size = 9, .seed = 4});
  CHECK(epoch(in_order, 50) != epoch(in_order, 50));  // the epoch counts, not the sample's place alone
  CHECK(epoch(loader<Cpu>(crops, {.shuffle = true, .seed = 5}), 50) != expected[0]);
}

TEST_CASE("random numbers of samples, epochs, places and levels differ", "[data]") {
  std::set<std::uint32_t> seen;
  for (Index epoch = 0; epoch < 3; ++epoch)
    for (Index place = 0; place < 3; ++place)
      for (Index sample = 0; sample < 3; ++sample)
        for (int level = 0; level < 3; ++level) seen.insert(data::Random({9, epoch, place, level}, 0, sample).word());
  CHECK(seen.size() == 81);
  CHECK(data::Random({9, 1, 5}, 2, 4).word() == data::Random({9, 1, 7}, 0, 4).word());
}

TEST_CASE("transforms are applied in turn, the images read one by one or in batches", "[data]") {
  const auto set = numbered_set(9);
  const auto twice = [](data::Image& image, data::Random&) {
    for (Index i = 0; i < image.numel(); ++i) image.data()[i] *= 2;
  };
  const auto plus_one = [](data::Image& image, data::Random&) {
    float* const out = image.replace(1, 1, 3);
    for (Index i = 0; i < 3; ++i) out[i] = 1;
  };
  const std::vector<Index> samples = {4, 0, 4, 8};
  const auto check = [&](const auto& from) {
    const auto [x, y] = transformed(from, CenterCrop({2, 3}), twice, Normalize({1, 2}, {2, 4})).batch(samples);
    REQUIRE(x.shape() == tern::detail::Shape{4, 2, 2, 3});
    for (Index i = 0; i < 4; ++i) {
      const Index sample = samples[std::size_t(i)];
      REQUIRE(y(i) == sample);
      for (Index c = 0; c < 2; ++c)
        for (Index row = 0; row < 2; ++row)
          for (Index column = 0; column < 3; ++column) {
            const double in = double(sample * 60 + c * 30 + (row + 2) * 5 + column + 1);
            REQUIRE(x(i, c, row, column) == Approx((2 * in - double(c + 1)) / double(2 * (c + 1))));
          }
    }
    // A function that replaces the image and does not say so, before and after others.
    for (const auto& z : {std::get<0>(transformed(from, plus_one, twice).batch(samples)),
                          std::get<0>(transformed(from, Resize(3), plus_one, twice).batch(samples))}) {
      REQUIRE(z.shape() == tern::detail::Shape{4, 1, 1, 3});
      for (Index i = 0; i < 12; ++i) REQUIRE(z.data()[i] == 2);
    }
  };
  check(set);
  check(ImagesOneByOne{set});
  const auto [x, y] = transformed(set, twice).batch({});
  CHECK(x.size(0) == 0);
  CHECK(std::get<0>(set.batch(samples))(0, 0, 0, 0) == 240);  // the set's own images are as they were
}

TEST_CASE("a data set that gives out its own memory keeps its images", "[data]") {
  struct Own {
    Tensor<Cpu> x = ones<Cpu>({3, 1, 2, 2});
    Index size() const { return 3; }
    std::tuple<Tensor<Cpu>> batch(std::span<const Index>) const { return {x}; }
  } const own;
  const std::vector<Index> all = {0, 1, 2};
  const auto [y] = transformed(own, Normalize({3}, {1})).batch(all);
  CHECK(y(2, 0, 1, 1) == -2);
  CHECK(own.x(2, 0, 1, 1) == 1);
}

TEST_CASE("Compose is the same as its transforms", "[data]") {
  const auto set = numbered_set(4);
  const Compose both(RandomCrop(4), RandomVerticalFlip());
  CHECK(epoch(loader<Cpu>(transformed(set, both), {.seed = 2}), 4) ==
        epoch(loader<Cpu>(transformed(set, RandomCrop(4), RandomVerticalFlip()), {.seed = 2}), 4));
}

TEST_CASE("a sample that comes twice is drawn for twice, and each call draws anew", "[data]") {
  const auto set = transformed(numbered_set(4), shifted);
  const std::vector<Index> samples = {1, 1};
  const auto [x, y] = set.batch(samples);
  CHECK(x(0, 0, 0, 0) != x(1, 0, 0, 0));
  CHECK(x(0, 0, 0, 0) != std::get<0>(set.batch(samples))(0, 0, 0, 0));
  CHECK(std::get<0>(data::batch_of(set, samples, {1, 2}))(0, 0, 0, 0) ==
        std::get<0>(data::batch_of(set, samples, {1, 2}))(0, 0, 0, 0));
}

TEST_CASE("transformed sets can be transformed again, batches as well", "[data]") {
  const auto inner = transformed(numbered_set(8), shifted);
  const auto outer = transformed(inner, shifted);
  const std::vector<Index> samples = {0};
  const float once = std::get<0>(data::batch_of(inner, samples, data::RandomKey{1, 2}.inner()))(0, 0, 0, 0);
  const float twice = std::get<0>(data::batch_of(outer, samples, {1, 2}))(0, 0, 0, 0);
  CHECK(twice > once);
  CHECK(std::abs(twice - 2 * once) > 1e-3f);  // the two draws differ
  Index count = 0;
  for (auto& [x, y] : loader<Cpu>(transformed(inner, MixUp({.num_classes = 8})), {.batch_size = 3})) {
    CHECK(y.shape() == tern::detail::Shape{x.size(0), 8});
    count += x.size(0);
  }
  CHECK(count == 8);
}

TEST_CASE("CIFAR's usual transforms, and MNIST's", "[data][threads]") {
  NEED_TEST_DATA(folder, "data");
  const auto cifar = data::Cifar10::load(folder + "/cifar10-subset");
  const Normalize normalise({0.4914f, 0.4822f, 0.4465f}, {0.247f, 0.243f, 0.261f});
  auto batches = loader<Cpu>(transformed(cifar, RandomCrop(32, {.padding = 4}), RandomHorizontalFlip(), normalise),
                             {.batch_size = 100, .seed = 1});
  double sum = 0, squares = 0, elements = 0;
  for (auto& [x, y] : batches) {
    REQUIRE(x.shape() == tern::detail::Shape{100, 3, 32, 32});
    for (Index i = 0; i < x.numel(); ++i)
      sum += double(x.data()[i]), squares += double(x.data()[i]) * double(x.data()[i]);
    elements += double(x.numel());
  }
  CHECK(sum / elements < -0.05);  // black was padded
  CHECK(sum / elements > -0.5);
  CHECK(squares / elements == Approx(1.3).margin(0.3));
  const auto digits = data::Mnist::load(folder + "/mnist", {.train = false});
  const std::vector<Index> samples = {3, 5};
  const auto [x, y] = transformed(digits, CenterCrop(28)).batch(samples);
  CHECK(tern_test::same_pixels(x, std::get<0>(digits.batch(samples))));
  CHECK(y(1) == digits.labels()(5));
}

TEST_CASE("images of a batch must have one size", "[data]") {
  const auto grows = [](data::Image& image, data::Random&) {
    const Index n = image.data()[0] == 0 ? 2 : 3;
    std::fill_n(image.replace(1, n, 2), n * 2, 0.f);
  };
  const std::vector<Index> samples = {0, 1};
  CHECK(error_of([&] { transformed(numbered_set(2), grows).batch(samples); }) ==
        "transformed: images of a batch differ in size: [1, 2, 2] and [1, 3, 2]; let transformed() end with a crop or "
        "a Resize");
  const data::TensorDataset rows(ones<Cpu>({3, 4}));
  CHECK(error_of([&] { transformed(rows, RandomHorizontalFlip()).batch(samples); }) ==
        "transformed: images must be [N, C, H, W] in row-major order, not [2, 4]");
}

TEST_CASE("a batch() of another number of rows is refused", "[data]") {
  struct Own {
    Tensor<Cpu> x;
    Index size() const { return 4; }
    std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
      return {x, zeros<Cpu, Index>({Index(samples.size())})};
    }
  };
  const std::vector<Index> samples = {0, 1};
  for (const Index rows : {1, 3})
    CHECK(error_of([&] { transformed(Own{ones<Cpu>({rows, 1, 4, 4})}, CenterCrop(2)).batch(samples); }) ==
          "transformed: batch() of the set was asked for 2 samples, but returns a tensor of shape [" +
              std::to_string(rows) + ", 1, 4, 4]");
  CHECK(error_of([&] { transformed(Own{}, CenterCrop(2)).batch(samples); }) ==
        "transformed: batch() of the set returns an undefined tensor");
  const Own one{ones<Cpu>({1, 1, 4, 4})};
  TERN_TEST_LINE(transformed(one, CenterCrop(2)).batch(samples));
}

TEST_CASE("samples with a picture are transformed before they are stacked", "[data]") {
  // Pictures [1, 3 + i, 4] that are all i.
  struct Tensors {
    std::size_t size() const { return 5; }
    std::pair<Tensor<Cpu>, int> operator[](std::size_t i) const {
      return {full<Cpu>({1, 3 + Index(i), 4}, double(i)), int(i)};
    }
  } const tensors;
  struct Images {
    Index size() const { return 5; }
    std::tuple<data::Image, Index, Tensor<Cpu>> operator[](Index i) const {
      data::Image image;
      float* const pixels = image.replace(1, 3 + i, 4);
      std::fill_n(pixels, image.numel(), float(i));
      return {image, i, full<Cpu>({2}, double(i))};
    }
  } const images;
  struct Files {
    Index size() const { return 5; }
    Index label(Index i) const { return i; }
    void read(Index i, data::Image& image) const {
      float* const pixels = image.replace(1, 3 + i, 4);
      std::fill_n(pixels, image.numel(), float(i));
    }
  } const files;
  const std::vector<Index> samples = {4, 0, 2};
  const auto check = [&](const auto& batch, const auto& expected) {
    const Tensor<Cpu> x = std::get<0>(batch);
    REQUIRE(x.shape() == tern::detail::Shape{3, 1, 2, 2});
    for (Index i = 0; i < 3; ++i) {
      CHECK(std::get<1>(batch)(i) == expected[std::size_t(i)]);
      for (Index k = 0; k < 4; ++k) CHECK(x.data()[4 * i + k] == Approx(expected[std::size_t(i)]));
    }
  };
  const Resize to({2, 2});
  check(transformed(tensors, to).batch(samples), samples);
  check(transformed(files, to).batch(samples), samples);
  const auto of_images = transformed(images, to).batch(samples);
  check(of_images, samples);
  CHECK(std::get<2>(of_images).shape() == tern::detail::Shape{3, 2});
  CHECK(std::get<2>(of_images)(0, 1) == 4);
  const auto [x] = transformed(std::vector<Tensor<Cpu>>{ones<Cpu>({1, 2, 3}), ones<Cpu>({1, 3, 2})}, to)
                       .batch(std::vector<Index>{1, 0});
  CHECK(x.shape() == tern::detail::Shape{2, 1, 2, 2});
  // So are parts of such sets.
  check(transformed(data::collated(tensors), to).batch(samples), samples);
  const std::vector<Index> backwards = {4, 3, 2, 1, 0};
  const std::vector<Index> expected = {0, 4, 2};
  check(transformed(data::Subset(data::collated(tensors), backwards), to).batch(samples), expected);
  check(transformed(data::Subset(tensors, backwards), to).batch(samples), expected);
  check(transformed(data::Subset(files, backwards), to).batch(samples), expected);
  Index seen = 0;
  const auto split = data::random_split(tensors, {0.6, 0.4});
  const auto of_files = data::random_split(files, {3, 2});
  for (auto& [pictures, labels] : loader<Cpu>(transformed(split[0], to), {.batch_size = 2})) seen += labels.numel();
  for (auto& [pictures, labels] : loader<Cpu>(transformed(of_files[1], to), {.batch_size = 2})) seen += labels.numel();
  CHECK(seen == 5);
  CHECK(
      error_of([&] { transformed(tensors, RandomHorizontalFlip()).batch(samples); }) ==
      "transformed: images of a batch differ in size: [1, 7, 4] and [1, 3, 4]; let transformed() end with a crop or a "
      "Resize");
  CHECK(error_of([&] { transformed(std::vector<Tensor<Cpu>>(5, ones<Cpu>({2})), to).batch(samples); }) ==
        "transformed: an image must be [C, H, W], not [2]");
}

}  // namespace data_transformed
