// Several files of records as one data set.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Opens a file of records by its name: .tfrecord (and TensorFlow's NAME-00000-of-00008), .rec, .tar, or a folder with
/// an LMDB.
TERN_API std::unique_ptr<RecordFile> open_records(const std::string& path, CallSite here = {});

/// The files that `shards` names, in order: a file; a folder, for those in it that open_records reads; or a name with a
/// range of numbers, as train-{00000..00007}.tar. Error if there are none.
TERN_API std::vector<std::string> shard_paths(const std::string& shards, CallSite here = {});

namespace detail {
/// True for a folder of shards, which an LMDB's folder is not.
TERN_API bool is_shard_folder(const std::string& path);
}  // namespace detail

struct RecordSetOptions {
  bool skip_bad = false;  ///< leave out damaged records; then every record is read once at first
};

/// The records of all shards, by number. They are found by one pass over each file, or by its index. Several threads
/// read them at once.
///
///   const RecordSet set("packed");
///   auto batches = loader<Cpu>(collated(set, [](const std::vector<Record>& records) { … }), {.batch_size = 32},
///   ShardSampler(set.sizes()));
class TERN_API RecordSet {
 public:
  explicit RecordSet(const std::string& shards, const RecordSetOptions& options = {}, CallSite here = {});

  Index size() const { return first_.back(); }
  /// Error that names file, record and offset if the record is damaged.
  Record operator[](tern::detail::At<Index> i) const;
  /// What it says of a picture.
  ImageRecord image(Index i, const Record& record, CallSite here = {}) const;
  /// "'train.tfrecord', record 3 at byte 4711"
  std::string where(Index i, CallSite here = {}) const;

  /// How many records each shard has.
  std::vector<Index> sizes(CallSite here = {}) const;
  /// How many damaged records were left out.
  Index skipped() const { return skipped_; }

 private:
  struct Shard {
    std::unique_ptr<RecordFile> file;
    std::vector<Index> offsets;
    std::vector<Index> numbers{};  // in the file, if records of it were left out
  };
  /// The shard of a record, and its position there.
  const Shard& find(Index i, RecordPosition& at) const;
  static Index scan(Shard& shard);

  std::vector<Shard> shards_;
  std::vector<Index> first_{0};  // the number of each shard's first record, and of all records
  Index skipped_ = 0;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "record_set.ipp"
#endif
