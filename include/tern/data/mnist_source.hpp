// Where MNIST comes from: a folder, a download, or, where there is neither, the program's own drawing.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "../io/sha256.hpp"
#include "digits.hpp"
#include "download.hpp"

namespace tern::inline TERN_BUILD::data {

/// The public mirrors of MNIST.
[[gnu::noinline, gnu::cold]] inline std::vector<std::string> mnist_mirrors() {
  return {"https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"};
}

struct MnistSourceOptions {
  std::string folder = "";  ///< where the files are; empty: TERN_DATA/mnist, else the user's cache folder
  float mean = 0, std = 1;  ///< of the pixels
  std::vector<std::string> mirrors = mnist_mirrors();
  int timeout = 120;        ///< seconds for the download of one file
};

/// Training and test images, and what they are.
struct MnistSource {
  Mnist train, test;
  std::string source;  ///< "mnist"; "generated": drawn by the program; "files": other data in a folder's MNIST files
  std::string folder;  ///< where the files are; empty where the images are generated
  std::string reason;  ///< why the images are generated
};

namespace detail {

struct MnistFile {
  const char* name;
  const char* sha256;  // of the uncompressed file
  Index bytes;
};
inline constexpr MnistFile mnist_files[] = {
    {"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", 47040016},
    {"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 60008},
    {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", 7840016},
    {"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 10008},
};

[[gnu::noinline, gnu::cold]] inline bool has_file(const std::string& folder, const MnistFile& file) {
  return !find_plain_or_gzip(folder, file.name).empty();
}

[[gnu::noinline, gnu::cold]] inline bool has_mnist_files(const std::string& folder) {
  for (const MnistFile& file : mnist_files)
    if (!has_file(folder, file)) return false;
  return true;
}

/// The labels are MNIST's: enough to tell other data in files of the same names, at no cost.
[[gnu::noinline, gnu::cold]] inline bool has_mnist_labels(const std::string& folder) {
  for (const MnistFile& file : {mnist_files[1], mnist_files[3]})
    if (io::sha256(io::read_gzip(plain_or_gzip("Mnist", folder, file.name), 10 * file.bytes)) != file.sha256) return false;
  return true;
}

/// XDG_CACHE_HOME/tern/mnist or ~/.cache/tern/mnist; empty where the environment names neither.
[[gnu::noinline, gnu::cold]] inline std::string mnist_cache() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return text({cache, "/tern/mnist"});
  const char* const home = std::getenv("HOME");
  return home && *home ? text({home, "/.cache/tern/mnist"}) : "";
}

/// Fetches one file from the first mirror that has it. It gets its name only once its content is known to be right.
/// Returns what went wrong; empty: nothing.
[[gnu::noinline, gnu::cold]] inline std::string fetch_mnist_file(const MnistFile& file, const std::string& folder,
                                                                 const MnistSourceOptions& options) {
  const std::string path = text({folder, "/", file.name, ".gz"}), part = text({path, ".", Index(::getpid()), ".part"});
  std::string problems;
  for (const std::string& mirror : options.mirrors) {
    const std::string url = text({mirror, file.name, ".gz"});
    std::string problem = download(url, part, options.timeout);
    try {
      if (problem.empty() && io::sha256(io::read_gzip(part, file.bytes)) != file.sha256) problem = "not MNIST's file";
    } catch (const Error& error) {
      problem = error.what();
    }
    if (problem.empty() && std::rename(part.c_str(), path.c_str()) != 0) problem = std::strerror(errno);
    ::unlink(part.c_str());
    if (problem.empty()) return "";
    problems += text({problems.empty() ? "" : "; ", url, ": ", problem});
  }
  return problems.empty() ? "no mirrors are named" : problems;
}

/// Fetches the files that the folder lacks. Returns what went wrong; empty: they are all there.
[[gnu::noinline, gnu::cold]] inline std::string fetch_mnist(const std::string& folder,
                                                            const MnistSourceOptions& options) {
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

}  // namespace detail

/// MNIST from options.folder, where it must be; else from TERN_DATA/mnist or the user's cache folder; else downloaded
/// into the latter, once, and compared with the known SHA-256 of its content; else digits that the program draws, and
/// `source` says so. Error where files are there but damaged.
[[gnu::noinline, gnu::cold]] inline MnistSource mnist_source(const MnistSourceOptions& options = {}) {
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
