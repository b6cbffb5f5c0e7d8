#include "records.hpp"

#include <tern/data/records/crc32c.hpp>
#include <tern/data/records/tfrecord.hpp>

namespace {

/// The content with right checksums, which no change meets by chance.
std::string with_checksums(std::string content) {
  const auto put = [&](std::size_t at, std::size_t begin, std::size_t n) {
    const std::uint32_t checksum = tern::data::detail::masked_crc32c(std::string_view(content).substr(begin, n));
    std::memcpy(content.data() + at, &checksum, sizeof checksum);
  };
  for (std::size_t at = 0; content.size() - at >= 16;) {
    std::uint64_t length;
    std::memcpy(&length, content.data() + at, sizeof length);
    put(at + 8, at, 8);
    if (length > content.size() - at - 16) break;
    put(at + 12 + length, at + 12, length);
    at += 16 + length;
  }
  return content;
}

}  // namespace

void read(const std::string& path) {
  const std::string content = with_checksums(tern::io::read_file(path, Index(1) << 20));
  const MemoryFile file(content.data(), content.size());
  read_records(tern::data::TFRecordFile(file.path()), size_of(path));
  read_records(tern::data::TFRecordFile(path), size_of(path));
}
