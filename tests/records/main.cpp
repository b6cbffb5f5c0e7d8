// Writes files of TFRecord, tar and LMDB to a folder. reference.py reads them.
#include <tern/data/records/lmdb_writer.hpp>
#include <tern/data/records/records.hpp>

using namespace tern;

namespace {

/// Picture i. reference.py has the same formulas.
std::string picture(int i) {
  std::string bytes = i % 3 ? "\xff\xd8" : "\x89PNG";
  for (int k = 0; k < i * i * 7; ++k) bytes += char((k * k + i) % 251);
  return bytes;
}
Index label(int i) { return i * 1000 - 3; }
std::string name(int i) { return "class" + std::to_string(i % 3) + "/" + std::string(std::size_t(i * 4), 'n') + "\xc3\xa9" + std::to_string(i) + ".jpg"; }

constexpr int count = 40;

}  // namespace

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  for (const char* const format : {"tfrecord", "tar", "lmdb"}) {
    const auto writer = data::create_records(format, folder + "/a." + format);
    for (int i = 0; i < count; ++i) {
      const std::string bytes = picture(i), path = name(i);
      writer->write_image({.encoded = bytes, .label = label(i), .name = path, .class_name = std::string_view(path).substr(0, 6)});
    }
    writer->close();
  }
  data::LmdbWriter raw(folder + "/raw.lmdb");
  raw.write_image({.label = -2, .pixels = "abcdef", .channels = 1, .height = 2, .width = 3});
  raw.write("other", "bytes");
  raw.close();
  data::TFRecordWriter lists(folder + "/lists.tfrecord");
  data::Example example;
  example.set("texts", {"", "a", std::string_view("\0", 1)}).set("floats", std::vector<float>{0.5f, -2}).set("integers", std::vector<Index>{0, -1, INT64_MIN, INT64_MAX});
  lists.write(example.serialize());
  lists.write("");
  lists.close();
  data::TarWriter long_names(folder + "/long.tar");
  for (const int length : {94, 95, 96, 97, 100, 254, 255, 256, 1000}) long_names.write("a/" + std::string(std::size_t(length), 'k'), {{"jpg", ""}, {"json", std::string(std::size_t(length * 5), '1')}});
  long_names.close();
}
