// The functions of record_set.hpp that are not templates.
#pragma once
#include <algorithm>

#include "../../core/parallel.hpp"
#include "../folder.hpp"
#include "lmdb.hpp"
#include "record_set.hpp"
#include "recordio.hpp"
#include "tar.hpp"
#include "tfrecord.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD bool is_lmdb(const std::string& path) { return io::exists(path + "/data.mdb"); }

/// What follows the last dot; of TensorFlow's NAME-00000-of-00008 tfrecord.
TERN_COLD std::string format_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.'), of = name.rfind("-of-");
  if (of != std::string::npos && of + 4 < name.size() &&
      name.find_first_not_of("0123456789", of + 4) == std::string::npos)
    return "tfrecord";
  return dot == std::string::npos ? "" : name.substr(dot + 1);
}

TERN_COLD bool is_shard(const std::string& path) {
  const std::string format = format_of(path);
  return format == "tfrecord" || format == "tfrecords" || format == "rec" || format == "tar" || is_lmdb(path);
}

TERN_COLD bool is_shard_folder(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && !is_lmdb(path);
}

/// The names for a{07..12}b; empty if the name has no such range.
TERN_COLD std::vector<std::string> in_range(const std::string& shards) {
  const std::size_t open = shards.find('{'), dots = shards.find("..", open), close = shards.find('}', dots);
  if (close == std::string::npos) return {};
  const std::string first = shards.substr(open + 1, dots - open - 1), last = shards.substr(dots + 2, close - dots - 2);
  constexpr std::size_t most_digits = 9;
  for (const std::string& number : {first, last})
    if (number.empty() || number.size() > most_digits || number.find_first_not_of("0123456789") != std::string::npos)
      Error::fail("RecordSet", {"'", shards, "': a range of shards is of two numbers, as {00000..00007}"});
  constexpr long most_shards = 1'000'000;
  const long begin = std::atol(first.c_str()), end = std::atol(last.c_str());
  if (end < begin || end - begin >= most_shards)
    Error::fail("RecordSet", {"'", shards, "': a range has 1 to ", most_shards, " shards"});
  std::vector<std::string> paths;
  for (long i = begin; i <= end; ++i) {
    char number[most_digits + 1];
    std::snprintf(number, sizeof number, "%0*ld", int(first.size()), i);
    paths.push_back(shards.substr(0, open) + number + shards.substr(close + 1));
  }
  return paths;
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD std::unique_ptr<RecordFile> open_records(const std::string& path, CallSite here) {
  const CallScope scope(here);
  if (detail::is_lmdb(path)) return std::make_unique<LmdbFile>(path);
  const std::string format = detail::format_of(path);
  if (format == "tfrecord" || format == "tfrecords") return std::make_unique<TFRecordFile>(path);
  if (format == "rec") return std::make_unique<RecordIOFile>(path);
  if (format == "tar") return std::make_unique<TarFile>(path);
  Error::fail("RecordSet", {"'", path, "': is neither a .tfrecord, .rec or .tar file nor an LMDB"});
}

TERN_COLD std::vector<std::string> shard_paths(const std::string& shards, CallSite here) {
  const CallScope scope(here);
  std::vector<std::string> paths = detail::in_range(shards);
  if (!paths.empty()) return paths;
  if (!detail::is_shard_folder(shards)) return {shards};
  for (const std::string& name : detail::names_in("RecordSet", shards))
    if (const std::string path = tern::detail::text({shards, "/", name}); detail::is_shard(path)) paths.push_back(path);
  if (paths.empty()) Error::fail("RecordSet", {"'", shards, "': holds no .tfrecord, .rec or .tar file and no LMDB"});
  return paths;
}

TERN_COLD RecordSet::RecordSet(const std::string& shards, const RecordSetOptions& options, CallSite here) {
  const CallScope scope(here);
  constexpr Index resident = Index(128) << 20;  // the system maps about three times what small reads at random use
  const std::vector<std::string> paths = shard_paths(shards);
  for (const std::string& path : paths) {
    Shard shard{open_records(path), {}};
    shard.file->set_resident(resident / Index(paths.size()));
    if (options.skip_bad) skipped_ += scan(shard);
    else shard.offsets = shard.file->index();
    first_.push_back(first_.back() + Index(shard.offsets.size()));
    shards_.push_back(std::move(shard));
  }
}

/// Finds the records that can be read. Returns how many damaged ones it left out.
TERN_COLD Index RecordSet::scan(Shard& shard) {
  Index bad = 0;
  Record record;
  for (RecordPosition at;;) {
    const RecordPosition here = at;
    try {
      if (!shard.file->next(at, record)) break;
      shard.offsets.push_back(here.offset);
      shard.numbers.push_back(here.number);
    } catch (const Error&) {
      ++bad;
      shard.file->recover(at);
    }
  }
  if (bad == 0) shard.numbers.clear();
  return bad;
}

TERN_NOINLINE Record RecordSet::operator[](Index i) const {
  RecordPosition at;
  const Shard& shard = find(i, at);
  Record record;
  if (!shard.file->next(at, record))
    Error::fail("RecordSet",
                {"'", shard.file->path(), "': its index names a record at byte ", at.offset, ", which is its end"});
  return record;
}

TERN_NOINLINE ImageRecord RecordSet::image(Index i, const Record& record, CallSite here) const {
  const CallScope scope(here);
  RecordPosition at;
  const Shard& shard = find(i, at);
  try {
    return shard.file->image(record);
  } catch (const Error& error) { Error::fail("RecordSet", {shard.file->where(at), ": ", error.without_line()}); }
}

TERN_COLD std::string RecordSet::where(Index i) const {
  RecordPosition at;
  return find(i, at).file->where(at);
}

TERN_COLD std::vector<Index> RecordSet::sizes(CallSite here) const {
  const CallScope scope(here);
  std::vector<Index> sizes;
  for (const Shard& shard : shards_) sizes.push_back(Index(shard.offsets.size()));
  return sizes;
}

TERN_NOINLINE const RecordSet::Shard& RecordSet::find(Index i, RecordPosition& at) const {
  if (i < 0 || i >= size()) Error::fail("RecordSet", {"there is no record ", i, " of ", size()});
  const std::size_t shard = std::size_t(std::upper_bound(first_.begin(), first_.end(), i) - first_.begin()) - 1;
  const Shard& found = shards_[shard];
  const std::size_t kept = std::size_t(i - first_[shard]);
  at = {found.numbers.empty() ? Index(kept) : found.numbers[kept], found.offsets[kept]};
  return found;
}

}}}  // namespace tern::data
