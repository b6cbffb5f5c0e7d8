// CIFAR-10, IMDb's film reviews and a text of Nietzsche: in a folder that is given, or downloaded once. tern.hpp does
// not include this header.
#pragma once
#include "source_folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct SourceOptions {
  std::string folder = "";  ///< the folder with the files; empty: the set's in TERN_DATA, or the user's cache
  std::vector<std::string> mirrors = {};  ///< addresses of folders to download from; none: where the set is published
  int timeout = 3600;                     ///< for the download, in seconds
};

/// The folder with CIFAR-10's binary files, for Cifar10::load: options.folder, if it is given; TERN_DATA/cifar10, if
/// that variable is set; else the user's cache folder, into which 170 MB are downloaded where it lacks them, verified
/// by their SHA-256. Before a download, a line to stderr says so. Error if the folder that is given lacks the files, or
/// if they cannot be downloaded; it tells how to get them.
TERN_API std::string cifar10_source(const SourceOptions& options = {}, CallSite here = {});

/// The folder with IMDb's reviews, for Imdb, found in the same way: TERN_DATA/imdb, or 84 MB to download. In the cache
/// folder are train.tsv and test.tsv, in which line breaks within a review are spaces.
TERN_API std::string imdb_source(const SourceOptions& options = {}, CallSite here = {});

/// The file nietzsche.txt, plain or .gz, found in the same way: TERN_DATA/nietzsche, or 0.6 MB to download, verified by
/// their number.
TERN_API std::string nietzsche_source(const SourceOptions& options = {}, CallSite here = {});

namespace detail {

/// A data set that is published as one file.
struct Published {
  const char* set;                 // the name of its folder in TERN_DATA and in the cache
  const char* mirror;              // the address of the folder where the file is published
  const char* file;                // its name there
  Index bytes;                     // of it
  std::string sha256;              // of it; empty if nobody has published one
  std::vector<const char*> files;  // what the cache folder has once the set is there
  /// Makes these of what was downloaded. Each file appears complete or not at all.
  void (*keep)(io::AtomicFile& downloaded, const std::string& folder);
  const char* remedy;  // how to get the files without a download
};
TERN_API Published published_cifar10();
TERN_API Published published_imdb();
TERN_API Published published_nietzsche();

/// The set's cache folder, with its files.
TERN_API std::string cached(const Published& set, const SourceOptions& options);

}  // namespace detail

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "sources.ipp"
#endif
