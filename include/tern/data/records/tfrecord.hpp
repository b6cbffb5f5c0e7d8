// TFRecord files, TensorFlow's (https://www.tensorflow.org/tutorials/load_data/tfrecord): records of bytes with
// checksums.
#pragma once
#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Each record is its length in 8 bytes, the length's checksum, the bytes, and their checksum. The checksums are
/// compared when a record is read.
class TERN_API TFRecordFile : public detail::MappedRecords {
 public:
  explicit TFRecordFile(const std::string& path, CallSite here = {}) : TFRecordFile(CallScope(here), path) {}

  const char* format() const override { return "TFRecord"; }

  /// Of a tf.train.Example with image/encoded and image/class/label, and where there are image/filename and
  /// image/class/text; or, as TensorFlow Datasets writes them, with image, label and file_name.
  ImageRecord image(const Record& record) const override;

 protected:
  Index parse(const RecordPosition& at, Record* record) const override;
  Index next_offset(const RecordPosition& at) const override;

 private:
  TFRecordFile(const CallScope&, const std::string& path) : MappedRecords(path) {}

  /// True if a length with its checksum is at the offset.
  bool is_header(Index offset) const;
};

namespace detail {

/// What stands before and behind a record's bytes.
struct TFRecordFrame {
  char head[12];  // the length in 8 bytes, and its checksum
  char tail[4];   // the checksum of the bytes

  TERN_API explicit TFRecordFrame(std::string_view bytes);
};

}  // namespace detail

class TERN_API TFRecordWriter : public RecordWriter {
 public:
  explicit TFRecordWriter(const std::string& path, CallSite here = {}) : TFRecordWriter(CallScope(here), path) {}

  void write(std::string_view bytes, CallSite here = {});
  /// A tf.train.Example with image/encoded, image/class/label, image/class/text, image/filename and image/format.
  void write_image(const ImageRecord& image, CallSite here = {}) override;
  void close(CallSite here = {}) override {
    const CallScope scope(here);
    file_.close();
  }

 private:
  TFRecordWriter(const CallScope&, const std::string& path) : file_(path) {}

  detail::BlockWriter file_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "tfrecord.ipp"
#endif
