// The functions of file.hpp that are not templates.
#pragma once
#include <dirent.h>
#include <sys/file.h>
#include <sys/random.h>

#include "file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io::detail {

/// The file that a path leads to over links. It need not exist.
TERN_COLD std::string followed(std::string path) {
  constexpr int most_links = 40;  // as in Linux
  char link[4096];
  for (int links = 0; links < most_links; ++links) {
    const ssize_t n = ::readlink(path.c_str(), link, sizeof link);
    if (n < 0) return path;  // it is no link
    const std::string target(link, std::size_t(n));
    path = target.starts_with('/') ? target : tern::detail::text({folder_of(path), "/", target});
  }
  errno = ELOOP;
  fail_errno("file", path, "cannot be opened");
}

/// The part of a temporary file's name before its digits.
TERN_COLD std::string temporary_stem(const std::string& path) { return path.substr(path.find_last_of('/') + 1) + '.'; }
constexpr std::size_t temporary_digits = 16;

/// True for the name of a temporary file of the target with that stem.
TERN_COLD bool is_temporary(const std::string& name, const std::string& stem) {
  return name.size() == stem.size() + temporary_digits + 4 && name.starts_with(stem) && name.ends_with(".tmp") &&
         name.find_first_not_of("0123456789abcdef", stem.size()) == stem.size() + temporary_digits;
}

/// Removes the temporary files of saves that did not end. A running save holds a lock on its file.
TERN_COLD void remove_abandoned(const std::string& path) {
  DIR* const folder = ::opendir(folder_of(path).c_str());
  if (!folder) return;  // opening a file in it says why
  const std::string stem = temporary_stem(path);
  while (const dirent* const entry = ::readdir(folder)) {
    if (!is_temporary(entry->d_name, stem)) continue;
    const int file = ::openat(::dirfd(folder), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlinkat(::dirfd(folder), entry->d_name, 0);
    ::close(file);
  }
  ::closedir(folder);
}

/// A new locked file beside path with a random name, and with the permissions of the file at path.
TERN_COLD File temporary_for(const std::string& path) {
  if (path.empty() || path.ends_with('/')) Error::fail("file", {"'", path, "': names no file"});
  struct stat old;
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) Error::fail("file", {"'", path, "': is not a regular file"});
  struct stat folder;
  if (!exists && ::stat(folder_of(path).c_str(), &folder) != 0) fail_errno("file", path, "cannot be written");
  const mode_t mode = exists ? old.st_mode & 0777 : 0666;
  remove_abandoned(path);
  for (;;) {
    unsigned char random[temporary_digits / 2];
    if (::getrandom(random, sizeof random, 0) != ssize_t(sizeof random))
      fail_errno("file", path, "gets no random name");
    std::string name = tern::detail::text({folder_of(path), "/", temporary_stem(path)});
    for (const unsigned char byte : random) (name += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
    File file(name + ".tmp", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (exists) static_cast<void>(::fchmod(file.descriptor(), mode));  // the process's umask may have taken bits away
    // Another save may take the file for abandoned before it is locked here. Then it is gone, and another one is made.
    // On a file system without locks none is removed.
    struct stat made;
    const bool locked = ::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && ::fstat(file.descriptor(), &made) == 0 && made.st_nlink > 0) return file;
  }
}

}}}  // namespace tern::io::detail

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD void fail_errno(const char* op, const std::string& path, const char* action) {
  const int code = errno;
  Error::fail(op, {"'", path, "': ", action, ": ", std::strerror(code)});
}

TERN_COLD File::File(const CallScope&, const std::string& path) : File(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) {
  struct stat info;
  if (fstat(descriptor_, &info) != 0) fail_errno("file", path_, "cannot be examined");
  if (!S_ISREG(info.st_mode)) Error::fail("file", {"'", path_, "': is not a regular file"});
  size_ = Index(info.st_size);
}

TERN_COLD File::File(const std::string& path, int flags, mode_t mode)
    : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {
  if (descriptor_ < 0) fail_errno("file", path_, "cannot be opened");
}

TERN_COLD Index File::read(void* out, Index n, CallSite here) {
  const CallScope scope(here);
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

TERN_COLD void File::write(const void* data, Index n, CallSite here) {
  const CallScope scope(here);
  for (Index done = 0; done < n;) {
    const ssize_t put = ::write(descriptor_, static_cast<const char*>(data) + done, std::size_t(n - done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_errno("file", path_, "cannot be written");
    done += put;
  }
}

TERN_COLD void File::sync(CallSite here) {
  const CallScope scope(here);
  if (::fsync(descriptor_) != 0) fail_errno("file", path_, "cannot be brought to the disk");
}

TERN_COLD bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

TERN_COLD std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

TERN_COLD void make_folders(const std::string& path, CallSite here) {
  const CallScope scope(here);
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) fail_errno("file", folder, "cannot be made");
    if (end == std::string::npos) return;
  }
}

TERN_COLD std::string read_file(const std::string& path, Index max_bytes, CallSite here) {
  const CallScope scope(here);
  File file(path);
  if (file.size() > max_bytes)
    Error::fail("file", {"'", path, "': is larger than allowed: ", file.size(), " > ", max_bytes, " bytes"});
  return tern::detail::within_memory("file", path.c_str(), [&] {
    std::string content(std::size_t(file.size()), '\0');
    content.resize(std::size_t(file.read(content.data(), file.size())));
    return content;
  });
}

TERN_INLINE MappedFile::MappedFile(const std::string& path, CallSite here) {
  const CallScope scope(here);
  const File file(path);
  size_ = file.size();
  if (size_ == 0) return;
  void* const memory = ::mmap(nullptr, std::size_t(size_), PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) fail_errno("file", path, "cannot be mapped");
  data_ = static_cast<char*>(memory);
}

TERN_INLINE AtomicFile::AtomicFile(const CallScope&, const std::string& path)
    : path_(detail::followed(path)), file_(detail::temporary_for(path_)) {}

TERN_COLD void AtomicFile::commit(CallSite here) {
  const CallScope scope(here);
  file_.sync();
  // Renamed before it is closed: closing ends the lock.
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) fail_errno("file", path_, "cannot be replaced");
  committed_ = true;
  // Syncing the folder brings the new name to the disk. If the file system does not support that, the file is still
  // whole.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  static_cast<void>(::fsync(folder));
  ::close(folder);
}

TERN_COLD void check_writable(const std::string& path, CallSite here) {
  const CallScope scope(here);
  const AtomicFile file(path);
}

}}}  // namespace tern::io
