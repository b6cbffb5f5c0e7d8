#include "support/catch.hpp"

#include <tern/data/image_folder.hpp>
#include <tern/data/records/pack_images.hpp>
#include <tern/data/records/packed_images.hpp>
#include <tern/data/records/shard_sampler.hpp>
#include <tern/data/records/tar.hpp>
#include <tern/data/records/tfrecord.hpp>
#include <tern/data/save_image.hpp>
#include <tern/data/transforms.hpp>

#include "../../io/temporary_folder.hpp"

namespace data_records_packed_images {
using namespace tern;
using tern_test::error_of;
using tern_test::TemporaryFolder;
namespace transforms = data::transforms;

namespace {

/// A folder with pictures of three classes that differ in size and content.
struct Pictures {
  TemporaryFolder folder;
  std::string path = folder / "pictures";

  Pictures() {
    for (Index i = 0; i < 9; ++i) {
      const auto image = empty<Cpu, std::uint8_t>({3, 20 + i, 31 - i});
      for (Index k = 0; k < image.numel(); ++k) image.data()[k] = std::uint8_t((k * k * (i + 3)) >> 4);
      const std::string name = path + "/class" + std::to_string(i % 3);
      io::make_folders(name);
      io::write_file_atomically(name + "/" + std::to_string(i) + ".png", data::encode_png(image));
    }
  }
  data::ImageFolder load() const { return data::ImageFolder::load(path); }
  std::string pack(const char* format, Index shards) const {
    const std::string to = folder / format;
    const data::ImageFolder set = load();
    data::pack_images(
        to,
        {.kind = "imagefolder", .format = format, .shards = shards, .samples = set.size(), .classes = set.classes()},
        [&](Index i) {
          return data::PackSample{io::read_file(set.path(i), 1 << 20), set.label(i),
                                  set.path(i).substr(path.size() + 1)};
        });
    return to;
  }
};

}  // namespace

TEST_CASE("batches of packed pictures are those of the folder, bit for bit") {
  const Pictures pictures;
  const auto folder = pictures.load();
  for (const char* format : {"tfrecord", "recordio", "tar"}) {
    CAPTURE(format);
    const auto packed = data::PackedImages::load(pictures.pack(format, 4));
    REQUIRE(packed.size() == folder.size());
    CHECK(packed.classes() == folder.classes());
    const auto transform = [](const auto& set) {
      return data::transformed(set, transforms::RandomResizedCrop(16), transforms::RandomHorizontalFlip(),
                               transforms::Normalize({0.5f, 0.4f, 0.3f}, {0.2f, 0.2f, 0.2f}));
    };
    const data::LoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 3};
    auto expected = data::loader<Cpu>(transform(folder), options);
    auto got = data::loader<Cpu>(transform(packed), options);
    for (int epoch = 0; epoch < 2; ++epoch) {
      auto other = got.begin();
      for (auto& [x, y] : expected) {
        REQUIRE(!(other == got.end()));
        const auto& [packed_x, packed_y] = *other;
        CHECK(equal(x, packed_x));
        CHECK(equal(y, packed_y));
        ++other;
      }
      CHECK(other == got.end());
    }
  }
}

TEST_CASE("packed pictures are read as far as they go, if that is asked for") {
  const TemporaryFolder folder;
  std::string file = data::encode_png(ones<Cpu, std::uint8_t>({3, 30, 20}));
  file[file.size() - 14] = char(file[file.size() - 14] ^ 1);  // in the checksum
  data::TarWriter writer(folder / "a.tar");
  writer.write("0", {{"png", file}, {"cls", "1"}});
  writer.close();
  const std::vector<Index> first = {0};
  CHECK(error_of([&] { data::PackedImages::load(folder.path()).batch(first); }).ends_with("IDAT: CRC error"));
  const auto [x, y] = data::PackedImages::load(folder.path(), {.allow_damaged = true}).batch(first);
  CHECK(x.shape() == detail::Shape{1, 3, 30, 20});
  CHECK(x(0, 2, 29, 19) == 1 / 255.f);
  CHECK(y(0) == 1);
  CHECK(data::PackedImages::load(folder.path(), {.skip_bad = true}).size() == 0);
}

TEST_CASE("a shard sampler reads each packed picture once, by all ranks together") {
  const Pictures pictures;
  const auto packed = data::PackedImages::load(pictures.pack("tar", 4));
  std::vector<Index> counts(3);
  for (const Index rank : {0, 1, 2}) {
    const data::ShardSampler sampler(packed.sizes(), {.buffer = 3, .rank = rank, .ranks = 3});
    for (auto& [x, y] : data::loader<Cpu>(data::transformed(packed, transforms::Resize(data::ImageSize(8))),
                                          {.batch_size = 2, .num_workers = 1, .seed = 1}, sampler))
      for (Index i = 0; i < y.numel(); ++i) ++counts[std::size_t(y.data()[i])];
  }
  CHECK(counts == std::vector<Index>{3, 3, 3});
}

TEST_CASE("missing shards and samples are noticed") {
  const Pictures pictures;
  const std::string folder = pictures.pack("tfrecord", 3);
  REQUIRE(std::remove((folder + "/00001-of-00003.tfrecord").c_str()) == 0);
  CHECK(error_of([&] { data::PackedImages::load(folder); }) ==
        "PackedImages: '" + folder + "/pack.json': names 9 samples, but the shards beside it have 6");
}

TEST_CASE("damaged pictures are named, or left out and counted") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.tfrecord";
  const auto image = full<Cpu, std::uint8_t>({1, 5, 7}, std::uint8_t(51));
  data::TFRecordWriter writer(path);
  writer.write_image({.encoded = data::encode_png(image), .label = 4});
  writer.write_image({.encoded = "no picture", .label = 5});
  writer.write("no example");
  writer.write_image({.encoded = data::encode_png(image), .label = 6});
  writer.close();

  const auto all = data::PackedImages::load(path);
  REQUIRE(all.size() == 4);
  data::Image out;
  CHECK(error_of([&] { all.read(1, out); }).find("a.tfrecord', record 1 at byte ") != std::string::npos);
  CHECK(error_of([&] { all.read(2, out); }).find("a.tfrecord', record 2 at byte ") != std::string::npos);
  all.read(3, out);
  CHECK(out.channels() == 3);
  CHECK(out.height() == 5);
  CHECK(out.data()[0] == 51 * (1 / 255.f));

  const auto good = data::PackedImages::load(path, {.skip_bad = true});
  REQUIRE(good.size() == 2);
  CHECK(good.skipped() == 2);
  CHECK(good.sizes() == std::vector<Index>{2});
  CHECK(good.label(0) == 4);
  CHECK(good.label(1) == 6);
  CHECK(good.classes().empty());
}

}  // namespace data_records_packed_images
