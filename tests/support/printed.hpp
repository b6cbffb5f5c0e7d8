// What a piece of code prints.
#pragma once
#include "catch.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <string>

namespace tern_test {

/// While alive, standard output is the file `end`, which it closes.
class Redirected {
 public:
  explicit Redirected(int end) : end_(end), before_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    dup2(end, STDOUT_FILENO);
  }
  ~Redirected() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    ::close(before_);
    ::close(end_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int end_, before_;
};

/// What f prints where its standard output is the file `end`, which is read at `other_end`. Both are closed.
template <class F>
std::string printed_to(int end, int other_end, const F& f) {
  {
    const Redirected away(end);
    f();
  }
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(other_end, buffer, sizeof buffer)) > 0;) text.append(buffer, std::size_t(n));
  ::close(other_end);
  return text;
}

/// What f prints where there is no terminal; less than a pipe holds.
template <class F>
std::string printed(const F& f) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  return printed_to(ends[1], ends[0], f);
}

}  // namespace tern_test
