// CUDA's libraries are loaded at first use, from the places where users have them. So one binary runs on machines with
// and without a GPU.
#pragma once
#include <initializer_list>
#include <string>

#include "../../core/error.hpp"
#include "api.hpp"

namespace tern::inline TERN_BUILD::cuda {

/// A shared library: its handle, or the reason why it could not be loaded.
struct Library {
  void* handle = nullptr;
  std::string path, problem;
};

/// Loads the first of the names that is found: in the folder TERN_CUDA_LIBRARIES, on the loader's path, or, with
/// `anywhere`, in a CUDA Toolkit, a conda environment or pip's wheels.
TERN_API Library open_library(std::initializer_list<const char*> names, bool anywhere);

/// libcuda, a part of NVIDIA's driver.
struct TERN_API Driver {
  Library library = open_library({"libcuda.so.1"}, false);
  DriverFunctions functions;
  Driver();
};

/// NVRTC, which compiles the kernels.
struct TERN_API Nvrtc {
  Library library = open_library({"libnvrtc.so.13", "libnvrtc.so.12"}, true);
  NvrtcFunctions functions;
  Nvrtc();
};

/// cuBLASLt, for matrix products.
struct TERN_API CublasLtLibrary {
  Library library = open_library({"libcublasLt.so.13", "libcublasLt.so.12"}, true);
  CublasLtFunctions functions;
  CublasLtLibrary();
};

/// cuDNN, for convolutions.
struct TERN_API CudnnLibrary {
  Library library = open_library({"libcudnn.so.9", "libcudnn.so.8"}, true);
  CudnnFunctions functions;
  CudnnLibrary();
};

// The libraries are never closed, because tensors may outlive main's statics.

TERN_API Driver& driver();
/// Error if it cannot be used; the next two likewise.
TERN_API Nvrtc& nvrtc();
TERN_API CublasLtLibrary& cublaslt();
TERN_API CudnnLibrary& cudnn();

}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "library.ipp"
#endif
