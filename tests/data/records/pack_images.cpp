#include "support/catch.hpp"

#include <set>

#include <tern/data/records/pack_images.hpp>
#include <tern/data/records/record_set.hpp>

#include "../../io/temporary_folder.hpp"

namespace data_records_pack_images {
using namespace tern;
using tern_test::error_of;
using tern_test::TemporaryFolder;

namespace {

data::PackSample sample(Index i) {
  return {"\xff\xd8 picture " + std::to_string(i), i % 3,
          "c" + std::to_string(i % 3) + "/" + std::to_string(i) + ".jpg"};
}

data::PackList list(const char* format, Index shards, Index samples = 7) {
  return {.kind = "test", .format = format, .shards = shards, .samples = samples, .classes = {"c0", "c1", "c2"}};
}

void check_packed(const std::string& folder, Index samples) {
  const data::RecordSet set(folder);
  REQUIRE(set.size() == samples);
  for (Index i = 0; i < samples; ++i) {
    const data::Record record = set[i];
    const data::ImageRecord image = set.image(i, record);
    CHECK(image.encoded == sample(i).encoded);
    CHECK(image.label == i % 3);
    CHECK(image.name == sample(i).name);
    CHECK(image.class_name == "c" + std::to_string(i % 3));
  }
}

ino_t inode(const std::string& path) {
  struct stat info;
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_ino;
}

}  // namespace

TEST_CASE("pictures are packed in each format, in sequence, with as many in each shard") {
  for (const char* format : {"tfrecord", "recordio", "tar"})
    for (const Index shards : {1, 2, 3, 7})
      for (const int workers : {0, 1, 3}) {
        CAPTURE(format, shards, workers);
        const TemporaryFolder folder;
        data::pack_images(folder.path(), list(format, shards), sample, {.workers = workers});
        check_packed(folder.path(), 7);
        for (const Index size : data::RecordSet(folder.path()).sizes())
          CHECK((size == 7 / shards || size == 7 / shards + 1));
        CHECK(data::PackList::read(folder / "pack.json") == list(format, shards));
      }
}

TEST_CASE("a packing that failed goes on with the shard in which it did") {
  for (const char* format : {"tfrecord", "recordio", "tar"}) {
    CAPTURE(format);
    const TemporaryFolder folder;
    const auto until_five = [](Index i) {
      if (i == 5) throw Error("no picture");
      return sample(i);
    };
    CHECK(error_of([&] { data::pack_images(folder.path(), list(format, 3), until_five, {}); }) == "no picture");
    const std::string ending = std::string(format) == "recordio" ? "rec" : format;
    const std::string first = folder / "00000-of-00003." + ending, second = folder / "00001-of-00003." + ending;
    const std::string last = folder / "00002-of-00003." + ending;
    CHECK(!io::exists(last));
    const ino_t before = inode(first);

    std::multiset<Index> made;
    Index told = 0, before_told = 0;
    const auto counting = [&](Index i) { return made.insert(i), sample(i); };
    data::pack_images(
        folder.path(), list(format, 3), counting,
        {.workers = 0, .progress = [&](Index done, Index skipped) { told = done, before_told = skipped; }});
    check_packed(folder.path(), 7);
    CHECK(inode(first) == before);
    CHECK(made == std::multiset<Index>{4, 5, 6});
    CHECK(told == 7);
    CHECK(before_told == 4);
  }
}

TEST_CASE("a folder is not packed twice in different ways") {
  const TemporaryFolder folder;
  data::pack_images(folder.path(), list("tar", 2), sample);
  CHECK(error_of([&] { data::pack_images(folder.path(), list("tar", 3), sample); }) ==
        "pack_images: '" + folder / "pack.json" + "': is of another packing; pack into another folder");
  CHECK(error_of([&] { data::pack_images(folder / "b", list("zip", 2), sample); }) ==
        "create_records: the format must be tfrecord, recordio, tar or lmdb, not 'zip'");
  CHECK(error_of([&] { data::pack_images(folder / "b", list("tar", 0), sample); }) ==
        "pack_images: shards must be at least 1, not 0");
  CHECK(error_of([&] { data::pack_images(folder / "b", list("tar", 8), sample); }) ==
        "pack_images: 8 shards are more than 7 samples");
  data::pack_images(folder / "none", list("tar", 1, 0), sample);
  CHECK(data::RecordSet(folder / "none").size() == 0);
}

}  // namespace data_records_pack_images
