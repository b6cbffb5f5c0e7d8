// The functions of tfrecord.hpp that are not templates.
#pragma once
#include "crc32c.hpp"
#include "example.hpp"
#include "tfrecord.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_NOINLINE Index TFRecordFile::parse(const RecordPosition& at, Record* record) const {
  if (at.offset == size()) return -1;
  const std::string_view header = view(at, at.offset, 8);
  if (word(at, at.offset + 8) != detail::masked_crc32c(header))
    refuse(at, "its length does not match the length's checksum");
  Index length;
  std::memcpy(&length, header.data(), sizeof length);
  const std::string_view bytes = view(at, at.offset + 12, length);
  const std::uint32_t checksum = word(at, at.offset + 12 + length);
  if (record) {
    if (checksum != detail::masked_crc32c(bytes)) refuse(at, "its bytes do not match their checksum");
    *record = {.key = {}, .bytes = bytes};
  }
  return at.offset + 12 + length + 4;
}

TERN_COLD bool TFRecordFile::is_header(Index offset) const {
  return offset <= size() - 12 && word({}, offset + 8) == detail::masked_crc32c(view({}, offset, 8));
}

TERN_COLD Index TFRecordFile::next_offset(const RecordPosition& at) const {
  Index offset = at.offset;
  if (is_header(offset)) {
    Index length;
    std::memcpy(&length, view({}, offset, 8).data(), sizeof length);
    if (length >= 0 && length <= size() - offset - 16) return offset + 12 + length + 4;
  }
  do ++offset;
  while (offset < size() && !is_header(offset));
  return offset < size() ? offset : size();
}

TERN_NOINLINE ImageRecord TFRecordFile::image(const Record& record) const {
  const Example example = Example::parse(record.bytes);
  const auto bytes = [&](std::string_view name) {
    const auto& list = example.bytes(name);
    if (list.size() != 1)
      Error::fail("Example", {"feature '", std::string(name), "' has ", Index(list.size()), " values, not one"});
    return list[0];
  };
  const bool plain = !example.has("image/encoded") && example.has("image");
  const std::string_view label = plain ? "label" : "image/class/label", name = plain ? "file_name" : "image/filename";
  const auto& labels = example.integers(label);
  if (labels.size() != 1)
    Error::fail("Example", {"feature '", std::string(label), "' has ", Index(labels.size()), " values, not one"});
  ImageRecord image{.encoded = bytes(plain ? "image" : "image/encoded"), .label = labels[0]};
  if (example.has(name)) image.name = bytes(name);
  if (example.has("image/class/text")) image.class_name = bytes("image/class/text");
  return image;
}

TERN_NOINLINE detail::TFRecordFrame::TFRecordFrame(std::string_view bytes) {
  const std::uint64_t length = bytes.size();
  const std::uint32_t length_checksum = masked_crc32c(bytes_of(length)), checksum = masked_crc32c(bytes);
  std::memcpy(head, &length, sizeof length);
  std::memcpy(head + sizeof length, &length_checksum, sizeof length_checksum);
  std::memcpy(tail, &checksum, sizeof checksum);
}

TERN_NOINLINE void TFRecordWriter::write(std::string_view bytes, CallSite here) {
  const CallScope scope(here);
  const detail::TFRecordFrame frame(bytes);
  file_.write({frame.head, sizeof frame.head});
  file_.write(bytes);
  file_.write({frame.tail, sizeof frame.tail});
}

TERN_NOINLINE void TFRecordWriter::write_image(const ImageRecord& image, CallSite here) {
  const CallScope scope(here);
  Example example;
  example.set("image/encoded", detail::encoded_of("TFRecord", image)).set("image/class/label", image.label);
  example.set("image/format", image.encoded.starts_with("\x89PNG") ? "PNG" : "JPEG");
  if (!image.name.empty()) example.set("image/filename", image.name);
  if (!image.class_name.empty()) example.set("image/class/text", image.class_name);
  write(example.serialize());
}

}}}  // namespace tern::data
