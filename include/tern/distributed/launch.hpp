// What a program can know of its ranks before it starts MPI, or without one.
#pragma once
#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

/// How many ranks mpirun, or another launcher of MPI's ranks, has started with this process: 0 if none has started it.
TERN_API int launched_ranks();

}}}  // namespace tern::distributed

#ifndef TERN_COMPILED
#include "launch.ipp"
#endif
