// Ranks that are threads of one process: for several devices in one program, and for tests.
#pragma once
#include <functional>

#include "communicator.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

/// The communicator of a program that runs alone: this thread is its one rank.
TERN_API Communicator single_rank();

/// Calls f(communicator) on `size` threads, each of which is one of its ranks, and returns when all have. Throws what a
/// rank threw; the others' collectives end with an Error then. Error unless size is positive.
TERN_API void run_ranks(int size, const std::function<void(const Communicator&)>& f, CallSite here = {});

}}}  // namespace tern::distributed

#ifndef TERN_COMPILED
#include "threads.ipp"
#endif
