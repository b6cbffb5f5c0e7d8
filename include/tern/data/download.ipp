// The functions of download.hpp that are not templates.
#pragma once
#include "download.hpp"

namespace tern::inline TERN_BUILD::data::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string run_program(const char* const* arguments, int seconds) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  pid_t child;
  const int refused =
      posix_spawnp(&child, arguments[0], &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused) return text({arguments[0], ": ", std::strerror(refused)});
  constexpr int checks_a_second = 50;
  int status = 0;
  for (int check = 0; waitpid(child, &status, WNOHANG) == 0; ++check) {
    if (check == seconds * checks_a_second) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return text({arguments[0], ": took more than ", seconds, " s"});
    }
    const timespec pause{0, 1'000'000'000 / checks_a_second};
    nanosleep(&pause, nullptr);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (WIFEXITED(status)) return text({arguments[0], ": exit status ", WEXITSTATUS(status)});
  return text({arguments[0], ": ended by signal ", WTERMSIG(status)});
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string download(const std::string& url, const std::string& path, int seconds) {
  const std::string limit = text({seconds});
  const char* const curl[] = {"curl", "-fsSL", "--connect-timeout", "10",        "--max-time", limit.c_str(),
                              "-o",   path.c_str(), "--",           url.c_str(), nullptr};
  const char* const wget[] = {"wget", "--quiet",    "--tries=1", "--timeout=10",
                              "-O",   path.c_str(), "--",        url.c_str(), nullptr};
  const std::string curl_problem = run_program(curl, seconds + 5);
  if (curl_problem.empty()) return "";
  const std::string wget_problem = run_program(wget, seconds + 5);
  return wget_problem.empty() ? "" : text({curl_problem, ", ", wget_problem});
}

}  // namespace tern::data::detail
