#include "support/recorded.hpp"

#include <tern/data/records/recordio.hpp>

#include "files.hpp"

namespace data_records_recordio {
using namespace tern;
using namespace tern_test;

TEST_CASE("a RecordIO file as MXNet documents it is read, and written alike") {
  const Json recorded = recorded_file("recordio");
  for (const bool indexed : {false, true}) {
    const TemporaryFolder folder;
    const std::string path = folder.put("a.rec", file_bytes(recorded)), index = recorded["index"];
    if (indexed) folder.put("a.idx", index);
    const data::RecordIOFile file(path);
    CHECK(file.index().size() == 4);
    const auto records = all_records(file);
    REQUIRE(records.size() == recorded["records"].size());
    data::RecordIOWriter writer(folder / "b.rec");
    for (std::size_t i = 0; i < records.size(); ++i) {
      CHECK(records[i].bytes == bytes_of(recorded["records"][i]));
      CHECK(file.image(records[i]).label == recorded["labels"][i].get<Index>());
      writer.write(records[i].bytes);
    }
    writer.close();
    CHECK(content_of(folder / "b.rec") == content_of(path));
    CHECK(content_of(folder / "b.idx") == index);
    CHECK(file.image(records[1]).encoded == "labels");
    const data::RecordSet set(path);
    REQUIRE(set.size() == 4);
    CHECK(set[2].bytes == bytes_of(recorded["records"][2]));
  }
}

TEST_CASE("names of packed pictures are in a list beside the RecordIO file") {
  const TemporaryFolder folder;
  data::RecordIOWriter writer(folder / "a.rec");
  for (int i = 0; i < 3; ++i)
    writer.write_image({.encoded = "picture", .label = i, .name = "class " + std::to_string(i) + "/a.jpg"});
  writer.close();
  CHECK(content_of(folder / "a.lst") == "0\t0\tclass 0/a.jpg\n1\t1\tclass 1/a.jpg\n2\t2\tclass 2/a.jpg\n");
  const data::RecordSet set(folder / "a.rec");
  const data::Record record = set[2];
  CHECK(set.image(2, record).name == "class 2/a.jpg");
  CHECK(set.image(2, record).class_name == "class 2");
  CHECK(error_of([&] {
          data::RecordIOFile(folder.put("b.rec", "")), folder.put("b.lst", "x\n"), data::RecordIOFile(folder / "b.rec");
        }) == "RecordIO: '" + (folder / "b.lst") +
                  "': a line must be a number, labels and a name with tabs between, not 'x'");
}

TEST_CASE("magic numbers within a record do not end it") {
  const TemporaryFolder folder;
  const std::string magic("\x0a\x23\xd7\xce", 4);
  const std::vector<std::string> records = {
      magic, magic + magic, "1234" + magic, magic + "1", "1" + magic, magic + "1234" + magic, "", "1", "12", "123"};
  data::RecordIOWriter writer(folder / "a.rec");
  for (const std::string& record : records) writer.write(record);
  writer.close();
  const auto read = all_records(data::RecordIOFile(folder / "a.rec"));
  REQUIRE(read.size() == records.size());
  const data::RecordIOFile file(folder / "a.rec");
  const auto again = all_records(file);
  for (std::size_t i = 0; i < records.size(); ++i) CHECK(again[i].bytes == records[i]);
}

TEST_CASE("a damaged RecordIO file gives errors, or records of its size") {
  const TemporaryFolder source, folder;
  data::RecordIOWriter writer(source / "a.rec");
  writer.write("first");
  writer.write(std::string("\x0a\x23\xd7\xce", 4) + "cut");
  writer.write(std::string(50, 'x'));
  writer.close();
  const std::string whole = content_of(source / "a.rec");
  const auto make = [&](const std::string& content) { return folder.put("a.rec", content); };
  check_damage(whole, make, Checks::structure);
  folder.put("a.idx", content_of(source / "a.idx"));
  check_damage(whole, make, Checks::structure);
}

TEST_CASE("a damaged index is refused by name") {
  const TemporaryFolder folder;
  folder.put("a.rec", file_bytes(recorded_file("recordio")));
  for (const char* const line : {"0", "0\t", "0\tx", "0\t-4", "0\t99999"}) {
    folder.put("a.idx", std::string(line) + "\n");
    CHECK(error_of([&] {
            data::RecordSet(folder / "a.rec");
          }).starts_with("RecordIO: '" + (folder / "a.idx") + "': a line must be"));
  }
  folder.put("a.idx", "0\t4\n");  // not where a record begins
  const data::RecordSet set(folder / "a.rec");
  CHECK(error_of([&] { set[0]; }) ==
        "RecordIO: '" + (folder / "a.rec") + "', record 0 at byte 4: it does not begin with the format's magic number");
}

TEST_CASE("what is no image record is refused") {
  const TemporaryFolder folder;
  const data::RecordIOFile file(folder.put("a.rec", ""));
  const auto refusal = [&](const std::string& bytes) {
    return error_of([&] { file.image({.key = {}, .bytes = bytes}); });
  };
  CHECK(refusal("short") == "RecordIO: a record of 5 bytes has no header of an image");
  CHECK(refusal(std::string("\xff\xff\xff\xff", 4) + std::string(20, '\0') + "1234") ==
        "RecordIO: a record is too short for its 4294967295 labels");
  const float half = 0.5f;
  CHECK(refusal(std::string(4, '\0') + std::string(reinterpret_cast<const char*>(&half), 4) + std::string(16, '\0')) ==
        "RecordIO: a label must be the number of a class, not 0.5");
}

TEST_CASE("a RecordIO file takes labels that a float holds, and no pixels") {
  const TemporaryFolder folder;
  data::RecordIOWriter writer(folder / "a.rec");
  writer.write_image({.encoded = "jpeg", .label = 1 << 24});
  CHECK(error_of([&] { writer.write_image({.encoded = "jpeg", .label = (1 << 24) + 1}); }) ==
        "RecordIO: a label is stored as a float, which cannot hold 16777217");
  CHECK(error_of([&] { writer.write_image({.pixels = "abc", .channels = 3, .height = 1, .width = 1}); }) ==
        "RecordIO: holds pictures as JPEG or PNG files; pixels are for an LMDB");
}

}  // namespace data_records_recordio
