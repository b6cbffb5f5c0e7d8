// The functions of data_folder.hpp that are not templates.
#pragma once
#include "../data/plain_or_gzip.hpp"
#include "data_folder.hpp"

namespace tern::inline TERN_BUILD::train {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string data_folder(const Options& options, const char* set,
                                                                 std::initializer_list<const char*> files, const char* remedy) {
  const char* const root = std::getenv("TERN_DATA");
  if (options.data.empty() && !root) fail(set, {"neither --data nor TERN_DATA names a folder with the data. ", remedy});
  const std::string folder = options.data.empty() ? text({root, "/", set}) : options.data;
  std::string names;
  for (const char* const file : files) {
    if (!data::detail::find_plain_or_gzip(folder, file).empty()) return folder;
    names += text({names.empty() ? "" : " or ", file});
  }
  fail(set, {"'", folder, "' has no ", names, ". ", remedy});
}

}  // namespace tern::train
