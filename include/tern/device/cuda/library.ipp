// The functions of library.hpp that are not templates.
#pragma once
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "library.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {

TERN_INLINE constinit std::atomic<bool> times_candidates{false};

/// The folder that the python3 on the path belongs to, such as a virtual environment that is not active; empty if there
/// is none.
TERN_COLD std::string python_prefix() {
  const char* const variable = std::getenv("PATH");
  const std::string path = variable ? variable : "";
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    if (folder.ends_with("/bin") && access((folder + "/python3").c_str(), X_OK) == 0)
      return folder.substr(0, folder.size() - 4);
    begin = end + 1;
  }
  return {};
}

TERN_COLD std::string library_folders() {
  std::string folders;
  const auto add = [&](const char* variable, const char* below) {
    if (const char* folder = std::getenv(variable)) folders += std::string(folder) + below + ":";
  };
  const char* const wheels = "/lib/python3*/site-packages/nvidia/*/lib";
  const char* const cupti = "/extras/CUPTI/lib64";
  for (const char* below : {"/lib64", "/targets/x86_64-linux/lib", "/lib", cupti}) {
    add("CUDA_HOME", below);
    add("CUDA_PATH", below);
  }
  folders += std::string("/usr/local/cuda/lib64:/usr/local/cuda") + cupti + ":";
  for (const char* below : {"/lib", wheels}) {  // conda's packages and pip's wheels
    add("CONDA_PREFIX", below);
    add("VIRTUAL_ENV", below);
  }
  if (const std::string prefix = python_prefix(); !prefix.empty()) folders += prefix + wheels + ":";
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

/// Opens the parts of a library that lie in the same folder, and adds them to `open`. A part may need another one, so
/// they are tried again until no more open.
TERN_COLD void open_parts(const std::string& file, const char* parts, std::vector<void*>& open) {
  std::vector<std::string> paths;
  each_file(file.substr(0, file.rfind('/') + 1) + parts, [&](const char* path) { paths.push_back(path); });
  for (std::size_t before = paths.size() + 1; paths.size() < before;) {
    before = paths.size();
    std::erase_if(paths, [&](const std::string& path) {
      void* const part = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (part) open.push_back(part);
      return part != nullptr;
    });
  }
}

/// Loads the file; on failure stores the reason.
TERN_COLD bool try_open(Library& library, const std::string& path, const LibraryKind& kind) {
  std::vector<void*> open;
  const bool has_folder = path.find('/') != path.npos;
  if (kind.parts && has_folder) open_parts(path, kind.parts, open);
  library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle) {
    library.path = path;
    link_map* found = nullptr;
    if (kind.parts && !has_folder && dlinfo(library.handle, RTLD_DI_LINKMAP, &found) == 0)
      open_parts(found->l_name, kind.parts, open);
    if (!kind.suits || kind.suits(library.handle)) return true;
    library.problem = path + " is made for a later CUDA than the driver's";
    open.push_back(std::exchange(library.handle, nullptr));
  } else if (const char* why = dlerror()) {
    library.problem = why;
  }
  for (void* const handle : open) dlclose(handle);
  return false;
}

/// cuDNN for CUDA 12 and for CUDA 13 have one name.
TERN_COLD bool cudnn_suits_driver(void* handle) {
  const auto built_for = reinterpret_cast<std::size_t (*)()>(dlsym(handle, "cudnnGetCudartVersion"));
  const int version = driver_version();
  return !version || !built_for || int(built_for() / 1000) <= version / 1000;
}

TERN_COLD void* find_function(Library& library, const char* name) {
  void* const function = dlsym(library.handle, name);
  if (!function && library.problem.empty()) library.problem = library.path + " has no function " + name;
  return function;
}

}  // namespace detail

TERN_COLD Library open_library(std::initializer_list<std::string> names, bool anywhere, const LibraryKind& kind) {
  Library library;
  if (const char* folder = std::getenv("TERN_CUDA_LIBRARIES"))
    for (const std::string& name : names)
      if (detail::try_open(library, std::string(folder) + "/" + name, kind)) return library;
  for (const std::string& name : names)
    if (detail::try_open(library, name, kind)) return library;
  if (!anywhere) return library;
  const std::string folders = detail::library_folders();
  for (std::size_t begin = 0; begin < folders.size() && !library.handle;) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    for (const std::string& name : names)
      detail::each_file(folders.substr(begin, end - begin) + "/" + name, [&](const char* path) {
        if (!library.handle) detail::try_open(library, path, kind);
      });
    begin = end + 1;
  }
  if (!library.handle) library.problem += "; looked also in " + folders;
  return library;
}

TERN_COLD Library open_toolkit_library(const std::string& name, const LibraryKind& kind) {
  const int version = driver_version();
  if (version == 0 || version >= 13000) return open_library({name + ".13", name + ".12"}, true, kind);
  Library library = open_library({name + ".12"}, true, kind);
  if (!library.handle)
    library.problem += tern::detail::text({"; the driver offers CUDA ", version / 1000, ".", version % 1000 / 10,
                                           ", which CUDA 13's library does not run on"});
  return library;
}

#define TERN_CUDA_LOAD(name, result, arguments) \
  functions.name = reinterpret_cast<result(*) arguments>(detail::find_function(library, #name));

TERN_COLD Driver::Driver() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_CUDA_DRIVER_FUNCTIONS(TERN_CUDA_LOAD)
}
TERN_COLD Nvrtc::Nvrtc() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_NVRTC_FUNCTIONS(TERN_CUDA_LOAD)
}
TERN_COLD CublasLtLibrary::CublasLtLibrary() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_CUBLASLT_FUNCTIONS(TERN_CUDA_LOAD)
}
TERN_COLD CudnnLibrary::CudnnLibrary() {
  if (!library.handle) return;
  library.problem.clear();
  TERN_CUDNN_FUNCTIONS(TERN_CUDA_LOAD)
  if (!library.problem.empty()) return;
  // The oldest version whose graphs of attention have been tried.
  if (const std::size_t version = functions.cudnnGetVersion(); version < 91300)
    library.problem = tern::detail::text({library.path, " is version ", Index(version / 10000), ".",
                                          Index(version / 100 % 100), "; 9.13 or later is needed"});
  if (library.problem.empty()) { TERN_CUDNN_GRAPH_FUNCTIONS(TERN_CUDA_LOAD) }
}
#undef TERN_CUDA_LOAD

// Not inlined, because they are called from everywhere.

TERN_NOINLINE Driver& driver() {
  static Driver& instance = *new Driver;
  return instance;
}
TERN_COLD int driver_version() {
  if (!driver().library.problem.empty()) return 0;
  int version = 0;
  if (const int status = driver().functions.cuDriverGetVersion(&version))
    Error::fail("cuda", {"cuDriverGetVersion fails with status ", status});
  return version;
}
TERN_NOINLINE Nvrtc& nvrtc() {
  static Nvrtc& instance = *new Nvrtc;
  if (!instance.library.problem.empty())
    Error::fail("cuda", {"NVRTC, which compiles kernels, cannot be used: ", instance.library.problem});
  return instance;
}
TERN_NOINLINE CublasLtLibrary& cublaslt() {
  static CublasLtLibrary& instance = *new CublasLtLibrary;
  if (!instance.library.problem.empty())
    Error::fail("cuda", {"cuBLASLt, which multiplies matrices, cannot be used: ", instance.library.problem});
  return instance;
}
TERN_INLINE CudnnLibrary& loaded_cudnn() {
  static CudnnLibrary& instance = *new CudnnLibrary;
  return instance;
}
TERN_NOINLINE CudnnLibrary& cudnn() {
  CudnnLibrary& instance = loaded_cudnn();
  if (!instance.library.problem.empty())
    Error::fail("cuda", {"cuDNN, which convolves images, cannot be used: ", instance.library.problem});
  return instance;
}
TERN_NOINLINE bool has_cudnn() { return loaded_cudnn().library.problem.empty(); }

}}}  // namespace tern::cuda
