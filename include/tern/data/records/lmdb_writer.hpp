// Writes LMDB folders. tern.hpp does not include this header, because it needs liblmdb (-llmdb, or CMake's tern::lmdb).
#pragma once
#include <lmdb.h>

#include "pack_images.hpp"
#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Writes a folder with an LMDB, which appears under its name, complete, at close(). Only the thread that made it may
/// use it. Until then it is a hidden folder beside, .NAME.XXXXXX, which is locked: the next writer of NAME removes
/// those of processes that were killed.
class TERN_API LmdbWriter : public RecordWriter {
 public:
  /// Error if there is something at the path.
  explicit LmdbWriter(const std::string& folder, CallSite here = {});
  ~LmdbWriter() override { abandon(); }
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  /// Error if the key is empty, has more than 511 bytes, or is there already.
  void write(std::string_view key, std::string_view bytes, CallSite here = {});
  /// A Caffe Datum, with the key 00000000_NAME, 00000001_NAME, … as Caffe's convert_imageset writes it.
  void write_image(const ImageRecord& image, CallSite here = {}) override;
  void close(CallSite here = {}) override;

 private:
  /// Removes what was written, unless it is complete.
  void abandon();
  void begin(Index bytes);
  void commit();
  void check(int code, const char* action) const;

  std::string path_, unfinished_;
  int lock_ = -1;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi database_ = 0;
  std::string last_key_;
  Index records_ = 0, pending_ = 0;  // bytes of this transaction
};

}}}  // namespace tern::data

// Not in the compiled library, so that programs that write no LMDB do not need liblmdb.
#include "lmdb_writer.ipp"
