// Files of records for the tests: recorded ones, and damaged ones.
#pragma once
#include <string>
#include <vector>

#include <tern/data/records/record_set.hpp>
#include <tern/io/gzip.hpp>

#include "../../io/recorded_bytes.hpp"
#include "../../io/temporary_folder.hpp"

namespace tern_test {

/// The case of that name of tests/recorded/records.json.
inline Json recorded_file(const std::string& name) {
  for (const Json& recorded : recorded_cases("records"))
    if (recorded["name"] == name) return recorded;
  throw std::runtime_error("no recorded file " + name);
}
inline std::string file_bytes(const Json& recorded) {
  const TemporaryFolder folder;
  return io::read_gzip(folder.put("x.gz", bytes_of(recorded["file"])), 1 << 24);
}

/// All records of a file, read to its end.
template <class File>
std::vector<data::Record> all_records(const File& file) {
  std::vector<data::Record> records;
  data::RecordPosition at;
  for (data::Record record; file.next(at, record);) records.push_back(record);
  return records;
}

/// Where a file may be damaged without a trace: formats without checksums do not see that a record's bytes changed.
enum class Checks { all, structure };

/// Puts the content, in part damaged, as a file of that name and reads it: with errors, and with skip_bad. Whatever is
/// damaged, nothing that is read was not written, but for changed bytes where the format has no checksum, and every
/// error names file, record and offset. make(content) writes the file and returns what to open.
template <class Make>
void check_damaged(const std::vector<std::string>& expected, const Make& make, const std::string& damaged,
                   Checks checks, Index& noticed) {
  const std::size_t records = expected.size();
  const std::string path = make(damaged);
  bool named = false, by_index = false;
  try {
    const data::RecordSet set(path);
    std::size_t good = 0;
    for (Index i = 0; i < set.size(); ++i) {
      try {
        const data::Record record = set[i];
        if (checks == Checks::all) {
          bool known = false;
          for (const std::string& bytes : expected) known = known || bytes == record.bytes;
          CHECK(known);
        }
        CHECK(record.bytes.size() <= damaged.size());
        ++good;
      } catch (const Error& error) {
        named = true;
        const std::string text = error.what();
        CHECK(text.find(path) != std::string::npos);
        CHECK(text.find("record ") != std::string::npos);
        CHECK(text.find(" at byte ") != std::string::npos);
      }
    }
    CHECK(good <= records);
    CHECK(set.size() <= Index(records) + 1);
  } catch (const Error& error) {
    named = true;
    const std::string index = path.substr(0, path.rfind('.')) + ".idx";  // which may name more than there is
    by_index = std::string(error.what()).find(index) != std::string::npos;
    CHECK((by_index || std::string(error.what()).find(path) != std::string::npos));
  }
  noticed += named;
  try {
    const data::RecordSet set(path, {.skip_bad = true});
    CHECK(set.size() <= Index(records));
    if (named && !by_index) CHECK(set.skipped() > 0);
    for (Index i = 0; i < set.size(); ++i) CHECK_NOTHROW(set[i]);
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find(path) !=
          std::string::npos);  // what is not of the format at all has no records to leave out
  }
}

/// Flips each byte, wholly and in one bit, and cuts the file at each length, or at each `stride`-th. Returns how many
/// flips were noticed.
template <class Make>
Index check_damage(const std::string& whole, const Make& make, Checks checks, std::size_t stride = 1) {
  Index noticed = 0, cuts = 0;
  std::vector<std::string> expected;
  {
    const data::RecordSet set(make(whole));
    for (Index i = 0; i < set.size(); ++i) expected.emplace_back(set[i].bytes);
  }
  for (std::size_t i = 0; i < whole.size(); i += stride)
    for (const int mask : {0xff, 1 << i % 8}) {
      std::string damaged = whole;
      damaged[i] = char(damaged[i] ^ mask);
      CAPTURE(i, mask);
      check_damaged(expected, make, damaged, checks, noticed);
    }
  for (std::size_t n = 0; n < whole.size(); n += stride) {
    CAPTURE(n);
    check_damaged(expected, make, whole.substr(0, n), Checks::all, cuts);
  }
  return noticed;
}

}  // namespace tern_test
