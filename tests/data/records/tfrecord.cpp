#include "support/recorded.hpp"

#include <tern/data/records/example.hpp>
#include <tern/data/records/tfrecord.hpp>

#include "files.hpp"

namespace data_records_tfrecord {
using namespace tern;
using namespace tern_test;

namespace {

std::string small_file() {
  const TemporaryFolder folder;
  data::TFRecordWriter writer(folder / "a.tfrecord");
  writer.write("first");
  writer.write("");
  writer.write(std::string(100, 'x'));
  writer.close();
  return content_of(folder / "a.tfrecord");
}

}  // namespace

TEST_CASE("a TFRecord file of TensorFlow's is read, and written alike") {
  const Json recorded = recorded_file("tfrecord");
  const TemporaryFolder folder;
  const std::string path = folder.put("a.tfrecord", file_bytes(recorded));
  const data::TFRecordFile file(path);
  const auto records = all_records(file);
  REQUIRE(records.size() == recorded["records"].size());
  data::TFRecordWriter writer(folder / "b.tfrecord");
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i].bytes == bytes_of(recorded["records"][i]));
    writer.write(records[i].bytes);
  }
  CHECK(!io::exists(folder / "b.tfrecord"));
  writer.close();
  CHECK(content_of(folder / "b.tfrecord") == content_of(path));

  const data::ImageRecord image = file.image(records[0]);
  CHECK(image.encoded == std::string_view("\xff\xd8 not quite a JPEG \0\1\2", 23));
  CHECK(image.label == 7);
  CHECK(image.name == "cats/1.jpg");
  CHECK(file.image(records[1]).encoded == std::string(5000, 'x'));
  CHECK(file.image(records[1]).label == 0);
  CHECK(error_of([&] { file.image(records[2]); }) == "Example: there is no feature 'image/class/label'");
}

TEST_CASE("pictures in a TFRecord file keep what is known of them") {
  const TemporaryFolder folder;
  data::TFRecordWriter writer(folder / "a.tfrecord");
  writer.write_image({.encoded = "\x89PNG", .label = 3, .name = "cats/1.png", .class_name = "cats"});
  writer.write_image({.encoded = "jpeg", .label = -4});
  writer.close();
  const data::TFRecordFile file(folder / "a.tfrecord");
  const auto records = all_records(file);
  REQUIRE(records.size() == 2);
  const data::ImageRecord first = file.image(records[0]), second = file.image(records[1]);
  CHECK((first.encoded == "\x89PNG" && first.label == 3 && first.name == "cats/1.png" && first.class_name == "cats"));
  CHECK((second.encoded == "jpeg" && second.label == -4 && second.name.empty() && second.class_name.empty()));
  CHECK(data::Example::parse(records[0].bytes).bytes("image/format")[0] == "PNG");
}

TEST_CASE("every damage to a TFRecord file is noticed") {
  const std::string whole = small_file();
  const TemporaryFolder folder;
  const auto make = [&](const std::string& content) { return folder.put("a.tfrecord", content); };
  CHECK(check_damage(whole, make, Checks::all) == Index(2 * whole.size()));
}

TEST_CASE("errors of a TFRecord file name file, record and offset") {
  const std::string whole = small_file();  // records of 21, 16 and 116 bytes
  const TemporaryFolder folder;
  const auto refusal = [&](std::size_t at, std::size_t size = std::string::npos) {
    std::string damaged = whole.substr(0, size);
    if (at < damaged.size()) damaged[at] = char(damaged[at] ^ 1);
    const data::TFRecordFile file(folder.put("a.tfrecord", damaged));
    return error_of([&] { all_records(file); });
  };
  const std::string start = "TFRecord: '" + (folder / "a.tfrecord") + "', record ";
  CHECK(refusal(0) == start + "0 at byte 0: its length does not match the length's checksum");
  CHECK(refusal(21 + 8) == start + "1 at byte 21: its length does not match the length's checksum");
  CHECK(refusal(37 + 12) == start + "2 at byte 37: its bytes do not match their checksum");
  CHECK(refusal(999, 40) == start + "2 at byte 37: the file ends within it");
  CHECK(refusal(999, 100) == start + "2 at byte 37: the file ends within it");
}

TEST_CASE("behind a damaged record of a TFRecord file the next one is found") {
  const std::string whole = small_file();
  const TemporaryFolder folder;
  for (const std::size_t at : {0, 9, 13}) {  // the length, its checksum, the bytes
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ 1);
    const data::RecordSet set(folder.put("a.tfrecord", damaged), {.skip_bad = true});
    CHECK(set.skipped() == 1);
    REQUIRE(set.size() == 2);
    CHECK(set[0].bytes == "");
    CHECK(set[1].bytes == std::string(100, 'x'));
  }
}

}  // namespace data_records_tfrecord
