// The functions of download.hpp that are not templates.
#pragma once
#include "download.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

inline constexpr const char* not_installed = "not installed";

TERN_COLD std::string run_program(const char* const* arguments, int seconds,
                                  std::initializer_list<ExitStatus> meanings) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  pid_t child;
  const int refused =
      posix_spawnp(&child, arguments[0], &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused)
    return tern::detail::text({arguments[0], ": ", refused == ENOENT ? not_installed : std::strerror(refused)});
  constexpr int checks_a_second = 50;
  int status = 0;
  for (int check = 0; waitpid(child, &status, WNOHANG) == 0; ++check) {
    if (check == seconds * checks_a_second) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return tern::detail::text({arguments[0], ": took more than ", seconds, " s"});
    }
    const timespec pause{0, 1'000'000'000 / checks_a_second};
    nanosleep(&pause, nullptr);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  for (const auto& [known, meaning] : meanings)
    if (WIFEXITED(status) && WEXITSTATUS(status) == known) return tern::detail::text({arguments[0], ": ", meaning});
  if (WIFEXITED(status)) return tern::detail::text({arguments[0], ": exit status ", WEXITSTATUS(status)});
  return tern::detail::text({arguments[0], ": ended by signal ", WTERMSIG(status)});
}

TERN_COLD std::string download(const std::string& url, const std::string& path, int seconds) {
  const std::string limit = tern::detail::text({seconds});
  const char* const curl[] = {"curl",        "-fsSL", "--connect-timeout", "10", "--speed-time", "30",   "--max-time",
                              limit.c_str(), "-o",    path.c_str(),        "--", url.c_str(),    nullptr};
  const std::string problem = run_program(
      curl, seconds + 5,
      {{5, "the proxy was not found"},
       {6, "host not found"},
       {7, "no connection to the server"},
       {18, "the connection ended before the file did"},
       {22, "the server has no such file, or refuses it"},
       {23, "the file cannot be written"},
       {28, "the server is too slow, or did not answer in time"},
       {35, "no secure connection to the server"},
       {60, "the server's certificate is not trusted; the system's certificates may be missing (ca-certificates)"}});
  if (!problem.ends_with(not_installed)) return problem;
  const char* const wget[] = {"wget",       "--quiet", "--tries=1", "--timeout=10", "-O",
                              path.c_str(), "--",      url.c_str(), nullptr};
  const std::string wget_problem = run_program(
      wget, seconds + 5,
      {{3, "the file cannot be written"},
       {4, "host not found, or no connection to the server"},
       {5, "the server's certificate is not trusted; the system's certificates may be missing (ca-certificates)"},
       {8, "the server has no such file, or refuses it"}});
  return wget_problem.empty() ? "" : tern::detail::text({problem, ", ", wget_problem});
}

}}}  // namespace tern::data::detail
