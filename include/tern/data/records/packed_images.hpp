// Pictures in files of records as a data set. tern.hpp does not include this header, because it needs libjpeg and
// libpng (-ljpeg -lpng, or CMake's tern::images).
#pragma once
#include <string>
#include <vector>

#include "../image_file.hpp"
#include "../transformed.hpp"
#include "record_set.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct PackedImagesOptions {
  bool skip_bad = false;                ///< leave out damaged records and pictures; load() then reads each once
  bool allow_damaged = false;           ///< as in ImageOptions
  bool apply_exif_orientation = false;  ///< as in ImageOptions
};

/// Labelled pictures in TFRecord, RecordIO or tar shards, or in an LMDB: what an ImageFolder is for files. Pictures are
/// read when a batch needs them. Shards of other programs are read as well (TFRecordFile::image and the other formats'
/// say what they must hold).
class TERN_API PackedImages {
 public:
  /// `shards` is as in shard_paths. Error if there are fewer records than a pack.json beside them names.
  static PackedImages load(const std::string& shards, const PackedImagesOptions& options = {}, CallSite here = {});

  Index size() const { return Index(records_.size()); }
  /// The classes' names, from pack.json, which pack_images writes; empty without it.
  const std::vector<std::string>& classes() const { return classes_; }
  Index label(Index sample, CallSite here = {}) const;
  /// The picture's file as it was packed, with its name and label. The views hold as long as the set and the record
  /// exist.
  ImageRecord record(Index sample, Record& record, CallSite here = {}) const;
  /// How many samples each shard has, for a ShardSampler.
  std::vector<Index> sizes() const { return sizes_; }
  /// How many damaged records and pictures were left out.
  Index skipped() const { return skipped_; }

  void read(Index sample, Image& image, CallSite here = {}) const;
  void read(Index sample, Image& image, const WindowChoice& choice, CallSite here = {}) const;

  /// [n, 3, H, W] in [0, 1] and [n] labels. Error if the images differ in size.
  std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples, CallSite here = {}) const;

 private:
  std::string where(Index sample) const { return set_.where(records_[std::size_t(sample)]); }
  explicit PackedImages(RecordSet&& set) : set_(std::move(set)) {}

  void leave_out_bad();

  RecordSet set_;
  std::vector<Index> records_, sizes_;  // the records of the samples; the samples of the shards
  std::vector<std::string> classes_;
  Index skipped_ = 0;
  ImageOptions options_;
};

}}}  // namespace tern::data

// Not in the compiled library, so that programs that read no images need neither libjpeg nor libpng.
#include "packed_images.ipp"
