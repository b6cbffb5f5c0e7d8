// What a missing cuDNN says, and one that is too old.
#include "tern/device/cuda/cudnn.hpp"

#include <filesystem>

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/ops/convolution.hpp"

namespace device_cuda_cudnn {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// A folder with the emulated libraries but cuDNN, which is removed.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "tern_test_XXXXXX").string();
    path = mkdtemp(name.data());
    for (const auto& entry : fs::directory_iterator(tern_test::emulator_folder)) {
      const std::string file = entry.path().filename();
      if (entry.is_regular_file() && file.find("cudnn") == std::string::npos)
        fs::create_symlink(entry.path(), path / file);
    }
  }
  ~Folder() { fs::remove_all(path); }
  std::string environment() const { return "TERN_CUDA_LIBRARIES=" + path.string(); }
};

}  // namespace

TEST_CASE("cuDNN is missed where something is convolved, and says so where it is too old", "[cuda]") {
  NEED_EMULATOR();
  const Folder folder;
  const std::string test_case = "in a new process: convolve";
  fs::create_symlink(folder.path / "libcuda.so.1", folder.path / "libcudnn.so.9");  // no cuDNN
  CHECK_THAT(run_test_case(test_case, folder.environment()).output,
             ContainsSubstring("[6][conv2d: cuDNN, which convolves images, cannot be used: ") &&
                 ContainsSubstring("libcudnn.so.9 has no function cudnn"));
  fs::remove(folder.path / "libcudnn.so.9");
  fs::create_symlink(fs::path(tern_test::emulator_folder) / "libcudnn.so.9", folder.path / "libcudnn.so.9");
  CHECK_THAT(run_test_case(test_case, folder.environment()).output, ContainsSubstring("[6][]"));
  CHECK_THAT(run_test_case(test_case, "TERN_EMULATOR=cudnn=90600").output,
             ContainsSubstring("libcudnn.so.9 is version 9.6; 9.13 or later is needed"));
}

TEST_CASE("in a new process: convolve", "[.]") {
  std::printf("[%g]", matmul(full<Cuda>({1, 2}, 1), full<Cuda>({2, 1}, 3)).item());
  std::printf("[%s]\n",
              error_of([] { values_of(conv2d(full<Cuda>({1, 1, 2, 2}, 1), full<Cuda>({1, 1, 1, 1}, 1))); }).c_str());
}

}  // namespace device_cuda_cudnn
