// Files: read whole, mapped into memory, and replaced atomically.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// Throws Error("op: 'path': action: errno's text").
[[noreturn]] TERN_API void fail_errno(const char* op, const std::string& path, const char* action);

/// An open file. The destructor closes it.
class TERN_API File {
 public:
  /// Opens a regular file for reading. Error if it is a folder, a pipe or a device.
  explicit File(const std::string& path, CallSite here = {}) : File(CallScope(here), path) {}
  File(const std::string& path, int flags, mode_t mode = 0666);
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(File&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
  File& operator=(File&&) = delete;

  const std::string& path() const { return path_; }
  /// The file's size when it was opened for reading.
  Index size() const { return size_; }
  int descriptor() const { return descriptor_; }

  /// Reads up to n bytes; fewer only at the end of the file.
  Index read(void* out, Index n, CallSite here = {});

  void write(const void* data, Index n, CallSite here = {});

  /// Writes everything to the disk. It is the last chance to learn that the disk is full.
  void sync(CallSite here = {});

 private:
  File(const CallScope&, const std::string& path);

  std::string path_;
  int descriptor_;
  Index size_ = 0;
};

TERN_API bool exists(const std::string& path);

/// The folder of path: everything before its last slash.
TERN_API std::string folder_of(const std::string& path);

/// Makes the folder and its parents, if they are missing.
TERN_API void make_folders(const std::string& path, CallSite here = {});

/// The most bytes that the content of a file may become in memory: max_bytes, or if that is negative 8 times the
/// file's size, and at least 1 GB.
inline Index most_content(Index file_size, Index max_bytes) {
  constexpr Index times = 8, at_least = 1'000'000'000;
  if (max_bytes >= 0) return max_bytes;
  return file_size > at_least / times ? times * file_size : at_least;
}

/// The bytes of a file. Error if there are more than max_bytes.
TERN_API std::string read_file(const std::string& path, Index max_bytes, CallSite here = {});

/// A file's bytes in memory. They are read from the disk at first access. Writing to them does not change the file.
class TERN_API MappedFile {
 public:
  explicit MappedFile(const std::string& path, CallSite here = {});
  ~MappedFile() {
    if (data_) ::munmap(data_, std::size_t(size_));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  char* data() const { return data_; }
  Index size() const { return size_; }

 private:
  char* data_ = nullptr;
  Index size_ = 0;
};

/// A file that replaces path, as a whole, at commit(). If anything goes wrong before, such as a full disk or the end of
/// the process, path stays unchanged. A link is followed; an old file's permissions stay. Error if path is a folder, a
/// pipe or a device.
///
/// Until commit() the content is in a temporary file beside path, `path.<16 hexadecimal digits>.tmp`. It is locked
/// while it is written. So the next save of path knows the temporary files of processes that were killed, and removes
/// them.
class TERN_API AtomicFile {
 public:
  [[gnu::cold]] explicit AtomicFile(const std::string& path, CallSite here = {}) : AtomicFile(CallScope(here), path) {}
  ~AtomicFile() {
    if (!committed_) ::unlink(file_.path().c_str());
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, Index n) { file_.write(data, n); }
  /// The temporary file, for a program that writes to it instead.
  const std::string& temporary_path() const { return file_.path(); }

  void commit(CallSite here = {});

 private:
  AtomicFile(const CallScope&, const std::string& path);

  std::string path_;
  File file_;
  bool committed_ = false;
};

/// Error unless an AtomicFile can replace path. A trainer checks where it will save before it trains.
TERN_API void check_writable(const std::string& path, CallSite here = {});

/// Replaces the file's content atomically.
inline void write_file_atomically(const std::string& path, const std::string& content, CallSite here = {}) {
  const CallScope scope(here);
  AtomicFile file(path);
  file.write(content.data(), Index(content.size()));
  file.commit();
}

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "file.ipp"
#endif
