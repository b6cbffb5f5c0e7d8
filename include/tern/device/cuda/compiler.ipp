// The functions of compiler.hpp that are not templates.
#pragma once
#include "compiler.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE constinit std::atomic<bool> line_info{false};

TERN_COLD void check_nvrtc(const char* function, int status) {
  if (status) Error::fail("cuda", {function, ": ", nvrtc().functions.nvrtcGetErrorString(status)});
}

TERN_COLD std::string compile(const std::string& source, int major, int minor, const std::string& path) {
  const NvrtcFunctions& rtc = nvrtc().functions;
  int count = 0, newest = 0;
  TERN_NVRTC(nvrtcGetNumSupportedArchs, &count);
  std::vector<int> known(std::size_t(count), 0);
  TERN_NVRTC(nvrtcGetSupportedArchs, known.data());
  const int chip = 10 * major + minor;
  for (const int architecture : known)
    if (architecture <= chip && architecture > newest) newest = architecture;
  if (!newest)
    Error::fail("cuda", {"NVRTC compiles for no architecture that compute capability ", major, ".", minor, " runs"});
  const bool ptx = newest != chip;
  const std::string target = tern::detail::text({"--gpu-architecture=", ptx ? "compute_" : "sm_", newest});
  // Functions without a mark, such as generic lambdas, are the device's.
  const char* const options[] = {target.c_str(), "--std=c++17", "-default-device", "--generate-line-info"};

  struct Guard {
    const NvrtcFunctions& rtc;
    NvrtcProgram program = nullptr;
    ~Guard() {
      const int status = program ? rtc.nvrtcDestroyProgram(&program) : 0;
      if (status) note_failure("nvrtcDestroyProgram", rtc.nvrtcGetErrorString(status), "");
    }
  } guard{rtc};
  TERN_NVRTC(nvrtcCreateProgram, &guard.program, source.c_str(), path.empty() ? "tern" : path.c_str(), 0, nullptr,
             nullptr);
  if (const int status = rtc.nvrtcCompileProgram(guard.program, path.empty() ? 3 : 4, options)) {
    std::size_t bytes = 0;
    rtc.nvrtcGetProgramLogSize(guard.program, &bytes);
    std::string log(bytes, 0);
    if (bytes) rtc.nvrtcGetProgramLog(guard.program, log.data());
    Error::fail("cuda", {"a kernel does not compile: nvrtcCompileProgram: ", rtc.nvrtcGetErrorString(status), "\n", log,
                         "\n", source});
  }
  std::size_t bytes = 0;
  std::string image;
  if (ptx) {
    TERN_NVRTC(nvrtcGetPTXSize, guard.program, &bytes);
    image.resize(bytes);
    TERN_NVRTC(nvrtcGetPTX, guard.program, image.data());
  } else {
    TERN_NVRTC(nvrtcGetCUBINSize, guard.program, &bytes);
    image.resize(bytes);
    TERN_NVRTC(nvrtcGetCUBIN, guard.program, image.data());
  }
  return image;
}

}}}  // namespace tern::cuda::detail
