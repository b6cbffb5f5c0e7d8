// RecordIO files, MXNet's (https://mxnet.apache.org/versions/1.9.1/api/faq/recordio): records of bytes, each at a magic
// number.
#pragma once
#include <utility>
#include <vector>

#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Each part of a record is the magic number, a word of 3 bits for its place in the record and 29 for its length, the
/// bytes, and zeros up to a multiple of 4. Where the bytes themselves hold the magic number, a part ends and another
/// begins. Beside NAME.rec there may be NAME.idx with the offsets, and NAME.lst with the names of what was packed.
class TERN_API RecordIOFile : public detail::MappedRecords {
 public:
  explicit RecordIOFile(const std::string& path, CallSite here = {}) : RecordIOFile(CallScope(here), path) {}

  const char* format() const override { return "RecordIO"; }
  /// From NAME.idx, if there is one.
  std::vector<Index> index() const override;

  /// Of MXNet's image records: a header with label and number, then the file. Of several labels the first one counts.
  ImageRecord image(const Record& record) const override;

 protected:
  Index parse(const RecordPosition& at, Record* record) const override;
  Index next_offset(const RecordPosition& at) const override;

 private:
  RecordIOFile(const CallScope&, const std::string& path);

  std::vector<std::pair<Index, std::string>> names_;  // by number
};

class TERN_API RecordIOWriter : public RecordWriter {
 public:
  /// Writes NAME.idx and NAME.lst beside path, which is NAME.rec.
  explicit RecordIOWriter(const std::string& path, CallSite here = {}) : RecordIOWriter(CallScope(here), path) {}

  void write(std::string_view bytes, CallSite here = {});
  void write_image(const ImageRecord& image, CallSite here = {}) override;
  void close(CallSite here = {}) override;

 private:
  RecordIOWriter(const CallScope&, const std::string& path);

  std::string stem_, index_, list_;
  detail::BlockWriter file_;
  Index records_ = 0;
};

namespace detail {

inline constexpr std::uint32_t recordio_magic = 0xced7230a;

/// What is before a picture's bytes.
struct ImageRecordHeader {
  std::uint32_t labels;  // how many floats follow the header; 0: `label` is the only one
  float label;
  std::uint64_t number, second_number;
};
static_assert(sizeof(ImageRecordHeader) == 24);

}  // namespace detail

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "recordio.ipp"
#endif
