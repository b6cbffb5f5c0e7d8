#include "support/catch.hpp"

#include <cmath>

#include <tern/data/mnist.hpp>

#include "../io/gzipped.hpp"
#include "../io/temporary_folder.hpp"
#include "idx_bytes.hpp"

namespace data_mnist {
using namespace tern;
using data::Mnist;
using tern_test::error_of;
using tern_test::gzipped;
using tern_test::idx_bytes;
using tern_test::image_bytes;
using tern_test::TemporaryFolder;

namespace {

void check_facts(const Mnist& set, Index size, std::initializer_list<Index> first_labels,
                 std::initializer_list<Index> histogram, double mean, double std) {
  REQUIRE(set.size() == size);
  CHECK(set.images().shape() == detail::Shape{size, 28, 28});
  Index i = 0;
  for (const Index label : first_labels) CHECK(set.labels()(i++) == label);
  std::vector<Index> counts(10);
  for (Index k = 0; k < size; ++k) ++counts[std::size_t(set.labels()(k))];
  CHECK(counts == std::vector<Index>(histogram));
  double sum = 0, squares = 0;
  for (Index k = 0; k < size * 784; ++k) {
    const double value = set.images().data()[k] / 255.0;
    sum += value;
    squares += value * value;
  }
  const double n = double(size) * 784;
  CHECK(sum / n == Approx(mean).margin(5e-5));
  CHECK(std::sqrt(squares / n - sum / n * (sum / n)) == Approx(std).margin(5e-5));
}

/// A folder with two training images, which each case then spoils.
struct SmallSet : TemporaryFolder {
  std::string images = "train-images-idx3-ubyte", labels = "train-labels-idx1-ubyte";
  SmallSet() {
    put(images, idx_bytes({2, 28, 28}, image_bytes(2)));
    put(labels, idx_bytes({2}, "\7\3"));
  }
  std::string refusal(const data::MnistOptions& options = {}) const {
    return error_of([&] { Mnist::load(path(), options); });
  }
};

}  // namespace

TEST_CASE("MNIST's own files hold what is known of them", "[data]") {
  NEED_TEST_DATA(folder, "data/mnist");
  check_facts(Mnist::load(folder), 60000, {5, 0, 4, 1, 9, 2, 1, 3, 1, 4},
              {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}, 0.1307, 0.3081);
  check_facts(Mnist::load(folder, {.train = false}), 10000, {7, 2, 1, 0, 4, 1, 4, 9, 5, 9},
              {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}, 0.1325, 0.3105);
}

TEST_CASE("Mnist gives normalised images and their labels", "[data]") {
  const SmallSet files;
  for (const auto& [mean, std] : {std::pair(0.f, 1.f), std::pair(0.1307f, 0.3081f)}) {
    const Mnist set = Mnist::load(files.path(), {.mean = mean, .std = std});
    REQUIRE(set.size() == 2);
    const std::vector<Index> samples = {1, 0, 1};
    const auto [x, y] = set.batch(samples);
    REQUIRE(x.shape() == detail::Shape{3, 1, 28, 28});
    REQUIRE(y.shape() == detail::Shape{3});
    for (Index i = 0; i < 3; ++i) {
      CHECK(y(i) == (samples[std::size_t(i)] ? 3 : 7));
      for (Index row = 0; row < 28; ++row)
        for (Index column = 0; column < 28; ++column) {
          const double byte = double((100 * samples[std::size_t(i)] + 3 * row + column) % 256);
          REQUIRE(x(i, 0, row, column) == Approx((byte / 255 - double(mean)) / double(std)).margin(1e-6));
        }
    }
  }
  const auto [x, y] = Mnist::load(files.path()).batch({});
  CHECK(x.shape() == detail::Shape{0, 1, 28, 28});
  CHECK(y.shape() == detail::Shape{0});
}

TEST_CASE("compressed files do as well, and plain ones come first", "[data]") {
  const SmallSet files;
  files.put(files.labels + ".gz", gzipped(idx_bytes({2}, "\1\1")));
  CHECK(Mnist::load(files.path()).labels()(0) == 7);
  std::filesystem::remove(files / files.labels);
  CHECK(Mnist::load(files.path()).labels()(0) == 1);
}

TEST_CASE("EMNIST's files have their own names, labels and orientation", "[data]") {
  const TemporaryFolder files;
  files.put("emnist-letters-test-images-idx3-ubyte.gz", gzipped(idx_bytes({1, 28, 28}, image_bytes(1))));
  files.put("emnist-letters-test-labels-idx1-ubyte.gz", gzipped(idx_bytes({1}, "\x1a")));
  const Mnist set = Mnist::load(files.path(), {.train = false, .emnist = "letters"});
  CHECK(set.labels()(0) == 26);
  CHECK(set.images()(0, 5, 2) == 3 * 2 + 5);
  CHECK(set.images()(0, 2, 5) == 3 * 5 + 2);
  CHECK(error_of([&] { Mnist::load(files.path(), {.emnist = "letters"}); }) ==
        "Mnist: '" + files.path() + "': has neither emnist-letters-train-labels-idx1-ubyte nor " +
            "emnist-letters-train-labels.idx1-ubyte, plain or .gz");
  CHECK(error_of([&] { Mnist::load(files.path(), {.emnist = "words"}); }) ==
        "Mnist: no EMNIST is called 'words'; there are balanced, byclass, bymerge, digits, letters, mnist");
}

TEST_CASE("damaged MNIST files are refused by name", "[data]") {
  SmallSet files;
  CHECK(files.refusal() == "");
  const std::string good_images = idx_bytes({2, 28, 28}, image_bytes(2));
  const auto at = [&](const std::string& name) { return "'" + (files / name) + "': "; };

  SECTION("a file is missing") {
    std::filesystem::remove(files / files.images);
    CHECK(files.refusal() == "Mnist: '" + files.path() +
                                 "': has neither train-images-idx3-ubyte nor train-images.idx3-ubyte, plain or .gz");
  }
  SECTION("the folder is missing") {
    CHECK(error_of([&] { Mnist::load(files / "none"); }).starts_with("Mnist: '" + (files / "none") + "': has neither"));
  }
  SECTION("a label is out of range") {
    files.put(files.labels, idx_bytes({2}, "\x09\x0a"));
    CHECK(files.refusal() == "Mnist: " + at(files.labels) + "label 1 is 10, larger than 9");
  }
  SECTION("the files are swapped") {
    files.put(files.labels, good_images);
    CHECK(files.refusal() == "idx: " + at(files.labels) +
                                 "begins with the number 2051, not 2049: it should hold unsigned bytes, dimensions: 1");
  }
  SECTION("the counts differ") {
    files.put(files.labels, idx_bytes({3}, "\1\2\3"));
    CHECK(files.refusal() ==
          "idx: " + at(files.images) + "has the sizes [2, 28, 28], not [3, 28, 28], where -1 is any up to 1000000");
  }
  SECTION("the images are of another size") {
    files.put(files.images, idx_bytes({2, 32, 32}, std::string(2048, 'x')));
    CHECK(files.refusal() ==
          "idx: " + at(files.images) + "has the sizes [2, 32, 32], not [2, 28, 28], where -1 is any up to 1000000");
  }
  SECTION("truncated") {
    for (const std::size_t n :
         {std::size_t(0), std::size_t(3), std::size_t(15), std::size_t(16), good_images.size() - 1}) {
      files.put(files.images, good_images.substr(0, n));
      CHECK(files.refusal().starts_with("gzip: " + at(files.images) + "is truncated"));
    }
  }
  SECTION("oversized") {
    files.put(files.images, good_images + "x");
    CHECK(files.refusal() == "gzip: " + at(files.images) + "holds more than the 1584 bytes expected");
  }
  SECTION("compressed, with any byte of its second half damaged") {
    std::filesystem::remove(files / files.images);
    const std::string whole = gzipped(good_images);
    for (std::size_t i = whole.size() / 2; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = char(damaged[i] ^ 0x10);
      files.put(files.images + ".gz", damaged);
      INFO(i);
      CHECK(files.refusal().starts_with("gzip: " + at(files.images + ".gz")));
    }
  }
}

TEST_CASE("a Mnist can be made of tensors", "[data]") {
  const auto images = zeros<Cpu, std::uint8_t>({3, 28, 28});
  CHECK(Mnist(images, zeros<Cpu, Index>({3})).size() == 3);
  CHECK(error_of([&] { Mnist(images, zeros<Cpu, Index>({4})); }) ==
        "Mnist: images must be [N, 28, 28] and labels [N], both contiguous, not [3, 28, 28] and [4]");
  CHECK(error_of([&] { Mnist(images, zeros<Cpu, Index>({3}), 0, 0); }) == "Mnist: std must be positive, not 0");
}

}  // namespace data_mnist
