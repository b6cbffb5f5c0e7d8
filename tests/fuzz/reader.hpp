// A reader of files as a target of libFuzzer: whatever the file holds, it is read or refused by an Error.
#pragma once
#include <sys/mman.h>

#include <cstdlib>

#include <tern/io/file.hpp>

/// A file in memory, so that no disk slows it down.
class MemoryFile {
 public:
  MemoryFile(const void* data, std::size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != ssize_t(size)) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return tern::detail::text({"/proc/self/fd/", descriptor_}); }

 private:
  int descriptor_;
};

/// Each target defines it for one reader.
void read(const std::string& path);

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    read(file.path());
  } catch (const tern::Error&) {}
  return 0;
}
