// Where a data set's files come from: a folder that is given, or the user's cache folder, into which they are
// downloaded.
#pragma once
#include <vector>

#include "download.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// `folder`; if that is empty, the folder `set` in the one that the variable TERN_DATA names; empty if neither is
/// given.
TERN_API std::string given_folder(const std::string& folder, const char* set);

/// XDG_CACHE_HOME/tern/set or ~/.cache/tern/set; empty if neither variable is set.
TERN_API std::string cache_folder(const char* set);
inline constexpr const char* no_cache_folder = "there is no cache folder: neither XDG_CACHE_HOME nor HOME is set";

/// Downloads a file from the first mirror that has it to the temporary file of `to`. check(path) says what is wrong
/// with its content, or throws it as an Error. Returns what went wrong; empty on success.
template <class Check>
std::string fetch(const io::AtomicFile& to, const std::string& name, const std::vector<std::string>& mirrors,
                  int timeout, const Check& check) {
  std::string problems;
  for (const std::string& mirror : mirrors) {
    const std::string url = mirror + name;
    std::string problem = download(url, to.temporary_path(), timeout);
    try {
      if (problem.empty()) problem = check(to.temporary_path());
    } catch (const Error& error) { problem = error.without_line(); }
    if (problem.empty()) return "";
    problems += tern::detail::text({problems.empty() ? "" : "; ", url, ": ", problem});
  }
  return problems.empty() ? "no mirrors are named" : problems;
}

/// Held by the process that downloads to a folder; others wait for it. On a file system without locks they do not.
class TERN_API DownloadLock {
 public:
  /// Makes the folder if it is missing.
  explicit DownloadLock(const std::string& folder);

 private:
  io::File folder_;
};

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "source_folder.ipp"
#endif
