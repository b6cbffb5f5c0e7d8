// pack.json: what a folder of packed pictures holds.
#pragma once
#include <string>
#include <vector>

#include "../../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct PackList {
  std::string kind = "";    ///< of data set, for the program that packs
  std::string format = "";  ///< tfrecord, recordio, tar or lmdb
  Index shards = 1;
  Index samples = 0;
  Index shuffle = 0;  ///< the seed of the order in which samples were packed; 0: in that of the data set
  Index size = 0;     ///< the pixels to which the shorter sides were reduced; 0: pictures are as they were
  std::vector<std::string> classes{};

  friend bool operator==(const PackList&, const PackList&) = default;

  /// Error that names the file if it is not one of these.
  static PackList read(const std::string& path, CallSite here = {});
  std::string json() const;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "pack_list.ipp"
#endif
