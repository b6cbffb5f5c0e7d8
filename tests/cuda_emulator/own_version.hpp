// Which CUDA a library is of, as its file's name says: libnvrtc.so.12 is CUDA 12's.
#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace emulator {

/// The major version of the library that includes this.
static int own_cuda_version() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_cuda_version), &info);
  const std::string file = info.dli_fname;
  return std::atoi(file.c_str() + file.rfind('.') + 1);
}

}  // namespace emulator
