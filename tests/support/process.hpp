// Tests that need a process in which CUDA has not been used: a hidden test case, run by this executable started anew,
// and forks of that.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "catch.hpp"

namespace tern_test {

/// What a process said, and whether it ended well.
struct Ended {
  bool well;
  std::string output;
};

/// Runs the hidden test case of that name in a process of its own, with more in its environment.
inline Ended run_test_case(const std::string& name, const std::string& environment) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::FILE* const pipe = popen((environment + " '" + self + "' '" + name + "' 2>&1").c_str(), "r");
  REQUIRE(pipe);
  Ended ended;
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) ended.output.append(part, n);
  ended.well = pclose(pipe) == 0;
  return ended;
}

/// Runs f, which returns a text, in a fork of this process, for at most so many seconds.
template <class F>
Ended run_in_fork(const F& f, unsigned seconds = 60) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    ::close(ends[0]);
    alarm(seconds);
    std::signal(SIGSEGV, SIG_DFL);  // else Catch2 reports a failure of its own
    std::string said;
    bool well = true;
    try {
      said = f();
    } catch (const std::exception& error) {
      said = error.what();
      well = false;
    }
    const bool told = write(ends[1], said.data(), said.size()) == ssize_t(said.size());
    _exit(told && well ? 0 : 1);
  }
  ::close(ends[1]);
  Ended ended;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) ended.output.append(part, std::size_t(n));
  ::close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ended.well = status == 0;
  if (WIFSIGNALED(status)) ended.output += " (signal " + std::to_string(WTERMSIG(status)) + ")";
  return ended;
}

}  // namespace tern_test
