#include "support/recorded.hpp"

#include <tern/data/records/lmdb.hpp>
#include <tern/data/records/lmdb_writer.hpp>

#include "files.hpp"
#include "resident.hpp"

namespace data_records_lmdb {
using namespace tern;
using namespace tern_test;

namespace {

std::string put_lmdb(const TemporaryFolder& folder, const std::string& content) {
  io::make_folders(folder / "l");
  folder.put("l/data.mdb", content);
  return folder / "l";
}

}  // namespace

TEST_CASE("an LMDB of Python's lmdb with Caffe's messages is read") {
  const Json recorded = recorded_file("lmdb");
  const TemporaryFolder folder;
  const data::RecordSet set(put_lmdb(folder, file_bytes(recorded)));
  REQUIRE(set.size() == recorded["count"].get<Index>());
  std::string before;
  for (Index i = 0; i < set.size(); ++i) {
    const data::Record record = set[i];
    CHECK(std::string(record.key) > before);
    before = record.key;
    if (i < Index(recorded["records"].size())) {
      CHECK(record.key == bytes_of(recorded["records"][std::size_t(i)][0]));
      CHECK(record.bytes == bytes_of(recorded["records"][std::size_t(i)][1]));
    }
  }
  const data::Record first = set[0], second = set[1], third = set[2], last = set[59];
  CHECK(set.image(0, first).encoded == std::string_view("\xff\xd8 not quite a JPEG \0\1\2", 23));
  CHECK(set.image(0, first).name == "cats/1.jpg");
  CHECK(set.image(1, second).pixels == "abcdef");
  CHECK(set.image(1, second).label == -2);
  CHECK(set.image(2, third).pixels.size() == 6000);
  CHECK(set.image(2, third).width == 120);
  CHECK(set.image(59, last).label == 59);
}

TEST_CASE("a damaged LMDB gives errors, or records of its size") {
  const TemporaryFolder source, folder;
  data::LmdbWriter writer(source / "a");
  for (int i = 0; i < 30; ++i) writer.write("key" + std::to_string(100 + i), std::string(i == 3 ? 5000 : 200, char(i)));
  writer.close();
  const std::string whole = content_of(source / "a/data.mdb");
  const auto make = [&](const std::string& content) { return put_lmdb(folder, content); };
  REQUIRE(data::RecordSet(make(whole)).size() == 30);
  check_damage(whole, make, Checks::structure, 61);
  // Every byte of the pages' headers, and of the two pages about the file.
  std::vector<std::string> expected;
  const data::RecordSet set(source / "a");
  for (Index i = 0; i < set.size(); ++i) expected.emplace_back(set[i].bytes);
  Index noticed = 0;
  for (std::size_t page = 0; page < whole.size(); page += 4096)
    for (std::size_t i = page; i < page + (page < 8192 ? 160 : 80); ++i)
      for (const int mask : {0xff, 1}) {
        std::string damaged = whole;
        damaged[i] = char(damaged[i] ^ mask);
        CAPTURE(i, mask);
        check_damaged(expected, make, damaged, Checks::structure, noticed);
      }
  CHECK(noticed > 300);
}

TEST_CASE("an LMDB with any damaged byte gives errors, or records of its size", "[long]") {
  const TemporaryFolder source, folder;
  data::LmdbWriter writer(source / "a");
  for (int i = 0; i < 30; ++i) writer.write("key" + std::to_string(100 + i), std::string(i == 3 ? 5000 : 200, char(i)));
  writer.close();
  check_damage(
      content_of(source / "a/data.mdb"), [&](const std::string& content) { return put_lmdb(folder, content); },
      Checks::structure);
}

TEST_CASE("what is no LMDB is refused by name") {
  const TemporaryFolder folder;
  for (const std::string& content : {std::string(), std::string("text"), std::string(9000, '\0')})
    CHECK(error_of([&] { data::LmdbFile file(put_lmdb(folder, content)); }) ==
          "LMDB: '" + (folder / "l") + "/data.mdb': does not begin as an LMDB of format 1 and 64 bits does");
}

TEST_CASE("what is left out of an LMDB is what is damaged") {
  const TemporaryFolder source, folder;
  data::LmdbWriter writer(source / "a");
  for (int i = 0; i < 40; ++i) writer.write("key" + std::to_string(100 + i), std::string(200, char(i)));
  writer.close();
  std::string damaged = content_of(source / "a/data.mdb");
  damaged[damaged.find("key105") - 6] ^= 1;  // the size of record 5, in the second 16 bits
  const std::string path = put_lmdb(folder, damaged);
  const data::RecordSet all(path), good(path, {.skip_bad = true});
  CHECK(all.size() == 40);
  CHECK(error_of([&] { all[5]; }).find("record 5 at byte ") != std::string::npos);
  REQUIRE(good.size() == 39);
  CHECK(good.skipped() == 1);
  for (Index i = 0; i < good.size(); ++i) {
    CHECK(good[i].key == "key" + std::to_string(100 + i + (i >= 5)));
    CHECK(good.where(i).find(", record " + std::to_string(i + (i >= 5)) + " at byte ") != std::string::npos);
  }
}

TEST_CASE("an LMDB of which the newer state cannot be read is refused") {
  const TemporaryFolder source, folder;
  data::LmdbWriter writer(source / "a");
  writer.write("key", "value");
  writer.close();
  const std::string whole = content_of(source / "a/data.mdb");
  for (const std::size_t i : {std::size_t(10), std::size_t(16), std::size_t(20), std::size_t(40)}) {
    std::string damaged = whole;
    damaged[4096 + i] = char(damaged[4096 + i] ^ 0x18);
    CHECK(error_of([&] { data::LmdbFile file(put_lmdb(folder, damaged)); }) ==
          "LMDB: '" + (folder / "l") + "/data.mdb': the second of the two pages about the file is damaged");
  }
}

TEST_CASE("keys of an LMDB that do not ascend are damage") {
  const TemporaryFolder source, folder;
  data::LmdbWriter writer(source / "a");
  for (const char* const key : {"a", "b", "c"}) writer.write(key, "value");
  writer.close();
  std::string damaged = content_of(source / "a/data.mdb");
  const std::size_t b = damaged.find("bvalue");
  REQUIRE(b != std::string::npos);
  damaged[b] = 'a';
  const std::string path = put_lmdb(folder, damaged);
  const data::RecordSet set(path);
  CHECK(error_of([&] { set[1]; }).ends_with("its key does not follow the one before it"));
  CHECK(set[2].key == "c");
}

TEST_CASE("what was read of an LMDB does not stay resident") {
  constexpr Index megabyte = Index(1) << 20;
  const TemporaryFolder folder;
  data::LmdbWriter writer(folder / "a");
  for (int i = 0; i < 60; ++i)
    writer.write("key" + std::to_string(100 + i), std::string(std::size_t(megabyte), char(i)));
  writer.close();
  data::LmdbFile file(folder / "a");
  file.set_resident(4 * megabyte);
  const Index before = resident();
  Index most = 0, read = 0;
  data::RecordPosition at;
  for (data::Record record; file.next(at, record);) {
    for (std::size_t i = 0; i < record.bytes.size(); i += 512) read += record.bytes[i] == char(at.number - 1);
    most = std::max(most, resident() - before);
  }
  CHECK(read == 60 * megabyte / 512);
  CHECK(most < 20 * megabyte);
}

}  // namespace data_records_lmdb
