// The functions of data_folder.hpp that are not templates.
#pragma once
#include "../data/plain_or_gzip.hpp"
#include "../data/source_folder.hpp"
#include "data_folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

TERN_COLD std::string data_folder(const Options& options, const char* set, std::initializer_list<const char*> files,
                                  const char* remedy) {
  const std::string folder = data::detail::given_folder(options.data, set);
  if (folder.empty()) fail(set, {"neither --data nor TERN_DATA names a folder with the data. ", remedy});
  std::string names;
  for (const char* const file : files) {
    if (!data::detail::find_plain_or_gzip(folder, file).empty()) return folder;
    names += tern::detail::text({names.empty() ? "" : " or ", file});
  }
  fail(set, {"'", folder, "' has no ", names, ". ", remedy});
}

}}}  // namespace tern::train
