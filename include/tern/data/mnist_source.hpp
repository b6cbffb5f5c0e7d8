// Where MNIST comes from: a folder, a download, or, where there is neither, the program's own drawing.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "../io/sha256.hpp"
#include "digits.hpp"
#include "download.hpp"

namespace tern::inline TERN_BUILD::data {

/// The public mirrors of MNIST.
TERN_API std::vector<std::string> mnist_mirrors();

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

TERN_API bool has_file(const std::string& folder, const MnistFile& file);

TERN_API bool has_mnist_files(const std::string& folder);

/// The labels are MNIST's: enough to tell other data in files of the same names, at no cost.
TERN_API bool has_mnist_labels(const std::string& folder);

/// XDG_CACHE_HOME/tern/mnist or ~/.cache/tern/mnist; empty where the environment names neither.
TERN_API std::string mnist_cache();

/// Fetches one file from the first mirror that has it. It gets its name only once its content is known to be right.
/// Returns what went wrong; empty: nothing.
TERN_API std::string fetch_mnist_file(const MnistFile& file, const std::string& folder, const MnistSourceOptions& options);

/// Fetches the files that the folder lacks. Returns what went wrong; empty: they are all there.
TERN_API std::string fetch_mnist(const std::string& folder, const MnistSourceOptions& options);

}  // namespace detail

/// MNIST from options.folder, where it must be; else from TERN_DATA/mnist or the user's cache folder; else downloaded
/// into the latter, once, and compared with the known SHA-256 of its content; else digits that the program draws, and
/// `source` says so. Error where files are there but damaged.
TERN_API MnistSource mnist_source(const MnistSourceOptions& options = {});

}  // namespace tern::data

#ifndef TERN_COMPILED
#include "mnist_source.ipp"
#endif
