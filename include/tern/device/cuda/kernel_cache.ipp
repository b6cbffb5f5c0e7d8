// The functions of kernel_cache.hpp that are not templates.
#pragma once
#include "kernel_cache.hpp"

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

TERN_INLINE std::string kernel_folder() {
  std::string folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) folder = cache;
  else if (const char* home = std::getenv("HOME")) folder = std::string(home) + "/.cache";
  else return folder;
  mkdir(folder.c_str(), 0700);
  for (const char* below : {"/tern", "/kernels"}) mkdir((folder += below).c_str(), 0700);
  return folder + "/";
}

TERN_INLINE std::string read_file(const std::string& path) {
  std::string bytes;
  if (std::FILE* const file = std::fopen(path.c_str(), "rb")) {
    char buffer[1 << 14];
    while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.append(buffer, n);
    std::fclose(file);
  }
  return bytes;
}

TERN_INLINE void write_file(const std::string& path, const std::string& bytes) {
  std::string unfinished = path + ".XXXXXX";
  const int descriptor = mkstemp(unfinished.data());  // no other process writes it, be it in another container
  if (descriptor < 0) return;
  std::size_t at = 0;
  for (ssize_t n = 1; n > 0 && at < bytes.size(); at += std::size_t(std::max<ssize_t>(n, 0)))
    n = write(descriptor, bytes.data() + at, bytes.size() - at);
  if (close(descriptor) != 0 || at < bytes.size() || std::rename(unfinished.c_str(), path.c_str()) != 0)
    unlink(unfinished.c_str());
}

TERN_COLD std::string compiler_version(const std::string& folder) {
  std::string searched = tern::detail::text({library_folders(), "\n", driver_version(), "\n"});
  for (const char* variable : {"TERN_CUDA_LIBRARIES", "LD_LIBRARY_PATH"})
    if (const char* value = std::getenv(variable)) searched += std::string(variable) + "=" + value + "\n";
  const auto stamp = [](const std::string& path) {
    struct stat file{};
    return stat(path.c_str(), &file) == 0
               ? tern::detail::text({path, "\n", Index(file.st_size), "\n", Index(file.st_mtime), "\n"})
               : std::string();
  };
  char name[32];
  std::snprintf(name, sizeof name, "compiler-%016llx", static_cast<unsigned long long>(hash_text(searched)));
  const std::string noted = read_file(folder + name), path = noted.substr(0, noted.find('\n')), known = stamp(path);
  if (!known.empty() && noted.starts_with(known)) return noted.substr(known.size());

  int major = 0, minor = 0;
  TERN_NVRTC(nvrtcVersion, &major, &minor);
  const std::string version = tern::detail::text({major, ".", minor});
  Dl_info file{};
  if (dladdr(reinterpret_cast<void*>(nvrtc().functions.nvrtcVersion), &file))
    write_file(folder + name, stamp(file.dli_fname) + version);
  return version;
}

TERN_COLD std::string kernel_image(const std::string& source, int major, int minor) {
  static const std::string folder = kernel_folder();
  if (folder.empty()) return compile(source, major, minor);
  static const std::string version = compiler_version(folder);
  const char* const libraries = std::getenv("TERN_CUDA_LIBRARIES");
  // The file holds the whole key, so a collision of hashes is a miss.
  const bool lines = line_info;
  const std::string key =
      tern::detail::text({"tern kernel 1\nNVRTC ", version, " ", libraries ? libraries : "", "\nsm_",
                          10 * major + minor, lines ? " with lines\n" : "\n", Index(source.size()), "\n"}) +
      source;
  const std::uint64_t hash = hash_text(key);
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(hash),
                static_cast<unsigned long long>(hash_text(key, ~hash)));
  const auto checksum = [](const std::string& image) {
    char digits[20];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash_text(image)));
    return std::string(digits);
  };
  const std::string file = read_file(folder + name);
  if (file.size() > key.size() + 16 && file.starts_with(key)) {
    std::string image = file.substr(key.size() + 16);
    if (file.compare(key.size(), 16, checksum(image)) == 0) return image;
  }
  const std::string path = lines ? folder + name + ".cu" : std::string();
  if (lines) write_file(path, source);
  std::string image = compile(source, major, minor, path);
  write_file(folder + name, key + checksum(image) + image);
  return image;
}

}}}  // namespace tern::cuda::detail
