// Packs the files of a folder in each format: main SAMPLES PACKED. peers.py knows the keys, names and labels.
#include <algorithm>
#include <cmath>
#include <limits>

#include <tern/data/folder.hpp>
#include <tern/data/records/lmdb_writer.hpp>
#include <tern/data/records/records.hpp>
#include <tern/train/tensorboard.hpp>

using namespace tern;

namespace {

std::string padded(std::size_t i) {
  char text[16];
  std::snprintf(text, sizeof text, "%03zu", i);
  return text;
}

std::string key_of(std::size_t i) {
  std::string folder = i % 3 ? "\xc3\xa4" : "";
  for (int k = 0; k < 40 && i % 3 == 0; ++k) folder += "long/";
  return folder + std::string(i, 'k') + padded(i);
}

std::string name_of(std::size_t i) { return "class" + std::to_string(i % 5) + "/" + std::to_string(i) + ".a.jpg"; }

/// Every second picture of the LMDB is pixels: one row of them.
void write_pictures(const std::string& packed, const std::vector<std::string>& contents) {
  const std::unique_ptr<data::RecordWriter> writers[] = {data::create_records("tar", packed + "/images.tar"),
                                                         data::create_records("lmdb", packed + "/images.lmdb"),
                                                         data::create_records("tfrecord", packed + "/images.tfrecord")};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::string name = name_of(i), pixels = contents[i].empty() ? "x" : contents[i];
    const data::ImageRecord file{
        .encoded = contents[i], .label = Index(i) - 1, .name = name, .class_name = std::string_view(name).substr(0, 6)};
    const data::ImageRecord raw{.label = Index(i) - 1,
                                .name = name,
                                .pixels = pixels,
                                .channels = 1,
                                .height = 1,
                                .width = Index(pixels.size())};
    writers[0]->write_image(file);
    writers[1]->write_image(i % 2 ? file : raw);
    writers[2]->write_image(file);
  }
  for (const auto& writer : writers) writer->close();
}

}  // namespace

int main(int, char** arguments) {
  const std::string samples = arguments[1], packed = arguments[2];
  std::vector<std::string> contents;
  for (const std::string& name : data::detail::names_in("records", samples))
    contents.push_back(io::read_file(samples + "/" + name, 1 << 24));

  data::TFRecordWriter plain(packed + "/plain.tfrecord"), examples(packed + "/examples.tfrecord");
  data::TarWriter fields(packed + "/fields.tar");
  data::LmdbWriter pairs(packed + "/pairs.lmdb");
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::string key = key_of(i), number = std::to_string(i);
    plain.write(contents[i]);
    fields.write(key, {{"bin", contents[i]}, {"seg.txt", number}});
    pairs.write(key, contents[i]);
    data::Example example;
    example.set("none", std::vector<Index>{});
    example.set("integers", std::vector<Index>{-Index(i), std::numeric_limits<Index>::max(),
                                               std::numeric_limits<Index>::min(), Index(i) * 1000});
    example.set("floats", std::vector<float>{float(double(i) * 0.1), -3e30f, 1e-40f});
    example.set("bytes", std::vector<std::string_view>{contents[i], "", key});
    examples.write(example.serialize());
  }
  plain.close();
  examples.close();
  fields.close();
  pairs.close();
  write_pictures(packed, contents);

  train::SummaryWriter events(packed + "/runs");
  for (int i = 0; i < 120; ++i) events.add_scalar("loss/train", std::ldexp(1.0, -i), i * 1000, 1.7e9 + i / 4.0);
  events.add_scalar("größe", 1, 7);
}
