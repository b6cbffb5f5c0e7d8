// NVIDIA's compiler on every kernel that tests on Cuda have made, the traced ones among them: their sources lie in the
// tests' cache of kernels. Each is compiled for one of three chips, by turns; with --all for seven. With --chip 90 each
// is compiled for compute capability 9.0 alone and kept in the cache of compiled kernels, where programs on a machine
// with such a chip find it. usage: tern_cuda_sources FOLDER [--all | --chip NUMBER]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "in_processes.hpp"
#include "tern/backend/cuda/codegen/prelude.hpp"
#include "tern/device/cuda/kernel_cache.hpp"

namespace detail = tern::cuda::detail;

namespace {

/// The sources in a folder that have the library's prelude as it is now: older ones may lie there too.
std::set<std::string> read_sources(const char* folder) {
  std::set<std::string> sources;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    const std::string text = detail::read_file(file.path());
    if (!text.starts_with("tern kernel ") ||
        text.find(tern::detail::backend::cuda_kernels::prelude) == std::string::npos)
      continue;
    // The fourth line is the size of the source, which follows.
    std::size_t line = 0;
    for (int i = 0; i < 3; ++i) line = text.find('\n', line) + 1;
    sources.insert(text.substr(text.find('\n', line) + 1, std::stoul(text.substr(line))));
  }
  return sources;
}

std::string name_of(const std::string& source) {
  const std::string before = " void ";
  const std::size_t begin = source.find(before, source.rfind("__global__")) + before.size();
  return source.substr(begin, source.find('(', begin) - begin);
}

bool compiles(const std::string& source, const std::vector<int>& chips, bool keep) {
  bool good = true;
  for (const int chip : chips) {
    try {
      keep ? detail::kernel_image(source, chip / 10, chip % 10) : detail::compile(source, chip / 10, chip % 10);
    } catch (const tern::Error& error) {
      std::printf("FAILED %s for sm_%d: %s\n", name_of(source).c_str(), chip, error.what());
      good = false;
    }
  }
  return good;
}

int skip(const char* why) {
  std::printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", why);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool all = argc == 3 && !std::strcmp(argv[2], "--all"), keep = argc == 4 && !std::strcmp(argv[2], "--chip");
  const int chip = keep ? std::atoi(argv[3]) : 0;
  if (!(argc == 2 || all || (keep && chip >= 50))) {
    std::fprintf(
        stderr,
        "usage: tern_cuda_sources FOLDER [--all | --chip NUMBER], the number being 90 for compute capability 9.0\n");
    return 2;
  }
  const std::vector<int> chips = keep  ? std::vector{chip}
                                 : all ? std::vector{75, 80, 86, 89, 90, 100, 120}
                                       : std::vector{75, 90, 120};
  try {
    tern::cuda::nvrtc();
  } catch (const tern::Error&) { return skip("needs NVRTC"); }
  const std::set<std::string> known = read_sources(argv[1]);
  if (known.empty()) return skip("no kernels yet: the suite on Cuda makes them");

  const std::vector<std::string> sources(known.begin(), known.end());
  const std::size_t failed = tern_test::failures_in_processes(sources.size(), [&](std::size_t k) {
    std::vector<int> wanted = all || keep ? chips : std::vector{chips[k % chips.size()]};
    if (!keep &&
        sources[k].find("mma.sync") != std::string::npos)  // tensor cores are used from compute capability 8.0 on
      for (int& one : wanted) one = std::max(one, 80);
    return compiles(sources[k], wanted, keep);
  });
  if (keep) std::printf("for sm_%d, by NVRTC %s\n", chip, detail::compiler_version(detail::kernel_folder()).c_str());
  std::printf("%zu passed, %zu failed, 0 skipped\n", sources.size() - failed, failed);
  return failed > 0;
}
