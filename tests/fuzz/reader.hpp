// A reader of files as a target of libFuzzer: whatever the file holds, it is read or refused by an Error.
#pragma once
#include <sys/mman.h>

#include <cstdlib>

#include <tern/io/file.hpp>

/// Each target defines it for one reader.
void read(const std::string& path);

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  // A file in memory, so that no disk slows it down.
  const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, data, size) != ssize_t(size)) std::abort();
  try {
    read(tern::text({"/proc/self/fd/", descriptor}));
  } catch (const tern::Error&) {
  }
  close(descriptor);
  return 0;
}
