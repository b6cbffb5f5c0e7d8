// Zeroed memory that threads, or processes of one machine, share.
#pragma once
#include <cstddef>
#include <string>

#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

class TERN_API SharedMemory {
 public:
  /// For the threads of this process. Error if the host has not so many bytes.
  explicit SharedMemory(std::size_t bytes);
  /// A name that is not in use.
  static std::string new_name();
  /// For other processes too, which give its name until this one calls unlink(). Whoever creates it gives a name that
  /// is not in use.
  SharedMemory(const std::string& name, std::size_t bytes, bool create);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* data() const { return data_; }
  /// Ends the name. The memory stays until the last process has unmapped it, however that ends.
  void unlink() const;

 private:
  std::string name_;
  std::size_t bytes_;
  char* data_;
};

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "shared_memory.ipp"
#endif
