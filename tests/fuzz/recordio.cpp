#include "records.hpp"

#include <tern/data/records/recordio.hpp>

void read(const std::string& path) { read_records(tern::data::RecordIOFile(path), size_of(path)); }
