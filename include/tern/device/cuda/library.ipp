// The functions of library.hpp that are not templates.
#pragma once
#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>

#include "library.hpp"

namespace tern::inline TERN_BUILD::cuda {
namespace detail {

/// Folders, besides the loader's own path, in which a library may lie. `*` matches as in the shell.
[[gnu::cold]] TERN_INLINE std::string library_folders() {
  std::string folders;
  const auto add = [&](const char* variable, const char* below) {
    if (const char* folder = std::getenv(variable)) folders += std::string(folder) + below + ":";
  };
  for (const char* below : {"/lib64", "/targets/x86_64-linux/lib", "/lib"}) {
    add("CUDA_HOME", below);
    add("CUDA_PATH", below);
  }
  folders += "/usr/local/cuda/lib64:";
  for (const char* below : {"/lib", "/lib/python3*/site-packages/nvidia/*/lib"}) {  // conda's packages and pip's wheels
    add("CONDA_PREFIX", below);
    add("VIRTUAL_ENV", below);
  }
  add("HOME", "/.local/lib/python3*/site-packages/nvidia/*/lib");
  return folders + "/usr/local/lib/python3*/*-packages/nvidia/*/lib";
}

/// Calls f for the files that match a pattern, later names first.
template <class F>
void each_file(const std::string& pattern, const F& f) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = found.gl_pathc; i-- > 0;) f(found.gl_pathv[i]);
  globfree(&found);
}

/// Loads the file; on failure stores the reason.
TERN_INLINE bool try_open(Library& library, const std::string& path) {
  library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle) library.path = path;
  else if (const char* why = dlerror()) library.problem = why;
  return library.handle;
}

/// The library's function of that name. A missing function becomes the library's problem.
[[gnu::noinline, gnu::cold]] TERN_INLINE void* find_function(Library& library, const char* name) {
  void* const function = dlsym(library.handle, name);
  if (!function && library.problem.empty()) library.problem = library.path + " has no function " + name;
  return function;
}

}  // namespace detail

[[gnu::noinline, gnu::cold]] TERN_INLINE Library open_library(std::initializer_list<const char*> names, bool anywhere) {
  Library library;
  if (const char* folder = std::getenv("TERN_CUDA_LIBRARIES"))
    for (const char* name : names)
      if (detail::try_open(library, std::string(folder) + "/" + name)) return library;
  for (const char* name : names)
    if (detail::try_open(library, name)) return library;
  if (!anywhere) return library;
  const std::string folders = detail::library_folders();
  for (std::size_t begin = 0; begin < folders.size() && !library.handle;) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    for (const char* name : names)
      detail::each_file(folders.substr(begin, end - begin) + "/" + name, [&](const char* path) {
        if (!library.handle) detail::try_open(library, path);
      });
    begin = end + 1;
  }
  if (!library.handle) library.problem += "; looked also in " + folders;
  return library;
}

#define TERN_CUDA_LOAD(name, result, arguments) \
  functions.name = reinterpret_cast<result(*) arguments>(detail::find_function(library, #name));

[[gnu::noinline, gnu::cold]] TERN_INLINE Driver::Driver() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_CUDA_DRIVER_FUNCTIONS(TERN_CUDA_LOAD)
}
[[gnu::noinline, gnu::cold]] TERN_INLINE Nvrtc::Nvrtc() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_NVRTC_FUNCTIONS(TERN_CUDA_LOAD)
}
[[gnu::noinline, gnu::cold]] TERN_INLINE CublasLtLibrary::CublasLtLibrary() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_CUBLASLT_FUNCTIONS(TERN_CUDA_LOAD)
}
[[gnu::noinline, gnu::cold]] TERN_INLINE CudnnLibrary::CudnnLibrary() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_CUDNN_FUNCTIONS(TERN_CUDA_LOAD)
}
#undef TERN_CUDA_LOAD

// Not inlined, because they are called from everywhere.

[[gnu::noinline]] TERN_INLINE Driver& driver() {
  static Driver& instance = *new Driver;
  return instance;
}
[[gnu::noinline]] TERN_INLINE Nvrtc& nvrtc() {
  static Nvrtc& instance = *new Nvrtc;
  if (!instance.library.problem.empty()) fail("cuda", {"NVRTC, which compiles kernels, cannot be used: ", instance.library.problem});
  return instance;
}
[[gnu::noinline]] TERN_INLINE CublasLtLibrary& cublaslt() {
  static CublasLtLibrary& instance = *new CublasLtLibrary;
  if (!instance.library.problem.empty())
    fail("cuda", {"cuBLASLt, which multiplies matrices, cannot be used: ", instance.library.problem});
  return instance;
}
[[gnu::noinline]] TERN_INLINE CudnnLibrary& cudnn() {
  static CudnnLibrary& instance = *new CudnnLibrary;
  if (!instance.library.problem.empty()) fail("cuda", {"cuDNN, which convolves images, cannot be used: ", instance.library.problem});
  return instance;
}

}  // namespace tern::cuda
