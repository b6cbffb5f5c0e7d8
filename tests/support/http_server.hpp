// A server on this machine, for tests of downloads.
#pragma once
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "catch.hpp"
#include "variable.hpp"

namespace tern_test {

/// Serves the files of a folder on 127.0.0.1 while it lives, by Python. Of a file in its folder `cut`, the connection
/// ends after the first half; one in `slow` comes after 5 s. What the environment says of proxies does not count
/// meanwhile.
class HttpServer {
 public:
  explicit HttpServer(const std::string& folder) {
    static const char* const program = R"(
import http.server, sys, time
class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments): super().__init__(*arguments, directory=sys.argv[1])
    def log_message(self, *arguments): pass
    def copyfile(self, file, out):
        content = file.read()
        if self.path.startswith("/slow/"): time.sleep(5)
        out.write(content[:len(content) // 2] if self.path.startswith("/cut/") else content)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
)";
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], 1);
      ::close(ends[0]), ::close(ends[1]);
      execlp("python3", "python3", "-c", program, folder.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    ::close(ends[1]);
    std::FILE* const said = fdopen(ends[0], "r");
    int port = 0;
    const bool read = std::fscanf(said, "%d", &port) == 1;
    std::fclose(said);
    INFO("python3 starts a server");
    REQUIRE(read);
    address_ = "http://127.0.0.1:" + std::to_string(port) + "/";
  }
  ~HttpServer() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The address of the folder, with a slash at the end.
  const std::string& address() const { return address_; }

 private:
  Variable no_proxy_{"no_proxy", "*"};
  pid_t child_;
  std::string address_;
};

}  // namespace tern_test
