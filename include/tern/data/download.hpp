// Fetching a file with curl or wget as a child process: no network library is needed, and no shell is involved.
#pragma once
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <ctime>

#include "../io/file.hpp"

extern char** environ;

namespace tern::inline TERN_BUILD::data::detail {

/// Runs a program found in PATH with its input and output closed off; waits for it and kills it when the time is up.
/// Returns what went wrong; empty: it ended with status 0.
TERN_API std::string run_program(const char* const* arguments, int seconds);

/// Writes what the address holds to a file. Returns what went wrong; empty: nothing.
TERN_API std::string download(const std::string& url, const std::string& path, int seconds);

}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "download.ipp"
#endif
