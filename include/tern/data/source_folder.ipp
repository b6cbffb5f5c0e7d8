// The functions of source_folder.hpp that are not templates.
#pragma once
#include <sys/file.h>

#include <cstdlib>

#include "source_folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// The value of a variable of the environment; empty if it is not set.
TERN_COLD std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

TERN_COLD std::string given_folder(const std::string& folder, const char* set) {
  if (!folder.empty()) return folder;
  const std::string root = variable("TERN_DATA");
  return root.empty() ? "" : tern::detail::text({root, "/", set});
}

TERN_COLD std::string cache_folder(const char* set) {
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!cache.empty()) return tern::detail::text({cache, "/tern/", set});
  return home.empty() ? "" : tern::detail::text({home, "/.cache/tern/", set});
}

/// The folder, once it is there.
TERN_COLD const std::string& made(const std::string& folder) {
  io::make_folders(folder);
  return folder;
}

TERN_COLD DownloadLock::DownloadLock(const std::string& folder) : folder_(made(folder), O_RDONLY | O_DIRECTORY) {
  static_cast<void>(::flock(folder_.descriptor(), LOCK_EX));
}

}}}  // namespace tern::data::detail
