// Reads a file of records as far as it can be read.
#pragma once
#include "reader.hpp"

#include <tern/data/records/record_file.hpp>

/// Every record in sequence, what it says of a picture, and behind damage the next one; then the index.
template <class File, class F>
void read_records(const File& file, const F& use) {
  tern::data::RecordPosition at;
  tern::data::Record record;
  for (bool more = true; more;) {
    try {
      more = file.next(at, record);
    } catch (const tern::Error&) {
      file.recover(at);
      continue;
    }
    if (!more) break;
    std::size_t sum = 0;
    for (const char c : record.bytes) sum += static_cast<unsigned char>(c);
    for (const char c : record.key) sum += static_cast<unsigned char>(c);
    static_cast<void>(*const_cast<volatile std::size_t*>(&sum));
    try {
      use(record);
      file.image(record);
    } catch (const tern::Error&) {
    }
  }
  file.index();
}
template <class File>
void read_records(const File& file) {
  read_records(file, [](const tern::data::Record&) {});
}
