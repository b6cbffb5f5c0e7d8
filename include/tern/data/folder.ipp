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

TERN_COLD std::string find_plain_or_gzip(const std::string& folder, const std::string& name) {
  for (const char* const ending : {"", ".gz"}) {
    const std::string path = tern::detail::text({folder, "/", name, ending});
    struct stat found;
    if (::stat(path.c_str(), &found) == 0 && !S_ISDIR(found.st_mode)) return path;
  }
  return "";
}

TERN_COLD std::string plain_or_gzip(const char* set, const std::string& folder, const std::string& name) {
  std::string path = find_plain_or_gzip(folder, name);
  if (path.empty()) Error::fail(set, {"'", folder, "': has neither ", name, " nor ", name, ".gz"});
  return path;
}

}}}  // namespace tern::data::detail
