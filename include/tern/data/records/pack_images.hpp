// Packs labelled pictures into shards.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "pack_list.hpp"
#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// A picture to pack.
struct PackSample {
  std::string encoded;  ///< a JPEG or PNG file
  Index label = 0;
  std::string name{};  ///< of the file, as cats/0001.jpg
};

struct PackImagesOptions {
  int workers = 2;  ///< threads that make samples
  std::function<void(Index done, Index skipped)>
      progress{};  ///< told of each sample that is written, and how many were there before
};

/// A writer of a file of records: tfrecord, recordio, tar, or, in programs that include
/// tern/data/records/lmdb_writer.hpp, lmdb.
TERN_API std::unique_ptr<RecordWriter> create_records(const std::string& format, const std::string& path,
                                                      CallSite here = {});

/// Packs list.samples pictures into list.shards shards in a folder, FOLDER/00000-of-00008.tar …, and writes pack.json.
/// Shards hold the samples in sequence, and as many each. sample(i) makes sample i; several threads call it at once. A
/// shard that exists is kept, so packing goes on where it was interrupted. Error if the folder holds another packing.
TERN_API void pack_images(const std::string& folder, const PackList& list,
                          const std::function<PackSample(Index)>& sample, const PackImagesOptions& options = {},
                          CallSite here = {});

namespace detail {
/// Creates an LMDB; null unless tern/data/records/lmdb_writer.hpp is included somewhere in the program.
using CreateRecords = std::unique_ptr<RecordWriter> (*)(const std::string& path);
extern TERN_API CreateRecords create_lmdb;
}  // namespace detail

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "pack_images.ipp"
#endif
