// The functions of record_file.hpp that are not templates.
#pragma once
#include <algorithm>

#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_NOINLINE bool RecordFile::next(RecordPosition& at, Record& record, CallSite here) const {
  const CallScope scope(here);
  const Index end = parse(at, &record);
  if (end < 0) return false;
  // Where records do not lie in sequence, the next one may begin before this one ends.
  used(std::max(end - at.offset, Index(record.bytes.size())));
  at = {at.number + 1, end};
  return true;
}

TERN_NOINLINE bool RecordFile::skip(RecordPosition& at, CallSite here) const {
  const CallScope scope(here);
  const Index end = parse(at, nullptr);
  if (end < 0) return false;
  used(end - at.offset);  // with a record's head the system maps what is about it
  at = {at.number + 1, end};
  return true;
}

TERN_NOINLINE void RecordFile::used(Index bytes) const {
  if (read_.fetch_add(std::max<Index>(bytes, 0), std::memory_order_relaxed) <= resident_) return;
  read_.store(0, std::memory_order_relaxed);
  release();
}

TERN_COLD std::vector<Index> RecordFile::index() const {
  std::vector<Index> offsets;
  for (RecordPosition at;;) {
    const Index offset = at.offset;
    if (!skip(at)) return offsets;
    offsets.push_back(offset);
  }
}

TERN_COLD void RecordFile::recover(RecordPosition& at, CallSite here) const {
  const CallScope scope(here);
  at = {at.number + 1, next_offset(at)};
}

TERN_COLD std::string RecordFile::where(const RecordPosition& at) const {
  return tern::detail::text({"'", path_, "', record ", at.number, " at byte ", at.offset});
}

TERN_COLD void RecordFile::refuse(const RecordPosition& at, const char* rule) const {
  Error::fail(format(), {where(at), ": ", rule});
}

}}}  // namespace tern::data

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_NOINLINE std::string_view MappedRecords::view(const RecordPosition& at, Index offset, Index n) const {
  if (n < 0 || offset < 0 || offset > size() || n > size() - offset) refuse(at, "the file ends within it");
  return {file_.data() + offset, std::size_t(n)};
}

TERN_NOINLINE std::uint32_t MappedRecords::word(const RecordPosition& at, Index offset) const {
  std::uint32_t x;
  std::memcpy(&x, view(at, offset, sizeof x).data(), sizeof x);
  return x;
}

TERN_COLD void MappedRecords::release() const {
  if (file_.data()) ::madvise(file_.data(), std::size_t(file_.size()), MADV_DONTNEED);
}

TERN_NOINLINE std::string_view encoded_of(const char* format, const ImageRecord& image) {
  if (!image.pixels.empty()) Error::fail(format, {"holds pictures as JPEG or PNG files; pixels are for an LMDB"});
  return image.encoded;
}

TERN_NOINLINE void BlockWriter::write(std::string_view bytes) {
  constexpr std::size_t block = std::size_t(1) << 20;
  if (block_.size() + bytes.size() > block) flush();
  if (bytes.size() > block) {
    file_.write(bytes.data(), Index(bytes.size()));
    written_ += Index(bytes.size());
  } else {
    block_.append(bytes);
  }
}

TERN_COLD void BlockWriter::close() {
  flush();
  file_.commit();
}

TERN_NOINLINE void BlockWriter::flush() {
  file_.write(block_.data(), Index(block_.size()));
  written_ += Index(block_.size());
  block_.clear();
}

}}}  // namespace tern::data::detail
