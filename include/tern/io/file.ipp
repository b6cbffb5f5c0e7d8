// The functions of file.hpp that are not templates.
#pragma once
#include <atomic>

#include "file.hpp"

namespace tern::inline TERN_BUILD::io {

[[gnu::noinline, gnu::cold]] TERN_INLINE void fail_errno(const char* op, const std::string& path, const char* action) {
  const int code = errno;
  fail(op, {"'", path, "': ", action, ": ", std::strerror(code)});
}

[[gnu::noinline, gnu::cold]] TERN_INLINE File::File(const std::string& path) : File(path, O_RDONLY) {
  struct stat info;
  if (fstat(descriptor_, &info) != 0) fail_errno("file", path_, "cannot be examined");
  if (!S_ISREG(info.st_mode)) fail("file", {"'", path_, "': is not a regular file"});
  size_ = Index(info.st_size);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE File::File(const std::string& path, int flags) : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail_errno("file", path_, "cannot be opened");
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Index File::read(void* out, Index n) {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE void File::write(const void* data, Index n) {
  for (Index done = 0; done < n;) {
    const ssize_t put = ::write(descriptor_, static_cast<const char*>(data) + done, std::size_t(n - done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_errno("file", path_, "cannot be written");
    done += put;
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void File::sync_and_close() {
  if (::fsync(descriptor_) != 0) fail_errno("file", path_, "cannot be brought to the disk");
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_errno("file", path_, "cannot be closed");
}

[[gnu::noinline, gnu::cold]] TERN_INLINE bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) fail_errno("file", folder, "cannot be made");
    if (end == std::string::npos) return;
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string read_file(const std::string& path, Index max_bytes) {
  File file(path);
  if (file.size() > max_bytes)
    fail("file", {"'", path, "': is larger than allowed: ", file.size(), " > ", max_bytes, " bytes"});
  std::string content(std::size_t(file.size()), '\0');
  content.resize(std::size_t(file.read(content.data(), file.size())));
  return content;
}

TERN_INLINE MappedFile::MappedFile(const std::string& path) {
  const File file(path);
  size_ = file.size();
  if (size_ == 0) return;
  void* const memory = ::mmap(nullptr, std::size_t(size_), PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) fail_errno("file", path, "cannot be mapped");
  data_ = static_cast<char*>(memory);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void AtomicFile::commit() {
  file_.sync_and_close();
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) fail_errno("file", path_, "cannot be replaced");
  committed_ = true;
  // Syncing the folder brings the new name to the disk. If the file system does not support that, the file is still
  // whole.
  File folder(folder_of(path_), O_RDONLY | O_DIRECTORY);
  static_cast<void>(::fsync(folder.descriptor()));
}

TERN_INLINE unsigned AtomicFile::next_number() {
  static std::atomic<unsigned> count{0};
  return count++;
}

}  // namespace tern::io
