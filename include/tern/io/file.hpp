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

namespace tern::inline TERN_BUILD::io {

/// Throws Error("op: 'path': action: errno's text").
[[noreturn]] TERN_API void fail_errno(const char* op, const std::string& path, const char* action);

/// An open file. The destructor closes it.
class TERN_API File {
 public:
  /// Opens a regular file for reading.
  explicit File(const std::string& path);
  File(const std::string& path, int flags);
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  /// The file's size when it was opened for reading.
  Index size() const { return size_; }
  int descriptor() const { return descriptor_; }

  /// Reads up to n bytes; fewer only at the end of the file.
  Index read(void* out, Index n);

  void write(const void* data, Index n);

  /// Writes everything to the disk and closes the file. It is the last chance to learn that the disk is full.
  void sync_and_close();

 private:
  std::string path_;
  int descriptor_;
  Index size_ = 0;
};

TERN_API bool exists(const std::string& path);

/// The folder of path: everything before its last slash.
TERN_API std::string folder_of(const std::string& path);

/// Makes the folder and its parents, if they are missing.
TERN_API void make_folders(const std::string& path);

/// The bytes of a file. Error if there are more than max_bytes.
TERN_API std::string read_file(const std::string& path, Index max_bytes);

/// A file's bytes in memory. They are read from the disk at first access. Writing to them does not change the file.
class TERN_API MappedFile {
 public:
  explicit MappedFile(const std::string& path);
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
/// the process, path stays unchanged.
class TERN_API AtomicFile {
 public:
  [[gnu::cold]] explicit AtomicFile(const std::string& path)
      : path_(path),
        file_(text({path, ".", Index(::getpid()), ".", Index(next_number()), ".tmp"}), O_WRONLY | O_CREAT | O_TRUNC) {}
  ~AtomicFile() {
    if (!committed_) ::unlink(file_.path().c_str());
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, Index n) { file_.write(data, n); }

  void commit();

 private:
  static unsigned next_number();

  std::string path_;
  File file_;
  bool committed_ = false;
};

/// Replaces the file's content atomically.
inline void write_file_atomically(const std::string& path, const std::string& content) {
  AtomicFile file(path);
  file.write(content.data(), Index(content.size()));
  file.commit();
}

}  // namespace tern::io

#ifndef TERN_COMPILED
#include "file.ipp"
#endif
