// The functions of packed_images.hpp that are not templates.
#pragma once
#include "../../core/parallel.hpp"
#include "../samplers.hpp"
#include "pack_list.hpp"
#include "packed_images.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD PackedImages PackedImages::load(const std::string& shards, const PackedImagesOptions& options,
                                          CallSite here) {
  const CallScope scope(here);
  PackedImages set(RecordSet(shards, {.skip_bad = options.skip_bad}));
  set.options_ = {options.allow_damaged, options.apply_exif_orientation};
  set.records_ = detail::in_sequence(set.set_.size());
  set.sizes_ = set.set_.sizes();
  set.skipped_ = set.set_.skipped();
  const bool is_folder = detail::is_shard_folder(shards);
  const std::string list = tern::detail::text({is_folder ? shards : io::folder_of(shards), "/pack.json"});
  if (io::exists(list)) {
    const PackList packed = PackList::read(list);
    set.classes_ = packed.classes;
    if (is_folder && !options.skip_bad && packed.samples != set.size())
      Error::fail("PackedImages",
                  {"'", list, "': names ", packed.samples, " samples, but the shards beside it have ", set.size()});
  }
  if (options.skip_bad) set.leave_out_bad();
  return set;
}

TERN_NOINLINE ImageRecord PackedImages::record(Index sample, Record& record, CallSite here) const {
  const CallScope scope(here);
  const Index i = records_[detail::checked_sample({"PackedImages", here}, sample, size())];
  record = set_[i];
  return set_.image(i, record);
}

TERN_NOINLINE Index PackedImages::label(Index sample, CallSite here) const {
  const CallScope scope(here);
  Record record;
  return this->record(sample, record).label;
}

TERN_NOINLINE void PackedImages::read(Index sample, Image& image, CallSite here) const {
  const CallScope scope(here);
  Record held;
  const ImageRecord packed = record(sample, held);
  if (packed.pixels.empty()) return decode_image(where(sample), packed.encoded, image, options_);
  const Index n = packed.channels * packed.height * packed.width;
  if (n != Index(packed.pixels.size()))
    Error::fail("PackedImages",
                {where(sample), ": has ", Index(packed.pixels.size()), " bytes, not the ", n, " of its sizes"});
  float* const out = image.replace(packed.channels, packed.height, packed.width);
  for (Index i = 0; i < n; ++i) out[i] = float(static_cast<unsigned char>(packed.pixels[std::size_t(i)])) * (1 / 255.f);
}

TERN_NOINLINE void PackedImages::read(Index sample, Image& image, const WindowChoice& choice, CallSite here) const {
  const CallScope scope(here);
  Record held;
  const ImageRecord packed = record(sample, held);
  if (packed.pixels.empty()) return decode_image(where(sample), packed.encoded, image, choice, options_);
  read(sample, image);
  const ImageWindow window = choice(image.height(), image.width());
  detail::check_window(where(sample), window, image.height(), image.width());
  transforms::detail::crop(image, window.top, window.left, {window.height, window.width}, 0);
  transforms::detail::resize(image, window.size);
}

TERN_NOINLINE std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> PackedImages::batch(std::span<const Index> samples,
                                                                              CallSite here) const {
  const CallScope scope(here);
  detail::check_samples({"PackedImages", here}, samples, size());
  return Transformed<const PackedImages&, transforms::Compose<>>(*this, transforms::Compose<>(), "PackedImages")
      .batch(samples);
}

TERN_COLD void PackedImages::leave_out_bad() {
  std::vector<char> good(records_.size(), 0);
  tern::detail::parallel_for(size(), 16, [&](Index begin, Index end) {
    Image image;
    for (Index i = begin; i < end; ++i) {
      try {
        read(i, image);
        good[std::size_t(i)] = 1;
      } catch (const Error&) {}
    }
  });
  records_.clear();
  std::size_t i = 0;
  for (Index& shard : sizes_) {
    const std::size_t end = i + std::size_t(shard);
    for (shard = 0; i < end; ++i)
      if (good[i]) records_.push_back(Index(i)), ++shard;
      else ++skipped_;
  }
}

}}}  // namespace tern::data
