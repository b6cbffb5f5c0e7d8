#include "support/errors.hpp"

#include <fstream>

#include <tern/data/records/record_set.hpp>
#include <tern/data/records/recordio.hpp>
#include <tern/data/records/tar.hpp>
#include <tern/data/records/tfrecord.hpp>

#include "../../io/temporary_folder.hpp"
#include "resident.hpp"

namespace data_records_record_set {
using namespace tern;
using data::RecordSet;
using tern_test::content_of;
using tern_test::error_of;
using tern_test::TemporaryFolder;

namespace {

/// A file with so many records, NAME0, NAME1, …
std::string write_tfrecord(const TemporaryFolder& folder, const std::string& name, int records) {
  data::TFRecordWriter writer(folder / name);
  for (int i = 0; i < records; ++i) writer.write(name + std::to_string(i));
  writer.close();
  return folder / name;
}

/// Samples with two members each.
std::string write_tar(const TemporaryFolder& folder, const std::vector<std::string>& keys) {
  data::TarWriter writer(folder / "a.tar");
  for (const std::string& key : keys) writer.write(key, {{"jpg", "picture " + key}, {"cls", "1"}});
  writer.close();
  return folder / "a.tar";
}

std::vector<std::string> keys_of(const RecordSet& set) {
  std::vector<std::string> keys;
  for (Index i = 0; i < set.size(); ++i) {
    const data::Record record = set[i];
    CHECK(data::TarFile::fields(record).size() == 2);
    keys.emplace_back(record.key);
  }
  return keys;
}

void flip(const std::string& path, std::size_t i) {
  std::string content = content_of(path);
  content[i] = char(content[i] ^ 1);
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

TEST_CASE("shards are a file, a folder or a range of numbers") {
  const TemporaryFolder folder;
  const auto paths = [&](const std::string& name) { return data::shard_paths(folder / name); };
  CHECK(paths("x-{08..11}.tar") ==
        std::vector<std::string>{folder / "x-08.tar", folder / "x-09.tar", folder / "x-10.tar", folder / "x-11.tar"});
  CHECK(paths("x-{3..3}") == std::vector<std::string>{folder / "x-3"});
  CHECK(paths("x.tar") == std::vector<std::string>{folder / "x.tar"});
  for (const char* const bad : {"{a..3}", "{1..}", "{..3}", "{-1..3}", "{0..1234567890}"})
    CHECK(error_of([&] { paths(bad); }) ==
          "RecordSet: '" + (folder / bad) + "': a range of shards is of two numbers, as {00000..00007}");
  for (const char* const bad : {"{3..2}", "{0..999999999}"})
    CHECK(error_of([&] { paths(bad); }) == "RecordSet: '" + (folder / bad) + "': a range has 1 to 1000000 shards");
  CHECK(error_of([&] { data::shard_paths(folder.path()); }) ==
        "RecordSet: '" + folder.path() + "': holds no .tfrecord, .rec or .tar file and no LMDB");
  CHECK(error_of([&] { RecordSet(folder.put("a.txt", "text")); }) ==
        "RecordSet: '" + (folder / "a.txt") + "': is neither a .tfrecord, .rec or .tar file nor an LMDB");
  CHECK(!error_of([&] { RecordSet(folder / "missing-{0..1}.tar"); }).empty());
}

TEST_CASE("the records of a folder are those of its shards, in the order of their names") {
  const TemporaryFolder folder;
  write_tfrecord(folder, "b.tfrecords", 2);
  write_tfrecord(folder, "a-00001-of-00002", 0);
  write_tfrecord(folder, "a-00000-of-00002", 3);
  folder.put("pack.json", "{}");
  data::RecordIOWriter writer(folder / "c.rec");
  writer.write("last");
  writer.close();
  const RecordSet set(folder.path());
  CHECK(set.sizes() == std::vector<Index>{3, 0, 2, 1});
  REQUIRE(set.size() == 6);
  CHECK(set[2].bytes == "a-00000-of-000022");
  CHECK(set[3].bytes == "b.tfrecords0");
  CHECK(set[5].bytes == "last");
  CHECK(set.where(4) == "'" + (folder / "b.tfrecords") + "', record 1 at byte 28");
  CHECK(error_of([&] { set[6]; }) == "RecordSet: there is no record 6 of 6");
  CHECK(error_of([&] { set[-1]; }) == "RecordSet: there is no record -1 of 6");
  const data::Record record = set[3];
  CHECK(error_of([&] {
          set.image(3, record);
        }).starts_with("RecordSet: '" + (folder / "b.tfrecords") + "', record 0 at byte 0: Example: "));
}

TEST_CASE("damaged records are refused by name, or left out and counted") {
  const TemporaryFolder folder;
  const std::string path = write_tfrecord(folder, "a.tfrecord", 5);  // each of 16 + 11 bytes
  flip(path, 2 * 27 + 12);
  const RecordSet all(path), good(path, {.skip_bad = true});
  CHECK(all.size() == 5);
  CHECK(error_of([&] { all[2]; }) ==
        "TFRecord: '" + path + "', record 2 at byte 54: its bytes do not match their checksum");
  CHECK(all[3].bytes == "a.tfrecord3");
  REQUIRE(good.size() == 4);
  CHECK(good.skipped() == 1);
  CHECK(good.sizes() == std::vector<Index>{4});
  CHECK(good[1].bytes == "a.tfrecord1");
  CHECK(good[2].bytes == "a.tfrecord3");
  CHECK(good.where(2) == "'" + path + "', record 3 at byte 81");  // its number in the file
}

TEST_CASE("samples beside a damaged header of a tar archive are left out whole") {
  const TemporaryFolder folder;
  const std::string path = write_tar(folder, {"a", "b", "c", "d"});
  flip(path, 2 * 1024 + 3);  // the first header of b
  CHECK(error_of([&] { RecordSet set(path); }) ==
        "tar: '" + path + "', record 0 at byte 0: a header does not match its checksum");
  const RecordSet set(path, {.skip_bad = true});
  CHECK(keys_of(set) == std::vector<std::string>{"c", "d"});
  CHECK(set.skipped() == 1);
  flip(path, 2 * 1024 + 3);
  flip(path, 6 * 1024 + 3);  // d's
  CHECK(keys_of(RecordSet(path, {.skip_bad = true})) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("of a cut tar archive the samples before the cut are read") {
  const TemporaryFolder folder;
  const std::string path = write_tar(folder, {"a", "b", "c"}), whole = content_of(path);
  for (std::size_t n = 0; n < whole.size(); n += 128) {
    CAPTURE(n);
    folder.put("a.tar", whole.substr(0, n));
    // A sample ends where a member of another one can be read, or where the archive's end is marked.
    std::vector<std::string> expected = {"a", "b", "c"};
    constexpr std::size_t member = 512 + 9;  // with its content
    if (n < 3 * 2048 + 512) expected.resize(n < member ? 0 : (n - member) / 2048);
    CHECK(keys_of(RecordSet(path, {.skip_bad = true})) == expected);
  }
}

TEST_CASE("an archive within a damaged archive is not read as samples") {
  const TemporaryFolder folder;
  const std::string inner = content_of(write_tar(folder, {"x", "y", "z"}));
  data::TarWriter writer(folder / "b.tar");
  writer.write("a", {{"tar", inner}, {"cls", "1"}});
  writer.write("b", {{"tar", inner}, {"cls", "2"}});
  writer.close();
  const std::string path = folder / "b.tar", whole = content_of(path);
  const std::size_t sample = 512 + inner.size() + 1024;
  folder.put("b.tar", whole.substr(0, sample + 512 + inner.size() / 2));
  CHECK(RecordSet(path, {.skip_bad = true}).size() == 0);
  folder.put("b.tar", whole);
  flip(path, 512 + inner.size() + 3);  // the header of a.cls
  const RecordSet set(path, {.skip_bad = true});
  CHECK(set.size() == 0);  // b is beside the damage
  CHECK(set.skipped() == 1);
}

TEST_CASE("what a pass over a file without reading its records maps does not stay resident") {
  constexpr Index megabyte = Index(1) << 20;
  const TemporaryFolder folder;
  data::TFRecordWriter writer(folder / "a.tfrecord");
  const std::string bytes(std::size_t(megabyte / 32), 'a');
  for (int i = 0; i < 60 * 32; ++i) writer.write(bytes);
  writer.close();
  data::TFRecordFile file(folder / "a.tfrecord");
  file.set_resident(4 * megabyte);
  const Index before = tern_test::resident();
  CHECK(file.index().size() == 60 * 32);
  CHECK(tern_test::resident() - before < 20 * megabyte);
}

}  // namespace data_records_record_set
