// Where MNIST comes from: a folder, a download, or, if neither is available, digits that the program draws.
#pragma once
#include <vector>

#include "../io/sha256.hpp"
#include "digits.hpp"
#include "source_folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// The public mirrors of MNIST.
TERN_API std::vector<std::string> mnist_mirrors();

struct MnistSourceOptions {
  std::string folder = "";  ///< the folder with the files; empty: TERN_DATA/mnist or, without it, the user's cache
  float mean = 0, std = 1;  ///< of the pixels
  std::vector<std::string> mirrors = mnist_mirrors();
  int timeout = 120;  ///< for the download of one file, in seconds
};

/// Training and test images, and their origin.
struct MnistSource {
  Mnist train, test;
  std::string source;  ///< "mnist"; "generated": drawn by the program; "files": other data in files with MNIST's names
  std::string folder;  ///< the folder with the files; empty for generated images
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

/// True if the labels are MNIST's. This is a cheap test for other data in files with the same names.
TERN_API bool has_mnist_labels(const std::string& folder);

/// Downloads the files that the folder lacks. A file gets its name only after its content was verified. Returns what
/// went wrong; empty if all files are there.
TERN_API std::string fetch_mnist(const std::string& folder, const MnistSourceOptions& options);

}  // namespace detail

/// MNIST from options.folder, if it is given, or TERN_DATA/mnist, if that variable is set. Else from the user's cache
/// folder, into which the files are downloaded where it lacks them, verified by their SHA-256; or, if that is
/// impossible, digits that the program draws. Nothing is printed: `source` tells which, and `reason` why they are
/// drawn. Error if files exist but are damaged, or if the folder that is given lacks them.
TERN_API MnistSource mnist_source(const MnistSourceOptions& options = {}, CallSite here = {});

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "mnist_source.ipp"
#endif
