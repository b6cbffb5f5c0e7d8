#include "support/catch.hpp"

#include <cmath>

#include <tern/data/cifar.hpp>

#include "../io/gzipped.hpp"
#include "../io/temporary_folder.hpp"

namespace data_cifar {
using namespace tern;
using data::Cifar10;
using data::Cifar100;
using tern_test::error_of;
using tern_test::gzipped;
using tern_test::TemporaryFolder;

namespace {

/// The byte of a record's image in the files made here.
int byte_at(int image, int channel, int row, int column) {
  return (37 * image + 101 * channel + 7 * row + 3 * column) % 256;
}

/// Records with these label bytes; the images count from `first`.
std::string records(std::initializer_list<std::string> labels, int first = 0) {
  std::string out;
  for (const std::string& label : labels) {
    out += label;
    for (int c = 0; c < 3; ++c)
      for (int row = 0; row < 32; ++row)
        for (int column = 0; column < 32; ++column) out += char(byte_at(first, c, row, column));
    ++first;
  }
  return out;
}

const std::string ten_names = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n";

struct Facts {
  Index size;
  std::vector<Index> first_labels, histogram;
  double mean[3], std[3];
};

void check_facts(const Cifar10& set, const Facts& facts) {
  REQUIRE(set.size() == facts.size);
  REQUIRE(set.images().shape() == detail::Shape{facts.size, 3, 32, 32});
  std::vector<Index> counts(10);
  for (Index i = 0; i < facts.size; ++i) ++counts[std::size_t(set.label(i))];
  CHECK(counts == facts.histogram);
  CHECK(std::vector<Index>(set.labels().data(), set.labels().data() + 10) == facts.first_labels);
  for (Index c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    for (Index i = 0; i < facts.size; ++i)
      for (Index k = 0; k < 1024; ++k) {
        const double value = set.images().data()[(i * 3 + c) * 1024 + k] / 255.0;
        sum += value;
        squares += value * value;
      }
    const double n = double(facts.size) * 1024;
    CHECK(sum / n == Approx(facts.mean[c]).margin(6e-5));
    CHECK(std::sqrt(squares / n - sum / n * (sum / n)) == Approx(facts.std[c]).margin(6e-5));
  }
}

}  // namespace

TEST_CASE("CIFAR-10's own files hold what is known of them", "[data]") {
  NEED_TEST_DATA(folder, "data/cifar10-subset");
  const Cifar10 train = Cifar10::load(folder);
  check_facts(train, {4000,
                      {6, 9, 9, 4, 1, 1, 2, 7, 8, 3},
                      {396, 366, 420, 384, 422, 393, 414, 385, 407, 413},
                      {0.4916, 0.4818, 0.4447},
                      {0.2471, 0.2440, 0.2625}});
  check_facts(Cifar10::load(folder, {.train = false}), {1000,
                                                        {3, 8, 8, 0, 6, 6, 1, 6, 3, 1},
                                                        {103, 89, 100, 103, 90, 86, 112, 102, 106, 109},
                                                        {0.4967, 0.4867, 0.4510},
                                                        {0.2466, 0.2427, 0.2617}});
  const int first[][4] = {{59, 43, 50, 68}, {62, 46, 48, -1}, {63, 45, 43, -1}};
  for (Index c = 0; c < 3; ++c)
    for (Index i = 0; i < 4; ++i)
      if (first[c][i] >= 0) CHECK(train.images()(0, c, 0, i) == first[c][i]);
  CHECK(train.classes() == std::vector<std::string>{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog",
                                                    "horse", "ship", "truck"});
}

TEST_CASE("Cifar10 gives normalised images, labels and names", "[data]") {
  const TemporaryFolder files;
  files.put("data_batch_1.bin", records({"\7", "\3"}));
  files.put("data_batch_2.bin.gz", gzipped(records({"\1"}, 2)));
  files.put("test_batch.bin", records({"\2"}, 5));
  files.put("batches.meta.txt", ten_names);
  const std::array<float, 3> mean = {0.4914f, 0.4822f, 0.4465f}, std = {0.247f, 0.243f, 0.261f};
  for (const bool normalised : {false, true}) {
    const Cifar10 set =
        normalised ? Cifar10::load(files.path(), {.mean = mean, .std = std}) : Cifar10::load(files.path());
    REQUIRE(set.size() == 3);
    const std::vector<Index> samples = {2, 0, 1, 0};
    const auto [x, y] = set.batch(samples);
    REQUIRE(x.shape() == detail::Shape{4, 3, 32, 32});
    REQUIRE(y.shape() == detail::Shape{4});
    for (Index i = 0; i < 4; ++i) {
      const Index sample = samples[std::size_t(i)];
      CHECK(y(i) == (sample == 0 ? 7 : sample == 1 ? 3 : 1));
      for (int c = 0; c < 3; ++c)
        for (int row = 0; row < 32; ++row)
          for (int column = 0; column < 32; ++column) {
            const double level = byte_at(int(sample), c, row, column) / 255.0;
            const double expected = normalised ? (level - mean[std::size_t(c)]) / std[std::size_t(c)] : level;
            REQUIRE(x(i, c, row, column) == Approx(expected).margin(1e-6));
          }
    }
    CHECK(set.classes()[9] == "j");
  }
  const Cifar10 test = Cifar10::load(files.path(), {.train = false});
  CHECK(test.size() == 1);
  CHECK(test.images()(0, 1, 2, 3) == byte_at(5, 1, 2, 3));
  const auto [x, y] = test.batch({});
  CHECK(x.shape() == detail::Shape{0, 3, 32, 32});
  CHECK(y.shape() == detail::Shape{0});
  std::filesystem::remove(files / "batches.meta.txt");
  CHECK(Cifar10::load(files.path()).classes().empty());
}

TEST_CASE("Cifar100 has fine and coarse labels", "[data]") {
  const TemporaryFolder files;
  files.put("train.bin.gz", gzipped(records({"\x13\x63", {"\0\5", 2}})));
  files.put("test.bin", records({"\1\2"}));
  std::string coarse, fine;
  for (int i = 0; i < 20; ++i) coarse += "coarse " + std::to_string(i) + "\n";
  for (int i = 0; i < 100; ++i) fine += "fine " + std::to_string(i) + "\r\n";
  files.put("coarse_label_names.txt", coarse);
  files.put("fine_label_names.txt", fine);
  const Cifar100 set = Cifar100::load(files.path()), super = Cifar100::load(files.path(), {.coarse = true});
  CHECK(set.size() == 2);
  CHECK(set.label(0) == 99);
  CHECK(set.label(1) == 5);
  CHECK(set.classes()[99] == "fine 99");
  CHECK(super.label(0) == 19);
  CHECK(super.label(1) == 0);
  CHECK(super.classes()[19] == "coarse 19");
  CHECK(set.images()(1, 2, 3, 4) == byte_at(1, 2, 3, 4));
  CHECK(Cifar100::load(files.path(), {.train = false}).label(0) == 2);
}

TEST_CASE("damaged CIFAR files are refused by name", "[data]") {
  const TemporaryFolder files;
  const std::string good = records({"\1", "\2"});
  const std::string path = files.put("data_batch_1.bin", good);
  const auto refusal = [&] { return error_of([&] { Cifar10::load(files.path()); }); };
  REQUIRE(refusal() == "");

  SECTION("a file is missing") {
    CHECK(error_of([&] { Cifar10::load(files.path(), {.train = false}); }) ==
          "Cifar10: '" + files.path() + "': has neither test_batch.bin nor test_batch.bin.gz");
    CHECK(error_of([&] { Cifar100::load(files.path()); }) ==
          "Cifar100: '" + files.path() + "': has neither train.bin nor train.bin.gz");
    files.put("data_batch_3.bin", good);
    CHECK(refusal() == "Cifar10: '" + files.path() + "': has neither data_batch_2.bin nor data_batch_2.bin.gz");
  }
  SECTION("truncated") {
    files.put("data_batch_1.bin", good.substr(0, 3073 + 100));
    CHECK(refusal() == "Cifar10: '" + path + "': is truncated: record 1 has 100 of 3073 bytes");
    files.put("data_batch_1.bin", "");
    CHECK(refusal() == "Cifar10: '" + path + "': is empty");
  }
  SECTION("a label is out of range") {
    files.put("data_batch_1.bin", records({"\1", "\x0a"}));
    CHECK(refusal() == "Cifar10: '" + path + "': the label of record 1 is 10, larger than 9");
    files.put("train.bin", records({"\x14\x01"}));
    CHECK(error_of([&] { Cifar100::load(files.path(), {.coarse = true}); }) ==
          "Cifar100: '" + (files / "train.bin") + "': the label of record 0 is 20, larger than 19");
  }
  SECTION("names are missing") {
    files.put("batches.meta.txt", "a\nb\n");
    CHECK(refusal() == "Cifar10: '" + (files / "batches.meta.txt") + "': names 2 classes, not 10");
  }
  SECTION("compressed, with a byte damaged or cut off") {
    std::filesystem::remove(path);
    const std::string whole = gzipped(good);
    for (std::size_t i = whole.size() / 2; i < whole.size(); i += 3) {
      std::string damaged = whole;
      damaged[i] = char(damaged[i] ^ 0x10);
      files.put("data_batch_1.bin.gz", damaged);
      INFO(i);
      CHECK(refusal().find("'" + path + ".gz': ") != std::string::npos);
      files.put("data_batch_1.bin.gz", whole.substr(0, i));
      CHECK(refusal().starts_with("gzip: '" + path + ".gz': is truncated"));
    }
  }
  SECTION("std must be positive") {
    CHECK(error_of([&] { Cifar10::load(files.path(), {.std = {1, 0, 1}}); }) == "Cifar10: std must be positive, not 0");
  }
}

TEST_CASE("damaged CIFAR records are left out on request, and counted", "[data]") {
  const TemporaryFolder files;
  const auto load = [&] { return Cifar10::load(files.path(), {.skip_bad = true}); };
  const auto labels_of = [](const Cifar10& set) {
    return std::vector<Index>(set.labels().data(), set.labels().data() + set.size());
  };
  files.put("data_batch_1.bin", records({"\1", "\x0a", "\2", "\xff", "\3"}).substr(0, 5 * 3073 - 1));
  files.put("data_batch_2.bin", records({"\4"}, 4));
  const Cifar10 set = load();
  CHECK(labels_of(set) == std::vector<Index>{1, 2, 4});
  CHECK(set.skipped() == 3);
  CHECK(set.images()(1, 1, 2, 3) == byte_at(2, 1, 2, 3));
  CHECK(set.images()(2, 1, 2, 3) == byte_at(4, 1, 2, 3));

  const std::string whole = gzipped(records({"\5", "\6", "\7"}));
  std::filesystem::remove(files / "data_batch_2.bin");
  files.put("data_batch_2.bin.gz", whole.substr(0, whole.size() - 20));
  const Cifar10 cut = load();
  REQUIRE(cut.size() >= 2);
  CHECK(labels_of(cut)[1] == 2);
  CHECK(cut.skipped() == 4);

  files.put("data_batch_1.bin", records({"\1", "\2"}));
  std::filesystem::remove(files / "data_batch_2.bin.gz");
  CHECK(load().skipped() == 0);
  files.put("data_batch_1.bin", records({"\x0a"}));
  CHECK(error_of([&] { load(); }) == "Cifar10: '" + (files / "data_batch_1.bin") + "': has no record that is whole");
}

}  // namespace data_cifar
