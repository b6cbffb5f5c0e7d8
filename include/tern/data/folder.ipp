// The functions of folder.hpp that are not templates.
#pragma once
#include <dirent.h>

#include <algorithm>

#include "folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD std::vector<std::string> names_in(const char* set, const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  if (!open) io::fail_errno(set, folder, "cannot be opened");
  while (const dirent* entry = ::readdir(open))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

}}}  // namespace tern::data::detail
