// Downloads a file with curl or wget as a child process. So the library needs no network library, and no shell is
// involved.
#pragma once
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <ctime>
#include <initializer_list>

#include "../io/file.hpp"

extern char** environ;

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// What a program means by an exit status.
struct ExitStatus {
  int status;
  const char* meaning;
};

/// Runs a program from PATH with its input and output closed, and waits for it. Kills it when the time is up. Returns
/// what went wrong; empty if it ended with status 0.
TERN_API std::string run_program(const char* const* arguments, int seconds,
                                 std::initializer_list<ExitStatus> meanings = {});

/// Downloads the address to a file with curl or, where that is not installed, with wget. Returns what went wrong; empty
/// on success.
TERN_API std::string download(const std::string& url, const std::string& path, int seconds);

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "download.ipp"
#endif
