// Files: read whole, mapped into memory, and replaced atomically.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "../core/error.hpp"

namespace tern::inline TERN_BUILD::io {

/// Error("op: 'path': action: what errno says").
[[noreturn, gnu::noinline, gnu::cold]] inline void fail_errno(const char* op, const std::string& path,
                                                              const char* action) {
  const int code = errno;
  fail(op, {"'", path, "': ", action, ": ", std::strerror(code)});
}

/// An open file; closed at the end of its life.
class File {
 public:
  /// Opens a regular file for reading.
  [[gnu::noinline, gnu::cold]] explicit File(const std::string& path) : File(path, O_RDONLY) {
    struct stat info;
    if (fstat(descriptor_, &info) != 0) fail_errno("file", path_, "cannot be examined");
    if (!S_ISREG(info.st_mode)) fail("file", {"'", path_, "': is not a regular file"});
    size_ = Index(info.st_size);
  }
  [[gnu::noinline, gnu::cold]] File(const std::string& path, int flags) : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail_errno("file", path_, "cannot be opened");
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  /// Bytes in the file when it was opened for reading.
  Index size() const { return size_; }
  int descriptor() const { return descriptor_; }

  /// Reads up to n bytes; fewer only at the end of the file.
  [[gnu::noinline, gnu::cold]] Index read(void* out, Index n) {
    Index done = 0;
    while (done < n) {
      const ssize_t got = ::read(descriptor_, static_cast<char*>(out) + done, std::size_t(n - done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_errno("file", path_, "cannot be read");
      if (got == 0) break;
      done += got;
    }
    return done;
  }

  [[gnu::noinline, gnu::cold]] void write(const void* data, Index n) {
    for (Index done = 0; done < n;) {
      const ssize_t put = ::write(descriptor_, static_cast<const char*>(data) + done, std::size_t(n - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail_errno("file", path_, "cannot be written");
      done += put;
    }
  }

  /// Brings what was written to the disk and closes the file: the last chance to learn that it did not fit.
  [[gnu::noinline, gnu::cold]] void sync_and_close() {
    if (::fsync(descriptor_) != 0) fail_errno("file", path_, "cannot be brought to the disk");
    if (::close(std::exchange(descriptor_, -1)) != 0) fail_errno("file", path_, "cannot be closed");
  }

 private:
  std::string path_;
  int descriptor_;
  Index size_ = 0;
};

[[gnu::noinline, gnu::cold]] inline bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// The folder that holds path: what stands before its last slash.
[[gnu::noinline, gnu::cold]] inline std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Makes the folder and those above it, where they are missing.
[[gnu::noinline, gnu::cold]] inline void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) fail_errno("file", folder, "cannot be made");
    if (end == std::string::npos) return;
  }
}

/// The bytes of a file. Error where there are more than max_bytes.
[[gnu::noinline, gnu::cold]] inline std::string read_file(const std::string& path, Index max_bytes) {
  File file(path);
  if (file.size() > max_bytes)
    fail("file", {"'", path, "': is larger than allowed: ", file.size(), " > ", max_bytes, " bytes"});
  std::string content(std::size_t(file.size()), '\0');
  content.resize(std::size_t(file.read(content.data(), file.size())));
  return content;
}

/// A file's bytes in memory, read from the disk as they are touched. Writing to them does not change the file.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const File file(path);
    size_ = file.size();
    if (size_ == 0) return;
    void* const memory = ::mmap(nullptr, std::size_t(size_), PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor(), 0);
    if (memory == MAP_FAILED) fail_errno("file", path, "cannot be mapped");
    data_ = static_cast<char*>(memory);
  }
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

/// A file that takes the place of path, whole, at commit(): whatever goes wrong before, a full disk or the end of the
/// process, path holds what it held.
class AtomicFile {
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

  [[gnu::noinline, gnu::cold]] void commit() {
    file_.sync_and_close();
    if (std::rename(file_.path().c_str(), path_.c_str()) != 0) fail_errno("file", path_, "cannot be replaced");
    committed_ = true;
    // The new name reaches the disk with its folder. Where the file system cannot do that, it is whole all the same.
    File folder(folder_of(path_), O_RDONLY | O_DIRECTORY);
    static_cast<void>(::fsync(folder.descriptor()));
  }

 private:
  static unsigned next_number() {
    static std::atomic<unsigned> count{0};
    return count++;
  }

  std::string path_;
  File file_;
  bool committed_ = false;
};

/// Replaces the file by these bytes, atomically.
inline void write_file_atomically(const std::string& path, const std::string& content) {
  AtomicFile file(path);
  file.write(content.data(), Index(content.size()));
  file.commit();
}

}  // namespace tern::io
