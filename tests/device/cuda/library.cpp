// Where CUDA's libraries are found, and what is said where they are not.
#include "tern/device/cuda/library.hpp"

#include <zlib.h>

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/errors.hpp"
#include "support/fake_library.hpp"
#include "support/process.hpp"
#include "tern/tern.hpp"

namespace device_cuda_library {
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

/// Calls a library's function, and closes the library.
int ask(const cuda::Library& library, const char* function) {
  REQUIRE(library.handle);
  const int answer = reinterpret_cast<int (*)()>(dlsym(library.handle, function))();
  dlclose(library.handle);
  return answer;
}

std::string why_not_with(const std::string& environment) {
  return run_test_case("in a new process: why not", environment).output;
}

}  // namespace

TEST_CASE("libraries are found in a toolkit, in conda's environments and in pip's wheels", "[cuda]") {
  for (const auto& [variable, value, below] :
       {std::tuple{"CUDA_HOME", "", "lib64"},
        {"CUDA_HOME", "", "extras/CUPTI/lib64"},
        {"CUDA_PATH", "", "targets/x86_64-linux/lib"},
        {"CONDA_PREFIX", "", "lib"},
        {"VIRTUAL_ENV", "", "lib/python3.12/site-packages/nvidia/cu13/lib"},
        {"CONDA_PREFIX", "", "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib"},
        {"HOME", "", ".local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib"},
        {"PATH", "bin", "lib/python3.13/site-packages/nvidia/cu13/lib"}}) {
    INFO(variable << '/' << below);
    const Folder root;
    fs::create_directories(root / below);
    const std::string file = root / below / probe;
    fs::copy_file(some_library(), file);
    if (*value) {  // python3's own environment, which is not active
      fs::create_directory(root / value);
      std::ofstream(root / value / "python3") << "#!/bin/sh\n";
      fs::permissions(root / value / "python3", fs::perms::owner_all);
    }
    const Variable set(variable, *value ? "/nowhere/bin:" + (root / value).string() : root.text());
    const cuda::Library library = cuda::open_library({probe}, true);
    REQUIRE(library.handle);
    CHECK(library.path == file);
    dlclose(library.handle);
    CHECK_FALSE(cuda::open_library({probe}, false).handle);  // the driver's is where the system has it
  }
}

TEST_CASE("a library finds its parts in its own folder", "[cuda]") {
  const Folder root;
  const Variable set("CUDA_HOME", root.text());
  const std::string last = make_library(root / "lib64/libtern_part_z.so.1", "extern \"C\" int z() { return 40; }");
  make_library(root / "lib64/libtern_part_a.so.1", "extern \"C\" int z(); extern \"C\" int a() { return z() + 2; }",
               last);
  make_library(root / "lib64" / probe, R"(#include <dlfcn.h>
extern "C" int parts() {
  void* const part = dlopen("libtern_part_a.so.1", RTLD_NOW);
  return part ? ((int (*)())dlsym(part, "a"))() : 0;
})");
  CHECK(ask(cuda::open_library({probe}, true), "parts") == 0);
  CHECK(ask(cuda::open_library({probe}, true, {.parts = "libtern_part_*.so.1"}), "parts") == 42);
}

TEST_CASE("libraries are of the driver's CUDA", "[cuda]") {
  NEED_EMULATOR();
  const auto run = [](const std::string& environment) {
    return run_test_case("in a new process: versions", environment).output;
  };
  CHECK_THAT(run("TERN_EMULATOR=driver=12040"), ContainsSubstring("[libnvrtc.so.12][libcublasLt.so.12][11]"));
  CHECK_THAT(run("TERN_EMULATOR=driver=13010"), ContainsSubstring("[libnvrtc.so.13][libcublasLt.so.13][11]"));
  const Folder newer;
  for (const auto& entry : fs::directory_iterator(tern_test::emulator_folder))
    if (entry.is_regular_file() && entry.path().extension() != ".12")
      fs::create_symlink(entry.path(), newer / entry.path().filename());
  CHECK_THAT(run("TERN_EMULATOR=driver=12040 TERN_CUDA_LIBRARIES=" + newer.text()),
             ContainsSubstring("the driver offers CUDA 12.4, which CUDA 13's library does not run on"));
}

TEST_CASE("in a new process: versions", "[.]") {
  const auto name_of = [](const cuda::Library& library) { return fs::path(library.path).filename().string(); };
  const std::string error = error_of([&] {
    std::printf("[%s]", name_of(cuda::nvrtc().library).c_str());
    std::printf("[%s]", name_of(cuda::cublaslt().library).c_str());
    const auto x = tern::full<tern::Cuda>({1, 2}, 1);
    std::printf("[%g]", (tern::matmul(x, x.t() * 5.0f) + 1.0f).item());
  });
  std::printf("%s\n", error.c_str());
}

TEST_CASE("a cuDNN that was made for a later CUDA is passed over", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: two of cuDNN", "TERN_EMULATOR=driver=12040");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: two of cuDNN", "[.]") {
  const Folder toolkit, conda;
  const auto make = [](const Folder& folder, const char* version) {
    return make_library(
        folder / "lib" / probe,
        tern::detail::text({"extern \"C\" unsigned long cudnnGetCudartVersion() { return ", version, "; }"}));
  };
  make(toolkit, "13000");
  const std::string older = make(conda, "12080");
  const cuda::LibraryKind kind{nullptr, cuda::detail::cudnn_suits_driver};
  const Variable first("CUDA_HOME", toolkit.text());
  const cuda::Library none = cuda::open_library({probe}, true, kind);
  CHECK_FALSE(none.handle);
  CHECK_THAT(none.problem, ContainsSubstring("is made for a later CUDA than the driver's"));
  const Variable second("CONDA_PREFIX", conda.text());
  CHECK(cuda::open_library({probe}, true, kind).path == older);
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
  const Folder folder;
  fs::copy_file(some_library(), folder / "libcuda.so.1");  // no driver at all
  CHECK_THAT(why_not_with("TERN_CUDA_LIBRARIES=" + folder.text()), ContainsSubstring("has no function cu"));
}

TEST_CASE("in a new process: why not", "[.]") {
  std::printf("[%s]\n", cuda::why_not().c_str());
  CHECK(cuda::is_available() == cuda::why_not().empty());
}

}  // namespace device_cuda_library
