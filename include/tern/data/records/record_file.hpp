// What the formats of packed data have in common: files of records, read one after the other or at random, and written.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../../io/file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// One record. Its views hold as long as the file is open and the record, or a copy of it, exists.
struct Record {
  std::string_view key;  ///< its name; empty where the format has none
  std::string_view bytes;
  std::shared_ptr<const std::string>
      own{};  ///< the bytes' or the key's memory where they do not lie in the file as they are
};

/// A labelled picture, as a record holds it.
struct ImageRecord {
  std::string_view encoded = "";  ///< a JPEG or PNG file
  Index label = 0;
  std::string_view name = "";        ///< of the file that was packed, as `cats/0001.jpg`; empty if unknown
  std::string_view class_name = "";  ///< empty if unknown
  std::string_view pixels = "";      ///< instead of a file: bytes [channels, height, width]
  Index channels = 0, height = 0, width = 0;
};

/// A place between the records of a file.
struct RecordPosition {
  Index number = 0;  ///< of records before it
  Index offset = 0;  ///< in bytes
};

/// A file of records that is mapped into memory. Several threads read it at once:
///
///   const TFRecordFile file("train.tfrecord");
///   RecordPosition at;
///   for (Record record; file.next(at, record);) use(record.bytes);
///
/// What has been read is not kept resident: at most `resident` bytes are, whatever the file's size. The file must not
/// be cut while it is open.
class TERN_API RecordFile {
 public:
  explicit RecordFile(const std::string& path) : path_(path) {}
  virtual ~RecordFile() = default;

  const std::string& path() const { return path_; }
  virtual const char* format() const = 0;

  /// Reads the record at a position, which moves to the next one; false at the end. Error that names file, record and
  /// offset if it is damaged; then the position does not move.
  bool next(RecordPosition& at, Record& record, CallSite here = {}) const;
  /// The same without the record's content, which is neither read nor checked.
  bool skip(RecordPosition& at, CallSite here = {}) const;
  /// The offsets of all records, by one pass over the file unless it has an index.
  virtual std::vector<Index> index() const;
  /// Moves from a damaged record to the next place where one can be read, or to the end.
  void recover(RecordPosition& at, CallSite here = {}) const;

  /// What the record says of a picture. Error if it is none.
  virtual ImageRecord image(const Record& record) const = 0;

  /// "'train.tfrecord', record 3 at byte 4711"
  std::string where(const RecordPosition& at) const;

  void set_resident(Index bytes) { resident_ = bytes; }

 protected:
  /// Where the record at `at` ends, or -1 at the end of the file. Reads it unless record is null.
  virtual Index parse(const RecordPosition& at, Record* record) const = 0;
  /// The first offset behind the damaged record at `at` where another may begin; the file's size if there is none.
  virtual Index next_offset(const RecordPosition& at) const = 0;
  /// Has the system take the file's pages back. They are read again when they are used.
  virtual void release() const = 0;
  /// Counts bytes that became resident, and releases where they are too many.
  void used(Index bytes) const;

  [[noreturn]] void refuse(const RecordPosition& at, const char* rule) const;

 private:
  std::string path_;
  Index resident_ = Index(64) << 20;
  mutable std::atomic<Index> read_ = 0;  // bytes since the last release
};

/// Writes a file of records, which appears under its name, complete, at close().
class TERN_API RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  virtual void write_image(const ImageRecord& image, CallSite here = {}) = 0;
  virtual void close(CallSite here = {}) = 0;
};

namespace detail {

/// A record file that is one file.
class TERN_API MappedRecords : public RecordFile {
 public:
  explicit MappedRecords(const std::string& path) : MappedRecords(path, path) {}
  /// `path` is for messages where it is a folder.
  MappedRecords(const std::string& path, const std::string& file) : RecordFile(path), file_(file) {}

 protected:
  Index size() const { return file_.size(); }
  /// n bytes of the file. Error if the file ends before.
  std::string_view view(const RecordPosition& at, Index offset, Index n) const;
  std::uint32_t word(const RecordPosition& at, Index offset) const;
  void release() const override;

 private:
  io::MappedFile file_;
};

/// A file that is written in large blocks.
class TERN_API BlockWriter {
 public:
  explicit BlockWriter(const std::string& path) : file_(path) {}
  void write(std::string_view bytes);
  Index written() const { return written_ + Index(block_.size()); }
  void close();

 private:
  void flush();

  io::AtomicFile file_;
  std::string block_;
  Index written_ = 0;
};

/// cats for cats/0001.jpg; empty without a folder.
inline std::string_view first_folder(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

/// The picture's file. Error if it is bytes of pixels, for which the format has no message.
TERN_API std::string_view encoded_of(const char* format, const ImageRecord& image);

/// The bytes of a number in memory, which is the order of the formats.
template <class T>
std::string_view bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof x};
}

}  // namespace detail

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "record_file.ipp"
#endif
