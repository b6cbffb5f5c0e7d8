// Files of records as targets of libFuzzer.
#pragma once
#include <tern/data/records/record_file.hpp>

#include "reader.hpp"

/// A file's size, and at least one.
inline tern::Index size_of(const std::string& path) { return tern::io::File(path).size() + 1; }

/// Reads all records, behind damaged ones too, and what they say of pictures. A file has no more records than bytes.
inline void read_records(const tern::data::RecordFile& file, tern::Index most) {
  tern::data::Record record;
  for (tern::data::RecordPosition at;;) {
    if (at.number > most) std::abort();
    try {
      if (!file.next(at, record)) break;
      tern::Index sum = 0;
      for (const char c : record.bytes) sum += c;  // the sanitizer looks at each byte
      static volatile tern::Index kept;
      kept = sum + tern::Index(record.key.size());
    } catch (const tern::Error&) {
      file.recover(at);
      continue;
    }
    try {
      file.image(record);
    } catch (const tern::Error&) {
    }
  }
  if (tern::Index(file.index().size()) > most) std::abort();
}
