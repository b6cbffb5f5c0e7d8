#include "tern/device/cuda/kernel_cache.hpp"

#include <filesystem>
#include <fstream>

#include "support/catch.hpp"
#include "support/emulator.hpp"

namespace device_cuda_kernel_cache {
using namespace tern::cuda::detail;
using namespace tern_test;
namespace fs = std::filesystem;

namespace {

/// A kernel that no other test compiles.
std::string source_of(int number) {
  return tern::detail::text({"extern \"C\" __global__ void cached_", number, "(float* x) { x[0] = ", number, "; }\n"});
}
std::string image_of(int number) { return kernel_image(source_of(number), 9, 0); }
std::uint64_t compilations() { return calls_of("nvrtcCompileProgram"); }

/// The files of the cache that hold this text.
std::vector<fs::path> files_with(const std::string& text) {
  std::vector<fs::path> found;
  for (const auto& file : fs::directory_iterator(kernel_folder()))
    if (read_file(file.path()).find(text) != std::string::npos) found.push_back(file.path());
  return found;
}

}  // namespace

TEST_CASE("a kernel is compiled once, whatever asks for it", "[cuda]") {
  NEED_EMULATOR();
  for (const auto& file : files_with("cached_")) fs::remove(file);
  fail_call(nullptr, 0, 0);
  const std::string first = image_of(1);
  CHECK(compilations() == 1);
  CHECK(image_of(1) == first);
  CHECK(compilations() == 1);
  image_of(2);
  kernel_image(source_of(1), 8, 0);  // another chip
  CHECK(compilations() == 3);
}

TEST_CASE("a damaged file of the cache is compiled anew", "[cuda]") {
  NEED_EMULATOR();
  const std::string whole = image_of(3);
  const auto files = files_with("cached_3");
  REQUIRE(files.size() == 1);
  const std::string bytes = read_file(files[0]);
  for (const std::size_t cut : {std::size_t(0), std::size_t(5), bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(files[0], std::ios::binary) << bytes.substr(0, cut);
    fail_call(nullptr, 0, 0);
    CHECK(image_of(3) == whole);
    CHECK(compilations() == 1);
  }
  std::string flipped = bytes;
  flipped.back() = char(flipped.back() ^ 1);
  std::ofstream(files[0], std::ios::binary) << flipped;
  CHECK(image_of(3) == whole);
}

TEST_CASE("a kernel that does not compile says why", "[cuda]") {
  try {
    kernel_image("extern \"C\" __global__ void broken() { nonsense; }", 9, 0);
    FAIL();
  } catch (const tern::Error& error) { CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("nonsense")); }
}

TEST_CASE("on request kernels are compiled with their lines, and their sources kept", "[cuda]") {
  NEED_EMULATOR();
  struct Requested {
    Requested() { tern::cuda::generate_line_info(true); }
    ~Requested() { tern::cuda::generate_line_info(false); }
  };
  const auto sources = [] {
    std::vector<fs::path> found;
    for (const fs::path& file : files_with("cached_4"))
      if (file.extension() == ".cu") found.push_back(file);
    return found;
  };
  for (const fs::path& file : files_with("cached_4")) fs::remove(file);
  image_of(4);
  CHECK(sources().empty());
  fail_call(nullptr, 0, 0);
  {
    const Requested lines;
    image_of(4);
    image_of(4);
  }
  CHECK(compilations() == 1);
  REQUIRE(sources().size() == 1);
  CHECK(read_file(sources()[0]) == source_of(4));
  image_of(4);
  CHECK(compilations() == 1);
}

}  // namespace device_cuda_kernel_cache
