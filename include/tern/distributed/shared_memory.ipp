// The functions of shared_memory.hpp that are not templates.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "../core/error.hpp"
#include "shared_memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    Error::fail("Communicator",
                {"the host does not give ", Index(bytes), " bytes of shared memory: ", std::strerror(errno)});
  data_ = static_cast<char*>(memory);
}

TERN_COLD std::string SharedMemory::new_name() {
  static std::atomic<Index> made;
  return tern::detail::text({"/tern-", Index(getpid()), "-", made++});
}

TERN_COLD SharedMemory::SharedMemory(const std::string& name, std::size_t bytes, bool create)
    : name_(name), bytes_(bytes) {
  const int file = shm_open(name.c_str(), O_RDWR | (create ? O_CREAT | O_EXCL : 0), 0600);
  // posix_fallocate, because a full /dev/shm would end the program at the first write.
  int error = file < 0 ? errno : create ? posix_fallocate(file, 0, off_t(bytes)) : 0;
  void* const memory = error ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!error && memory == MAP_FAILED) error = errno;
  if (file >= 0) close(file);
  if (error) {
    if (create && file >= 0) shm_unlink(name.c_str());
    Error::fail("Communicator", {"no ", Index(bytes), " bytes of memory that the ranks of this machine share, /dev/shm",
                                 name, ": ", std::strerror(error)});
  }
  data_ = static_cast<char*>(memory);
}

TERN_COLD SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

TERN_COLD void SharedMemory::unlink() const { shm_unlink(name_.c_str()); }

}}}  // namespace tern::distributed::detail
