// The functions of recordio.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "recordio.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

constexpr unsigned recordio_length_bits = 29;
enum class RecordPart : unsigned { whole = 0, first = 1, middle = 2, last = 3 };

/// a/b.rec to a/b.
TERN_INLINE std::string recordio_stem(const std::string& path) {
  return path.ends_with(".rec") ? path.substr(0, path.size() - 4) : path;
}

constexpr Index most_list_bytes = Index(1) << 32;

/// Calls f on each line of a file, without its end; does nothing if there is no file.
template <class F>
void each_line(const std::string& path, const F& f) {
  if (!io::exists(path)) return;
  const std::string text = io::read_file(path, most_list_bytes);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) f(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Lines of NAME.lst: the number, labels, and the name, with tabs between.
TERN_COLD RecordIOFile::RecordIOFile(const CallScope&, const std::string& path) : MappedRecords(path) {
  const std::string list = detail::recordio_stem(path) + ".lst";
  detail::each_line(list, [&](const std::string& line) {
    const std::size_t tab = line.rfind('\t');
    char* end = nullptr;
    const Index number = std::strtoll(line.c_str(), &end, 10);
    if (tab == std::string::npos || end == line.c_str() || *end != '\t')
      Error::fail("RecordIO",
                  {"'", list, "': a line must be a number, labels and a name with tabs between, not '", line, "'"});
    names_.emplace_back(number, line.substr(tab + 1));
  });
  std::sort(names_.begin(), names_.end());
}

TERN_COLD std::vector<Index> RecordIOFile::index() const {
  const std::string path = detail::recordio_stem(this->path()) + ".idx";
  if (!io::exists(path)) return RecordFile::index();
  std::vector<Index> offsets;
  detail::each_line(path, [&](const std::string& line) {
    const std::size_t tab = line.find('\t');
    const char* const begin = tab == std::string::npos ? "" : line.c_str() + tab + 1;
    char* end = nullptr;
    const Index offset = std::strtoll(begin, &end, 10);
    if (end == begin || *end || offset < 0 || offset >= size())
      Error::fail("RecordIO", {"'", path, "': a line must be a number, a tab and an offset below the file's ", size(),
                               " bytes, not '", line, "'"});
    offsets.push_back(offset);
  });
  return offsets;
}

TERN_NOINLINE Index RecordIOFile::parse(const RecordPosition& at, Record* record) const {
  using detail::RecordPart;
  Index offset = at.offset;
  if (offset == size()) return -1;
  std::string joined;
  for (RecordPart expected = RecordPart::first;; expected = RecordPart::middle) {
    if (word(at, offset) != detail::recordio_magic) refuse(at, "it does not begin with the format's magic number");
    const std::uint32_t head = word(at, offset + 4);
    const RecordPart part = RecordPart(head >> detail::recordio_length_bits);
    const Index length = head & ((std::uint32_t(1) << detail::recordio_length_bits) - 1), padded = (length + 3) / 4 * 4;
    const bool begins = expected == RecordPart::first, ends = part == RecordPart::whole || part == RecordPart::last;
    if (begins ? part != RecordPart::whole && part != RecordPart::first
               : part != RecordPart::middle && part != RecordPart::last)
      refuse(at, "its parts are not in sequence");
    const std::string_view bytes = view(at, offset + 8, padded).substr(0, std::size_t(length));
    if (record && part == RecordPart::whole) *record = {.key = {}, .bytes = bytes};
    if (record && part != RecordPart::whole) {
      if (!begins) joined += detail::bytes_of(detail::recordio_magic);
      joined += bytes;
    }
    offset += 8 + padded;
    if (!ends) continue;
    if (record && part == RecordPart::last) {
      record->own = std::make_shared<const std::string>(std::move(joined));
      record->key = {};
      record->bytes = *record->own;
    }
    return offset;
  }
}

TERN_COLD Index RecordIOFile::next_offset(const RecordPosition& at) const {
  for (Index offset = at.offset / 4 * 4 + 4; offset <= size() - 8; offset += 4)
    if (word({}, offset) == detail::recordio_magic && word({}, offset + 4) >> detail::recordio_length_bits <= 1)
      return offset;
  return size();
}

TERN_NOINLINE ImageRecord RecordIOFile::image(const Record& record) const {
  detail::ImageRecordHeader header;
  if (record.bytes.size() < sizeof header)
    Error::fail("RecordIO", {"a record of ", Index(record.bytes.size()), " bytes has no header of an image"});
  std::memcpy(&header, record.bytes.data(), sizeof header);
  std::string_view rest = record.bytes.substr(sizeof header);
  float label = header.label;
  if (header.labels > 0) {
    if (header.labels > rest.size() / sizeof(float))
      Error::fail("RecordIO", {"a record is too short for its ", Index(header.labels), " labels"});
    std::memcpy(&label, rest.data(), sizeof label);
    rest.remove_prefix(header.labels * sizeof(float));
  }
  if (!(std::abs(label) < 1e9f) || std::nearbyint(label) != label)
    Error::fail("RecordIO", {"a label must be the number of a class, not ", double(label)});
  ImageRecord image{.encoded = rest, .label = Index(label)};
  const auto name = std::lower_bound(names_.begin(), names_.end(), Index(header.number),
                                     [](const auto& entry, Index number) { return entry.first < number; });
  if (name != names_.end() && name->first == Index(header.number)) image.name = name->second;
  image.class_name = detail::first_folder(image.name);
  return image;
}

TERN_COLD RecordIOWriter::RecordIOWriter(const CallScope&, const std::string& path)
    : stem_(detail::recordio_stem(path)), file_(path) {}

TERN_NOINLINE void RecordIOWriter::write(std::string_view bytes, CallSite here) {
  const CallScope scope(here);
  if (bytes.size() >> detail::recordio_length_bits)
    Error::fail("RecordIO", {"a record has less than 536,870,912 bytes, not ", Index(bytes.size())});
  using detail::RecordPart;
  index_ += tern::detail::text({records_++, "\t", file_.written(), "\n"});
  const auto write_part = [&](RecordPart part, std::string_view content) {
    const std::uint32_t head = std::uint32_t(part) << detail::recordio_length_bits | std::uint32_t(content.size());
    file_.write(detail::bytes_of(detail::recordio_magic));
    file_.write(detail::bytes_of(head));
    file_.write(content);
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    if (word != detail::recordio_magic) continue;
    write_part(begin ? RecordPart::middle : RecordPart::first, bytes.substr(begin, i - begin));
    begin = i + 4;
  }
  write_part(begin ? RecordPart::last : RecordPart::whole, bytes.substr(begin));
  file_.write(std::string_view("\0\0\0", (4 - bytes.size() % 4) % 4));
}

TERN_NOINLINE void RecordIOWriter::write_image(const ImageRecord& image, CallSite here) {
  const CallScope scope(here);
  constexpr Index most_exact = Index(1) << 24;
  if (image.label < -most_exact || image.label > most_exact)
    Error::fail("RecordIO", {"a label is stored as a float, which cannot hold ", image.label});
  const std::string_view encoded = detail::encoded_of("RecordIO", image);
  const detail::ImageRecordHeader header{0, float(image.label), std::uint64_t(records_), 0};
  if (!image.name.empty())
    list_ += tern::detail::text({records_, "\t", image.label, "\t", std::string(image.name), "\n"});
  std::string record(detail::bytes_of(header));
  record += encoded;
  write(record);
}

TERN_COLD void RecordIOWriter::close(CallSite here) {
  const CallScope scope(here);
  io::write_file_atomically(stem_ + ".idx", index_);
  if (!list_.empty()) io::write_file_atomically(stem_ + ".lst", list_);
  file_.close();
}

}}}  // namespace tern::data
