#include "support/recorded.hpp"

#include <tern/data/records/tar.hpp>

#include "files.hpp"

namespace data_records_tar {
using namespace tern;
using namespace tern_test;

TEST_CASE("tar archives of Python's tarfile and of webdataset are read") {
  int seen = 0;
  for (const char* const name : {"tar ustar", "tar gnu", "tar pax", "tar webdataset"}) {
    CAPTURE(name);
    const Json recorded = recorded_file(name);
    const TemporaryFolder folder;
    const data::TarFile file(folder.put("a.tar", file_bytes(recorded)));
    const auto samples = all_records(file);
    REQUIRE(samples.size() == recorded["samples"].size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Json& sample = recorded["samples"][i];
      CHECK(samples[i].key == sample["key"].get<std::string>());
      const auto fields = data::TarFile::fields(samples[i]);
      REQUIRE(fields.size() == sample["fields"].size());
      for (std::size_t k = 0; k < fields.size(); ++k) {
        CHECK(fields[k].first == sample["fields"][k][0].get<std::string>());
        CHECK(fields[k].second == bytes_of(sample["fields"][k][1]));
        ++seen;
      }
    }
    CHECK(file.image(samples[0]).label == (std::string(name) == "tar webdataset" ? 5 : 3));
    CHECK(file.image(samples[0]).encoded == std::string_view("\xff\xd8 not quite a JPEG \0\1\2", 23));
  }
  CHECK(seen == 3 * 8 + 4);
}

TEST_CASE("samples are written byte for byte as tarfile writes them") {
  const Json recorded = recorded_file("tar written");
  const TemporaryFolder folder;
  data::TarWriter writer(folder / "a.tar");
  for (const Json& sample : recorded["samples"]) {
    std::vector<std::pair<std::string, std::string>> parts;
    for (const Json& field : sample["fields"]) parts.emplace_back(field[0].get<std::string>(), bytes_of(field[1]));
    writer.write(sample["key"].get<std::string>(), data::TarFile::Fields(parts.begin(), parts.end()));
  }
  writer.close();
  // tarfile fills an archive up with zeros to a multiple of 10,240 bytes.
  std::string ours = content_of(folder / "a.tar");
  CHECK(ours.ends_with(std::string(1024, '\0')));
  CHECK(ours.size() % 512 == 0);
  const std::string whole = file_bytes(recorded);
  REQUIRE(ours.size() <= whole.size());
  ours.resize(whole.size(), '\0');
  CHECK(ours == whole);
}

TEST_CASE("samples that are written are read, with long keys too") {
  const TemporaryFolder folder;
  data::TarWriter writer(folder / "a.tar");
  const std::string long_key = std::string(120, 'k');
  writer.write("sample0", {{"jpg", "12345"}, {"cls", "3"}});
  writer.write(long_key, {{"jpg", ""}});
  CHECK(!io::exists(folder / "a.tar"));
  writer.close();
  const data::TarFile file(folder / "a.tar");
  const auto samples = all_records(file);
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].key == "sample0");
  CHECK(samples[1].key == long_key);
  CHECK(data::TarFile::fields(samples[1])[0].second.empty());
  CHECK(error_of([&] { file.image(samples[1]); }) == "tar: sample '" + long_key + "' has no cls, but jpg");
  CHECK(error_of([&] { data::TarWriter(folder / "b.tar").write("a/b.c", {}); }) ==
        "tar: a sample's key must have no dot in its last part: 'a/b.c'");
}

TEST_CASE("pictures in a tar archive keep their label and name") {
  const TemporaryFolder folder;
  data::TarWriter writer(folder / "a.tar");
  writer.write_image({.encoded = "\x89PNG", .label = 12, .name = "cats/1.b.png"});
  writer.write_image({.encoded = "jpeg", .label = -3});
  writer.close();
  const data::TarFile file(folder / "a.tar");
  const auto samples = all_records(file);
  REQUIRE(samples.size() == 2);
  CHECK(samples[1].key == "00000001");
  const data::ImageRecord first = file.image(samples[0]), second = file.image(samples[1]);
  CHECK(
      (first.encoded == "\x89PNG" && first.label == 12 && first.name == "cats/1.b.png" && first.class_name == "cats"));
  CHECK((second.encoded == "jpeg" && second.label == -3 && second.name.empty()));
  CHECK(data::TarFile::fields(samples[0])[0].first == "png");
}

TEST_CASE(
    "a Mac's shard is read: names that begin with a dot are passed, endings are in any case, labels may have white "
    "space") {
  const TemporaryFolder folder;
  data::TarWriter writer(folder / "a.tar");
  const auto put = [&](const char* key, const data::TarFile::Fields& fields) { writer.write(key, fields); };
  // The writer takes no key with a dot, so a letter of the header stands for it.
  put("./Q_0", {{"JPG", "resources"}});
  put("./0", {{"JPG", "first"}, {"Cls", " 3\r\n"}, {"filename.TXT", "Cats/0.JPG"}});
  put("Q", {{"DS_Store", "x"}});
  put("dir/Q_1", {{"png", "resources"}});
  put("dir/1", {{"jpeg", "second"}});
  put("dir/Q_1", {{"cls", "resources"}});
  put("dir/1", {{"cls", "\t-12\n\n"}});
  writer.close();
  std::string bytes = content_of(folder / "a.tar");
  for (std::size_t at = 0; (at = bytes.find('Q', at)) != std::string::npos; ++at) {
    bytes[at] = '.';
    int sum = 0;
    char* const header = bytes.data() + at / 512 * 512;
    for (int i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
    std::snprintf(header + 148, 7, "%06o", unsigned(sum));
  }
  const data::TarFile file(folder.put("b.tar", bytes));
  const auto samples = all_records(file);
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].key == "./0");
  CHECK(data::TarFile::fields(samples[0]) ==
        data::TarFile::Fields{{"jpg", "first"}, {"cls", " 3\r\n"}, {"filename.txt", "Cats/0.JPG"}});
  const data::ImageRecord first = file.image(samples[0]), second = file.image(samples[1]);
  CHECK((first.encoded == "first" && first.label == 3 && first.name == "Cats/0.JPG"));
  CHECK(samples[1].key == "dir/1");
  CHECK((second.encoded == "second" && second.label == -12));
}

TEST_CASE("a sample that is no labelled picture is an Error that names what it has") {
  const TemporaryFolder folder;
  const auto refusal = [&](const data::TarFile::Fields& fields) {
    data::TarWriter writer(folder / "a.tar");
    writer.write("s", fields);
    writer.close();
    const data::TarFile file(folder / "a.tar");
    return error_of([&] { file.image(all_records(file)[0]); });
  };
  CHECK(refusal({{"cls", "3"}, {"webp", "x"}}) == "tar: sample 's' has no jpg, jpeg or png, but cls, webp");
  CHECK(refusal({{"jpg", "x"}, {"json", "{}"}}) == "tar: sample 's' has no cls, but jpg, json");
  for (const std::string label : {"", " ", "cat", "3 4", "3x", "99999999999999999999", "1.5"})
    CHECK(refusal({{"jpg", "x"}, {"cls", label}}) ==
          "tar: sample 's': cls must be the number of a class, not '" + label + "'");
  CHECK(refusal({{"png", ""}, {"cls", "3"}}) == "");  // an empty file is damaged, not missing
}

TEST_CASE("a damaged tar archive gives errors, or records of its size") {
  const TemporaryFolder source, folder;
  data::TarWriter writer(source / "a.tar");
  writer.write("a", {{"jpg", "first"}, {"cls", "1"}});
  writer.write(std::string(101, 'b'), {{"jpg", "second"}});
  writer.close();
  const auto make = [&](const std::string& content) { return folder.put("a.tar", content); };
  check_damage(content_of(source / "a.tar"), make, Checks::structure);
}

TEST_CASE("errors of a tar archive name file, record and offset") {
  const TemporaryFolder folder;
  data::TarWriter writer(folder / "a.tar");
  writer.write("a", {{"jpg", "first"}});
  writer.write("b", {{"jpg", "second"}});
  writer.close();
  const std::string whole = content_of(folder / "a.tar"), start = "tar: '" + (folder / "b.tar") + "', record ";
  std::string damaged = whole;
  damaged[1024 + 5] = 'x';
  const auto refusal = [&](const std::string& content) {
    const data::TarFile file(folder.put("b.tar", content));
    return error_of([&] { all_records(file); });
  };
  CHECK(refusal(damaged) ==
        start + "0 at byte 0: a header does not match its checksum");  // the sample's end is not known
  CHECK(refusal(whole.substr(0, 1024)) == start + "0 at byte 0: the file ends within the archive");
  CHECK(refusal(whole.substr(0, 1024 + 515)) == start + "0 at byte 0: the file ends within a member");
  const data::RecordSet set(folder.put("b.tar", damaged), {.skip_bad = true});
  CHECK(set.skipped() > 0);
}

TEST_CASE("sizes and names of a tar header are read with care") {
  const TemporaryFolder folder;
  data::TarWriter writer(folder / "a.tar");
  writer.write("a", {{"jpg", "12345"}});
  writer.close();
  const std::string whole = content_of(folder / "a.tar");
  const auto with_size = [&](std::string size) {
    std::string file = whole;
    size.resize(12, '\0');
    file.replace(124, 12, size);
    int sum = 0;
    for (int i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(file[std::size_t(i)]);
    char text[8];
    std::snprintf(text, sizeof text, "%06o", unsigned(sum));
    file.replace(148, 7, text, 7);
    return file;
  };
  const auto content = [&](const std::string& file) {
    const data::TarFile archive(folder.put("b.tar", file));
    const auto samples = all_records(archive);
    return std::string(data::TarFile::fields(samples.at(0)).at(0).second);
  };
  CHECK(content(with_size("00000000005")) == "12345");
  CHECK(content(with_size(std::string("\x80\0\0\0\0\0\0\0\0\0\0\5", 12))) == "12345");  // in bytes, as for large files
  for (const std::string& bad : {std::string("77777777777"), std::string("x"),
                                 std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12),
                                 std::string("\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)})
    CHECK(error_of([&] { content(with_size(bad)); }).find("the file ends within a member") != std::string::npos);
}

TEST_CASE("names of one sample may be too long for a field, or not") {
  // In the ustar format a name of 101 bytes is in two fields, where one of 100 is in one.
  const TemporaryFolder folder;
  const std::string parent(93, 'd');
  data::TarWriter writer(folder / "a.tar");
  writer.write(parent + "/aa", {{"jpg", "1"}});
  writer.write("bb", {{"json", "2"}});
  writer.close();
  std::string file = content_of(folder / "a.tar");
  const std::size_t second = 1024;
  file.replace(second, 7, std::string("aa.json", 7));
  file.replace(second + 345, parent.size(), parent);
  int sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(file[second + i]);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", unsigned(sum));
  file.replace(second + 148, 7, digits, 7);
  const data::TarFile archive(folder.put("b.tar", file));
  const auto samples = all_records(archive);
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].key == parent + "/aa");
  CHECK(data::TarFile::fields(samples[0]) == data::TarFile::Fields{{"jpg", "1"}, {"json", "2"}});
}

TEST_CASE("lines of a POSIX header that are none are damage, as the name would be another") {
  const std::string whole = file_bytes(recorded_file("tar pax"));
  const std::size_t line = whole.find(" path=");
  REQUIRE(line != std::string::npos);
  const TemporaryFolder folder;
  const auto refusal = [&](std::size_t i, char c) {
    std::string damaged = whole;
    REQUIRE(damaged[i] != c);
    damaged[i] = c;
    const data::TarFile file(folder.put("a.tar", damaged));
    return error_of([&] { all_records(file); });
  };
  CHECK(all_records(data::TarFile(folder.put("a.tar", whole))).size() == 4);
  for (const auto& [i, c] : {std::pair(line - 1, 'x'), std::pair(line - 1, char(whole[line - 1] ^ 1)),
                             std::pair(line, '_'), std::pair(line + 5, '_')})
    CHECK(refusal(i, c).find("a header of another header is not of lines as 10 path=a") != std::string::npos);
}

TEST_CASE("a tar archive takes no two samples in sequence that would be read as one, and no pixels") {
  const TemporaryFolder folder;
  data::TarWriter writer(folder / "a.tar");
  writer.write("a", {{"jpg", "1"}});
  CHECK(error_of([&] { writer.write("a", {{"cls", "1"}}); }) ==
        "tar: two samples in sequence have the key 'a', so they would be read as one");
  CHECK(error_of([&] { writer.write_image({.pixels = "abc", .channels = 3, .height = 1, .width = 1}); }) ==
        "tar: holds pictures as JPEG or PNG files; pixels are for an LMDB");
}

}  // namespace data_records_tar
