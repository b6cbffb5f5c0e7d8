// The functions of plain_or_gzip.hpp that are not templates.
#pragma once
#include "plain_or_gzip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

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
  if (path.empty()) fail(set, {"'", folder, "': has neither ", name, " nor ", name, ".gz"});
  return path;
}

}}}  // namespace tern::data::detail
