#include "records.hpp"

#include <tern/data/records/tfrecord.hpp>

void read(const std::string& path) { read_records(tern::data::TFRecordFile(path)); }
