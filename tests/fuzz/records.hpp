// Files of records as targets of libFuzzer.
#pragma once
#include <tern/data/records/record_file.hpp>

#include "reader.hpp"

using tern::Index;

/// Reads each byte. What lies about a mapped file no sanitizer knows, so nothing may be longer than the file.
inline void look_at(std::string_view bytes, Index size) {
  if (Index(bytes.size()) > size) std::abort();
  Index sum = 0;
  for (const char c : bytes) sum += c;
  static volatile Index kept;
  kept = sum;
}

/// Reads all records, behind damaged ones too, and what they say of pictures. A file has at most one record for each
/// byte, and one damaged one at its end.
inline void read_records(const tern::data::RecordFile& file, Index size) {
  tern::data::Record record;
  for (tern::data::RecordPosition at;;) {
    if (at.number > size + 1) std::abort();
    try {
      if (!file.next(at, record)) break;
    } catch (const tern::Error&) {
      file.recover(at);
      continue;
    }
    look_at(record.bytes, size);
    look_at(record.key, size);
    try {
      const tern::data::ImageRecord image = file.image(record);
      for (const std::string_view part : {image.encoded, image.name, image.class_name, image.pixels})
        look_at(part, size);
    } catch (const tern::Error&) {}
  }
  if (Index(file.index().size()) > size + 1) std::abort();
}

inline Index size_of(const std::string& path) { return tern::io::File(path).size(); }
