// The functions of pack_images.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstdio>
#include <vector>

#include "../prefetch.hpp"
#include "pack_images.hpp"
#include "recordio.hpp"
#include "tar.hpp"
#include "tfrecord.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_INLINE constinit CreateRecords create_lmdb = nullptr;

TERN_COLD std::string shard_name(const PackList& list, Index shard) {
  char name[64];
  std::snprintf(name, sizeof name, "%05lld-of-%05lld.", (long long)shard, (long long)list.shards);
  return name + (list.format == "recordio" ? "rec" : list.format);
}

/// The samples of one shard, made ahead of time.
struct ShardSamples {
  const std::function<PackSample(Index)>& sample;
  Index first;
  std::vector<PackSample> prepared;

  static void make(void* context, Index item, Index slot) {
    auto& self = *static_cast<ShardSamples*>(context);
    self.prepared[std::size_t(slot)] = self.sample(self.first + item);
  }
};

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD std::unique_ptr<RecordWriter> create_records(const std::string& format, const std::string& path,
                                                       CallSite here) {
  const CallScope scope(here);
  if (format == "tfrecord") return std::make_unique<TFRecordWriter>(path);
  if (format == "recordio") return std::make_unique<RecordIOWriter>(path);
  if (format == "tar") return std::make_unique<TarWriter>(path);
  if (format != "lmdb")
    Error::fail("create_records", {"the format must be tfrecord, recordio, tar or lmdb, not '", format, "'"});
  if (!detail::create_lmdb)
    Error::fail("create_records", {"an LMDB is written by programs that include tern/data/records/lmdb_writer.hpp"});
  return detail::create_lmdb(path);
}

TERN_COLD void pack_images(const std::string& folder, const PackList& list,
                           const std::function<PackSample(Index)>& sample, const PackImagesOptions& options,
                           CallSite here) {
  const CallScope scope(here);
  if (list.shards < 1) Error::fail("pack_images", {"shards must be at least 1, not ", list.shards});
  if (list.shards > std::max<Index>(1, list.samples))
    Error::fail("pack_images", {list.shards, " shards are more than ", list.samples, " samples"});
  io::make_folders(folder);
  const std::string list_path = folder + "/pack.json";
  if (!io::exists(list_path)) io::write_file_atomically(list_path, list.json());
  else if (PackList::read(list_path) != list)
    Error::fail("pack_images", {"'", list_path, "': is of another packing; pack into another folder"});
  Index skipped = 0;
  for (Index shard = 0; shard < list.shards; ++shard) {
    const Index first = list.samples * shard / list.shards, count = list.samples * (shard + 1) / list.shards - first;
    const std::string path = tern::detail::text({folder, "/", detail::shard_name(list, shard)});
    if (io::exists(path)) {
      skipped += count;
      if (options.progress) options.progress(first + count, skipped);
      continue;
    }
    const std::unique_ptr<RecordWriter> writer = create_records(list.format, path);
    constexpr int ahead = 16;  // samples for each worker
    detail::ShardSamples samples{sample, first,
                                 std::vector<PackSample>(std::size_t(std::max(1, options.workers) * ahead))};
    detail::Prefetcher prefetcher(&detail::ShardSamples::make, &samples, count, options.workers,
                                  Index(samples.prepared.size()));
    double waited = 0;
    for (Index i = 0; i < count; ++i) {
      const PackSample& made = samples.prepared[std::size_t(prefetcher.next(waited))];
      const std::string class_name =
          made.label >= 0 && made.label < Index(list.classes.size()) ? list.classes[std::size_t(made.label)] : "";
      writer->write_image({.encoded = made.encoded, .label = made.label, .name = made.name, .class_name = class_name});
      prefetcher.release();
      if (options.progress) options.progress(first + i + 1, skipped);
    }
    writer->close();
  }
}

}}}  // namespace tern::data
