// Where CUDA's libraries are found, and what is said where they are not.
#include "tern/device/cuda/library.hpp"

#include <zlib.h>

#include <filesystem>

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "tern/tern.hpp"

using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;
namespace cuda = tern::cuda;

namespace {

constexpr const char* probe = "libtern_probe.so.1";  // a name that no machine has

/// Some library of this machine, which needs no others beside it.
fs::path some_library() {
  Dl_info info{};
  REQUIRE(dladdr(reinterpret_cast<void*>(&zlibVersion), &info));
  return info.dli_fname;
}

/// A folder that is removed, and an environment variable that names it.
class Installed {
 public:
  /// The library lies in the variable's folder, in `below`.
  Installed(const char* variable, const std::string& below) : variable_(variable) {
    std::string name = (fs::temp_directory_path() / "tern_test_XXXXXX").string();
    root_ = mkdtemp(name.data());
    const fs::path folder = root_ / below;
    fs::create_directories(folder);
    file_ = (folder / probe).string();
    fs::copy_file(some_library(), file_);
    if (const char* before = std::getenv(variable)) before_ = before;
    setenv(variable, root_.c_str(), 1);
  }
  ~Installed() {
    if (before_.empty()) unsetenv(variable_);
    else setenv(variable_, before_.c_str(), 1);
    fs::remove_all(root_);
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  const std::string& file() const { return file_; }

 private:
  const char* variable_;
  fs::path root_;
  std::string file_, before_;
};

std::string why_not_with(const std::string& environment) {
  return run_test_case("in a new process: why not", environment).output;
}

}  // namespace

TEST_CASE("libraries are found in a toolkit, in conda's environments and in pip's wheels", "[cuda]") {
  for (const auto& [variable, below] : {std::pair{"CUDA_HOME", "lib64"},
                                        {"CUDA_PATH", "targets/x86_64-linux/lib"},
                                        {"CONDA_PREFIX", "lib"},
                                        {"VIRTUAL_ENV", "lib/python3.12/site-packages/nvidia/cu13/lib"},
                                        {"CONDA_PREFIX", "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib"},
                                        {"HOME", ".local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib"}}) {
    INFO(variable << '/' << below);
    const Installed installed(variable, below);
    const cuda::Library library = cuda::open_library({probe}, true);
    REQUIRE(library.handle);
    CHECK(library.path == installed.file());
    dlclose(library.handle);
    CHECK_FALSE(cuda::open_library({probe}, false).handle);  // the driver's is where the system has it
  }
}

TEST_CASE("a library that is missing is missed by name, and where it was looked for", "[cuda]") {
  const cuda::Library library = cuda::open_library({probe}, true);
  CHECK_FALSE(library.handle);
  CHECK_THAT(library.problem, ContainsSubstring(probe) && ContainsSubstring("looked also in") &&
                                  ContainsSubstring("/usr/local/cuda/lib64"));
}

TEST_CASE("why CUDA cannot be used is said in a sentence", "[cuda]") {
  NEED_EMULATOR();
  CHECK_THAT(why_not_with("TERN_EMULATOR=driver=11080"), ContainsSubstring("11.8"));
  CHECK_THAT(why_not_with("TERN_EMULATOR=devices=0"), ContainsSubstring("CUDA_ERROR_NO_DEVICE"));
  CHECK_THAT(why_not_with("TERN_EMULATOR=devices=1"), ContainsSubstring("[]"));
  std::string name = (fs::temp_directory_path() / "tern_test_XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  fs::copy_file(some_library(), folder / "libcuda.so.1");  // no driver at all
  CHECK_THAT(why_not_with("TERN_CUDA_LIBRARIES=" + folder.string()), ContainsSubstring("has no function cu"));
  fs::remove_all(folder);
}

TEST_CASE("in a new process: why not", "[.]") {
  std::printf("[%s]\n", cuda::why_not().c_str());
  CHECK(cuda::is_available() == cuda::why_not().empty());
}
