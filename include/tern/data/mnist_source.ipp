// The functions of mnist_source.hpp that are not templates.
#pragma once
#include "mnist_source.hpp"

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::vector<std::string> mnist_mirrors() {
  return {"https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"};
}

}  // namespace tern::data

namespace tern::inline TERN_BUILD::data::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE bool has_file(const std::string& folder, const MnistFile& file) {
  return !find_plain_or_gzip(folder, file.name).empty();
}

[[gnu::noinline, gnu::cold]] TERN_INLINE bool has_mnist_files(const std::string& folder) {
  for (const MnistFile& file : mnist_files)
    if (!has_file(folder, file)) return false;
  return true;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE bool has_mnist_labels(const std::string& folder) {
  for (const MnistFile& file : {mnist_files[1], mnist_files[3]})
    if (io::sha256(io::read_gzip(plain_or_gzip("Mnist", folder, file.name), 10 * file.bytes)) != file.sha256) return false;
  return true;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string mnist_cache() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return text({cache, "/tern/mnist"});
  const char* const home = std::getenv("HOME");
  return home && *home ? text({home, "/.cache/tern/mnist"}) : "";
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string fetch_mnist_file(const MnistFile& file, const std::string& folder,
                                                                      const MnistSourceOptions& options) {
  std::string problems;
  for (const std::string& mirror : options.mirrors) {
    const std::string url = text({mirror, file.name, ".gz"});
    std::string problem;
    try {
      io::AtomicFile whole(text({folder, "/", file.name, ".gz"}));
      const std::string& part = whole.temporary_path();
      problem = download(url, part, options.timeout);
      if (problem.empty() && io::sha256(io::read_gzip(part, file.bytes)) != file.sha256) problem = "not MNIST's file";
      if (problem.empty()) whole.commit();
    } catch (const Error& error) {
      problem = error.what();
    }
    if (problem.empty()) return "";
    problems += text({problems.empty() ? "" : "; ", url, ": ", problem});
  }
  return problems.empty() ? "no mirrors are named" : problems;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string fetch_mnist(const std::string& folder, const MnistSourceOptions& options) {
  if (folder.empty()) return "there is no cache folder: neither XDG_CACHE_HOME nor HOME is set";
  try {
    io::make_folders(folder);
  } catch (const Error& error) {
    return error.what();
  }
  for (const MnistFile& file : mnist_files) {
    if (has_file(folder, file)) continue;
    const std::string problem = fetch_mnist_file(file, folder, options);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace tern::data::detail

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline, gnu::cold]] TERN_INLINE MnistSource mnist_source(const MnistSourceOptions& options) {
  std::string folder = options.folder, problem;
  if (folder.empty()) {
    const char* const data = std::getenv("TERN_DATA");
    if (data) folder = text({data, "/mnist"});
    if (!data || !detail::has_mnist_files(folder)) {
      folder = detail::mnist_cache();
      problem = detail::fetch_mnist(folder, options);
    }
  }
  const MnistOptions train{.train = true, .mean = options.mean, .std = options.std};
  const MnistOptions test{.train = false, .mean = options.mean, .std = options.std};
  if (!problem.empty())
    return {generated_digits(20000, 1, train), generated_digits(4000, 2, test), "generated", "", problem};
  return {Mnist::load(folder, train), Mnist::load(folder, test), detail::has_mnist_labels(folder) ? "mnist" : "files",
          folder, ""};
}

}  // namespace tern::data
