// Where a trainer finds its data.
#pragma once
#include "options.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// The folder with a data set: that of --data, or `set` in the folder that the variable TERN_DATA names. Error unless
/// it has one of `files`, plain or .gz; it ends with `remedy`, which says how to get the data.
TERN_API std::string data_folder(const Options& options, const char* set, std::initializer_list<const char*> files,
                                 const char* remedy);

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "data_folder.ipp"
#endif
