// What a folder holds: its names, and a data set's file, plain or compressed.
#pragma once
#include <string>
#include <vector>

#include "../io/file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// The names in a folder but hidden ones, sorted. Error, in the data set's name, if it cannot be opened.
TERN_API std::vector<std::string> names_in(const char* set, const std::string& folder);

/// folder/name or folder/name.gz, whichever is a file; empty if neither is.
TERN_API std::string find_plain_or_gzip(const std::string& folder, const std::string& name);

/// The same. Error, in the data set's name, if neither is.
TERN_API std::string plain_or_gzip(const char* set, const std::string& folder, const std::string& name);

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "folder.ipp"
#endif
