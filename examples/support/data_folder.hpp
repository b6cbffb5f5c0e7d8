// Where a trainer finds its data.
#pragma once
#include <tern/data/folder.hpp>
#include <tern/data/source_folder.hpp>

#include "options.hpp"

namespace support {

/// The folder with a data set: that of --data, or `set` in the folder that the variable TERN_DATA names. Error unless
/// it has one of `files`, plain or .gz; it ends with `remedy`, which says how to get the data.
inline std::string data_folder(const Options& options, const char* set, std::initializer_list<const char*> files,
                               const char* remedy) {
  const std::string folder = tern::data::detail::given_folder(options.data, set);
  if (folder.empty()) Error::fail(set, {"neither --data nor TERN_DATA names a folder with the data. ", remedy});
  std::string names;
  for (const char* const file : files) {
    if (!tern::data::detail::find_plain_or_gzip(folder, file).empty()) return folder;
    names += std::string(names.empty() ? "" : " or ") + file;
  }
  Error::fail(set, {"'", folder, "' has no ", names, ". ", remedy});
}

}  // namespace support
