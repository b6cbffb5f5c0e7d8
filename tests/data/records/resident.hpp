// The memory that the process has resident.
#pragma once
#include <unistd.h>

#include <fstream>

namespace tern_test {

inline std::int64_t resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  file >> pages >> pages;  // the first number is of all its memory
  return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace tern_test
