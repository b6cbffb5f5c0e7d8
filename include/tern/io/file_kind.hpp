// What a file is that is not what its reader expects: the name may be wrong, or the download be a page that says why
// there is none. Readers of all formats ask, so it is apart from each.
#pragma once
#include <string>
#include <string_view>

#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// How a message goes on that says what a file is not: ", but a WebP picture", by its first bytes; empty if they are of
/// no known kind.
TERN_API std::string but_of_kind(std::string_view bytes);

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "file_kind.ipp"
#endif
