// The functions of lmdb_writer.hpp that are not templates.
#pragma once
#include <dirent.h>
#include <sys/file.h>

#include <cstdio>
#include <cstdlib>

#include "datum.hpp"
#include "lmdb_writer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// Programs that include this header can pack into an LMDB.
inline const bool can_create_lmdb = [] {
  create_lmdb = [](const std::string& path) -> std::unique_ptr<RecordWriter> {
    return std::make_unique<LmdbWriter>(path);
  };
  return true;
}();

/// Removes the unfinished folders that no process writes to.
TERN_COLD void remove_abandoned_lmdb(const std::string& folder, const std::string& stem) {
  DIR* const open = ::opendir(folder.c_str());
  if (!open) return;  // making a folder in it says why
  while (const dirent* const entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (!name.starts_with(stem) || name.size() != stem.size() + 6) continue;
    const int found = ::openat(::dirfd(open), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (found < 0) continue;
    if (::flock(found, LOCK_EX | LOCK_NB) == 0 && (::unlinkat(found, "data.mdb", 0) == 0 || errno == ENOENT))
      ::unlinkat(::dirfd(open), name.c_str(), AT_REMOVEDIR);
    ::close(found);
  }
  ::closedir(open);
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD LmdbWriter::LmdbWriter(const std::string& folder, CallSite here) : path_(folder) {
  const CallScope scope(here);
  if (io::exists(path_)) Error::fail("LMDB", {"'", path_, "': exists already"});
  const std::string parent = io::folder_of(path_),
                    stem = tern::detail::text({".", path_.substr(path_.rfind('/') + 1), "."});
  detail::remove_abandoned_lmdb(parent, stem);
  std::string made = tern::detail::text({parent, "/", stem, "XXXXXX"});
  if (!::mkdtemp(made.data())) io::fail_errno("LMDB", path_, "cannot be created");
  unfinished_ = made;
  try {
    lock_ = ::open(made.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0) io::fail_errno("LMDB", path_, "cannot be locked");
    check(mdb_env_create(&environment_), "cannot be created");
    // The folder is nobody else's yet, and is synced as a whole at the end.
    check(mdb_env_open(environment_, unfinished_.c_str(), MDB_NOLOCK | MDB_NOSYNC | MDB_NOTLS, 0666),
          "cannot be created");
    begin(0);
  } catch (...) {
    abandon();
    throw;
  }
}

TERN_COLD void LmdbWriter::abandon() {
  if (transaction_) mdb_txn_abort(std::exchange(transaction_, nullptr));
  if (environment_) mdb_env_close(std::exchange(environment_, nullptr));
  if (!unfinished_.empty()) {
    ::unlink((unfinished_ + "/data.mdb").c_str());
    ::rmdir(unfinished_.c_str());
  }
  if (lock_ >= 0) ::close(lock_);
}

TERN_NOINLINE void LmdbWriter::write(std::string_view key, std::string_view bytes, CallSite here) {
  const CallScope scope(here);
  constexpr Index most_pending = Index(64) << 20, longest_key = 511;
  if (key.empty() || Index(key.size()) > longest_key)
    Error::fail("LMDB", {"a key has 1 to ", longest_key, " bytes, not ", Index(key.size())});
  if (pending_ + Index(bytes.size()) > most_pending) {
    commit();
    begin(Index(bytes.size()));
  }
  constexpr Index overhead = 32;  // a node's header and offset, in a page that is half full
  pending_ += overhead + Index(key.size() + bytes.size());
  MDB_val name{key.size(), const_cast<char*>(key.data())}, value{bytes.size(), const_cast<char*>(bytes.data())};
  const bool last = records_ == 0 || key > last_key_;
  const int code = mdb_put(transaction_, database_, &name, &value, MDB_NOOVERWRITE | (last ? MDB_APPEND : 0u));
  if (code == MDB_KEYEXIST) Error::fail("LMDB", {"'", path_, "': key '", std::string(key), "' is there already"});
  check(code, "cannot be written");
  if (last) last_key_ = key;
  ++records_;
}

TERN_NOINLINE void LmdbWriter::write_image(const ImageRecord& image, CallSite here) {
  const CallScope scope(here);
  char number[24];
  std::snprintf(number, sizeof number, "%08lld_", (long long)records_);
  write(number + std::string(image.name), serialize_datum(image));
}

TERN_COLD void LmdbWriter::close(CallSite here) {
  const CallScope scope(here);
  commit();
  check(mdb_env_sync(environment_, 1), "cannot be written");
  mdb_env_close(std::exchange(environment_, nullptr));
  ::chmod(unfinished_.c_str(), 0755);  // mkdtemp's folders are private
  if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) io::fail_errno("LMDB", path_, "cannot be made");
  unfinished_.clear();
}

/// Begins a transaction. Before, the map grows until it has room for the transaction, a record, and a copy of each
/// page, as a page is copied before it changes. The map is only a range of addresses.
TERN_COLD void LmdbWriter::begin(Index bytes) {
  constexpr Index least_free = Index(256) << 20;
  MDB_envinfo info;
  MDB_stat stat;
  check(mdb_env_info(environment_, &info), "cannot be read");
  check(mdb_env_stat(environment_, &stat), "cannot be read");
  const Index needed = 2 * Index(info.me_last_pgno + 1) * Index(stat.ms_psize) + 2 * bytes + least_free;
  if (Index(info.me_mapsize) < needed) check(mdb_env_set_mapsize(environment_, std::size_t(2 * needed)), "cannot grow");
  check(mdb_txn_begin(environment_, nullptr, 0, &transaction_), "cannot be written");
  check(mdb_dbi_open(transaction_, nullptr, 0, &database_), "cannot be written");
  pending_ = 0;
}

TERN_COLD void LmdbWriter::commit() {
  check(mdb_txn_commit(std::exchange(transaction_, nullptr)), "cannot be written");
}

TERN_NOINLINE void LmdbWriter::check(int code, const char* action) const {
  if (code != MDB_SUCCESS) Error::fail("LMDB", {"'", path_, "': ", action, ": ", mdb_strerror(code)});
}

}}}  // namespace tern::data
