// CUDA's libraries are loaded at first use, from the places where users have them. So one binary runs on machines with
// and without a GPU.
#pragma once
#include <atomic>
#include <initializer_list>
#include <string>

#include "../../core/error.hpp"
#include "api.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {
extern TERN_API constinit std::atomic<bool> times_candidates;

/// Folders, besides the loader's own path, in which a library may lie, separated by colons. `*` matches as in the
/// shell.
TERN_API std::string library_folders();
TERN_API bool cudnn_suits_driver(void* handle);
}  // namespace detail

/// A shared library: its handle, or the reason why it could not be loaded.
struct Library {
  void* handle = nullptr;
  std::string path, problem;
};

/// What loading a library needs, other than its name.
struct LibraryKind {
  /// The pattern of files in the library's folder that it opens itself. They are opened first, because a library whose
  /// file names no folder for them looks on the loader's path only.
  const char* parts = nullptr;
  /// Whether it runs with this driver; null: it does.
  bool (*suits)(void* handle) = nullptr;
};

namespace detail {
/// The library's function of that name. A missing function becomes the library's problem.
void* find_function(Library& library, const char* name);
}  // namespace detail

/// Loads the first of the names that is found and suits: in the folder TERN_CUDA_LIBRARIES, on the loader's path, or,
/// with `anywhere`, in a CUDA Toolkit, a conda environment or pip's wheels, those of the python3 on the path included.
TERN_API Library open_library(std::initializer_list<std::string> names, bool anywhere, const LibraryKind& kind = {});

/// Loads a library of the CUDA Toolkit by its name without the version: that of CUDA 13, else of CUDA 12. A driver for
/// CUDA 12 runs only the second.
TERN_API Library open_toolkit_library(const std::string& name, const LibraryKind& kind = {});

/// libcuda, a part of NVIDIA's driver.
struct TERN_API Driver {
  Library library = open_library({"libcuda.so.1"}, false);
  DriverFunctions functions;
  Driver();
};

/// NVRTC, which compiles the kernels.
struct TERN_API Nvrtc {
  Library library = open_toolkit_library("libnvrtc.so", {.parts = "libnvrtc-builtins.so.*"});
  NvrtcFunctions functions;
  Nvrtc();
};

/// cuBLASLt, for matrix products.
struct TERN_API CublasLtLibrary {
  Library library = open_toolkit_library("libcublasLt.so");
  CublasLtFunctions functions;
  CublasLtLibrary();
};

/// cuDNN 9.13 or later, for convolutions, attention and recurrent layers.
struct TERN_API CudnnLibrary {
  Library library = open_library({"libcudnn.so.9"}, true, {"libcudnn_*.so.?", detail::cudnn_suits_driver});
  CudnnFunctions functions;
  CudnnLibrary();
};

// The libraries are never closed, because tensors may outlive main's statics.

TERN_API Driver& driver();
/// The CUDA version that the driver offers, as 12040 for 12.4; 0 without a driver.
TERN_API int driver_version();
/// Error if it cannot be used; the next two likewise.
TERN_API Nvrtc& nvrtc();
TERN_API CublasLtLibrary& cublaslt();
TERN_API CudnnLibrary& cudnn();
/// Whether there is a cuDNN that can be used.
TERN_API bool has_cudnn();

/// Lets the first product or convolution of each shape time the algorithms that cuBLASLt and cuDNN propose, and keep
/// the fastest: torch.backends.cudnn.benchmark. Otherwise the libraries' heuristics choose. With it, the last bits of a
/// result may differ between runs of a program. A captured one is not timed. Off by default.
inline void benchmark(bool on) { detail::times_candidates = on; }

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "library.ipp"
#endif
