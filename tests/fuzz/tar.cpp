#include "records.hpp"

#include <tern/data/records/tar.hpp>

void read(const std::string& path) {
  read_records(tern::data::TarFile(path), [](const tern::data::Record& record) {
    if (tern::data::TarFile::fields(record).empty()) std::abort();  // a sample has members
  });
}
