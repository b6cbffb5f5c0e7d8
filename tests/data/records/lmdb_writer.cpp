#include "support/catch.hpp"

#include <lmdb.h>

#include <tern/data/records/lmdb.hpp>
#include <tern/data/records/lmdb_writer.hpp>
#include <tern/data/records/record_set.hpp>

#include "../../io/temporary_folder.hpp"

namespace data_records_lmdb_writer {
using namespace tern;
using tern_test::error_of;
using tern_test::TemporaryFolder;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// What liblmdb reads from a folder.
Pairs read_by_liblmdb(const std::string& folder) {
  MDB_env* environment = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi database;
  MDB_cursor* cursor = nullptr;
  REQUIRE(mdb_env_create(&environment) == 0);
  REQUIRE(mdb_env_open(environment, folder.c_str(), MDB_RDONLY | MDB_NOLOCK, 0) == 0);
  REQUIRE(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction) == 0);
  REQUIRE(mdb_dbi_open(transaction, nullptr, 0, &database) == 0);
  REQUIRE(mdb_cursor_open(transaction, database, &cursor) == 0);
  Pairs pairs;
  for (MDB_val key, value; mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0;)
    pairs.emplace_back(std::string(static_cast<char*>(key.mv_data), key.mv_size),
                       std::string(static_cast<char*>(value.mv_data), value.mv_size));
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  mdb_env_close(environment);
  return pairs;
}

Pairs read_by_tern(const std::string& folder) {
  const data::LmdbFile file(folder);
  Pairs pairs;
  data::RecordPosition at;
  for (data::Record record; file.next(at, record);) pairs.emplace_back(record.key, record.bytes);
  return pairs;
}

std::string value_of(int i) { return std::string(std::size_t(i * 37 % 9000), char(i)); }

}  // namespace

TEST_CASE("what is written to an LMDB is what liblmdb reads, and what we read") {
  for (const int count : {0, 1, 3, 2000}) {
    const TemporaryFolder folder;
    Pairs pairs;
    data::LmdbWriter writer(folder / "a.lmdb");
    for (int i = 0; i < count; ++i) {
      pairs.emplace_back(std::to_string(i * 7919 % 100003) + std::string(std::size_t(i % 500), 'k'),
                         value_of(i));  // in no order
      writer.write(pairs.back().first, pairs.back().second);
    }
    CHECK(!io::exists(folder / "a.lmdb"));
    writer.close();
    std::sort(pairs.begin(), pairs.end());
    CHECK(read_by_liblmdb(folder / "a.lmdb") == pairs);
    CHECK(read_by_tern(folder / "a.lmdb") == pairs);
    CHECK(folder.file_count() == 1);
  }
}

TEST_CASE("an LMDB grows over several transactions") {
  const TemporaryFolder folder;
  const std::string large(std::size_t(20) << 20, 'x');
  {
    data::LmdbWriter writer(folder / "a.lmdb");
    for (int i = 0; i < 20; ++i) writer.write("key" + std::to_string(100 + i), large);
    writer.write("large", std::string(std::size_t(100) << 20, 'y'));
    writer.close();
  }
  const data::RecordSet set(folder / "a.lmdb");
  REQUIRE(set.size() == 21);
  CHECK(set[7].bytes == large);
  CHECK(set[7].key == "key107");
  CHECK(set[20].bytes.size() == std::size_t(100) << 20);
}

TEST_CASE("pictures in an LMDB have Caffe's keys and messages") {
  const TemporaryFolder folder;
  data::LmdbWriter writer(folder / "a.lmdb");
  writer.write_image({.encoded = "\xff\xd8 jpeg", .label = 3, .name = "cats/1_2.jpg"});
  writer.write_image({.label = -1, .pixels = "abcdef", .channels = 3, .height = 1, .width = 2});
  writer.close();
  const data::RecordSet set(folder / "a.lmdb");
  REQUIRE(set.size() == 2);
  const data::Record first = set[0], second = set[1];
  CHECK(first.key == "00000000_cats/1_2.jpg");
  CHECK(set.image(0, first).encoded == "\xff\xd8 jpeg");
  CHECK(set.image(0, first).label == 3);
  CHECK(set.image(0, first).name == "cats/1_2.jpg");
  CHECK(set.image(0, first).class_name == "cats");
  const data::ImageRecord raw = set.image(1, second);
  CHECK(raw.pixels == "abcdef");
  CHECK(raw.label == -1);
  CHECK((raw.channels == 3 && raw.height == 1 && raw.width == 2));
}

TEST_CASE("an LMDB that is not finished leaves nothing, and one of a killed process is removed") {
  const TemporaryFolder folder;
  {
    data::LmdbWriter writer(folder / "a.lmdb");
    writer.write("a", "1");
    data::LmdbWriter other(folder / "a.lmdb");  // removes nothing that is being written
    CHECK(folder.file_count() == 2);
  }
  CHECK(folder.file_count() == 0);
  io::make_folders(folder / ".a.lmdb.AbC123");
  folder.put(".a.lmdb.AbC123/data.mdb", "half");
  data::LmdbWriter writer(folder / "a.lmdb");
  CHECK(folder.file_count() == 1);
  writer.close();
  CHECK(error_of([&] { data::LmdbWriter again(folder / "a.lmdb"); }) ==
        "LMDB: '" + (folder / "a.lmdb") + "': exists already");
}

TEST_CASE("keys that an LMDB cannot have are refused") {
  const TemporaryFolder folder;
  data::LmdbWriter writer(folder / "a.lmdb");
  writer.write(std::string(511, 'k'), "1");
  CHECK(error_of([&] { writer.write(std::string(512, 'k'), "1"); }) == "LMDB: a key has 1 to 511 bytes, not 512");
  CHECK(error_of([&] { writer.write("", "1"); }) == "LMDB: a key has 1 to 511 bytes, not 0");
  CHECK(error_of([&] { writer.write(std::string(511, 'k'), "2"); }).ends_with("is there already"));
}

TEST_CASE("an Error of a writer of LMDB ends with the user's line", "[data]") {
  const TemporaryFolder folder;
  data::LmdbWriter writer(folder / "new");
  TERN_TEST_LINE(data::LmdbWriter(folder.path()));
  TERN_TEST_LINE(writer.write("", ""));
}

}  // namespace data_records_lmdb_writer
