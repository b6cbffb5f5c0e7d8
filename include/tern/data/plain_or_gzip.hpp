// A data set's file is where it is, or is there compressed.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../io/file.hpp"

namespace tern::inline TERN_BUILD::data::detail {

/// folder/name or folder/name.gz, whichever there is; empty if there is neither.
[[gnu::noinline, gnu::cold]] inline std::string find_plain_or_gzip(const std::string& folder, const std::string& name) {
  std::string path = text({folder, "/", name});
  if (io::exists(path)) return path;
  path += ".gz";
  if (io::exists(path)) return path;
  return "";
}

/// The same. Error in the data set's name if there is neither.
[[gnu::noinline, gnu::cold]] inline std::string plain_or_gzip(const char* set, const std::string& folder,
                                                              const std::string& name) {
  std::string path = find_plain_or_gzip(folder, name);
  if (path.empty()) fail(set, {"'", folder, "': has neither ", name, " nor ", name, ".gz"});
  return path;
}

}  // namespace tern::data::detail
