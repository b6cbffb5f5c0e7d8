// What a folder holds.
#pragma once
#include <string>
#include <vector>

#include "../io/file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// The names in a folder but hidden ones, sorted. Error, in the data set's name, if it cannot be opened.
TERN_API std::vector<std::string> names_in(const char* set, const std::string& folder);

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "folder.ipp"
#endif
