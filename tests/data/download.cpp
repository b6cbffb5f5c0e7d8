#include "support/catch.hpp"

#include <tern/data/download.hpp>

#include "../io/temporary_folder.hpp"
#include "support/http_server.hpp"

namespace data_download {

using tern::data::detail::download;
using tern::data::detail::run_program;
using tern_test::TemporaryFolder;

namespace {

std::string run(std::initializer_list<const char*> arguments, int seconds) {
  std::vector<const char*> list(arguments);
  list.push_back(nullptr);
  return run_program(list.data(), seconds);
}

}  // namespace

TEST_CASE("how a program ended is told", "[data]") {
  CHECK(run({"true"}, 10) == "");
  CHECK(run({"false"}, 10) == "false: exit status 1");
  CHECK(run({"tern-no-such-program"}, 10) == "tern-no-such-program: not installed");
  CHECK(run({"sleep", "60"}, 1) == "sleep: took more than 1 s");
  CHECK(run({"sh", "-c", "kill -9 $$"}, 10) == "sh: ended by signal 9");
  CHECK(run({"sh", "-c", "read line && echo nobody reads this"}, 10) == "sh: exit status 1");
}

TEST_CASE("an address is an argument, never a command", "[data]") {
  const TemporaryFolder folder;
  const std::string mark = folder / "mark";
  for (const std::string& url : {"http://127.0.0.1:9/$(touch " + mark + ")", "; touch " + mark, "--output=" + mark})
    CHECK(download(url, folder / "out", 5) != "");
  CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE("a file is fetched", "[data]") {
  if (run({"curl", "--version"}, 10) != "") SKIP_TEST("needs curl, which can read file:// addresses");
  const TemporaryFolder folder;
  const std::string from = folder.put("from", "content");
  CHECK(download("file://" + from, folder / "to", 10) == "");
  CHECK(tern_test::content_of(folder / "to") == "content");
  CHECK(download("file://" + (folder / "none"), folder / "to", 10).starts_with("curl: exit status 37"));
}

TEST_CASE("curl's exit statuses are words", "[data]") {
  if (run({"curl", "--version"}, 10) != "") SKIP_TEST("needs curl");
  const TemporaryFolder folder;
  for (const char* const name : {"cut", "slow"}) {
    std::filesystem::create_directories(folder / name);
    folder.put(std::string(name) + "/file", "content");
  }
  const tern_test::HttpServer server(folder.path());
  const auto problem = [&](const std::string& url, int seconds = 10) { return download(url, folder / "to", seconds); };
  CHECK(problem("http://no-such-host.invalid/") == "curl: host not found");
  CHECK(problem("http://127.0.0.1:9/") == "curl: no connection to the server");
  CHECK(problem(server.address() + "none") == "curl: the server has no such file, or refuses it");
  CHECK(problem(server.address() + "cut/file") == "curl: the connection ended before the file did");
  CHECK(problem(server.address() + "slow/file", 1) == "curl: the server is too slow, or did not answer in time");
  CHECK(problem("https" + server.address().substr(4)) == "curl: no secure connection to the server");
  CHECK(download(server.address() + "cut/file", folder / "none/to", 10) == "curl: the file cannot be written");
  const tern_test::Variable proxied("no_proxy", nullptr), proxy("http_proxy", "http://no-such-host.invalid:1/");
  CHECK(problem("http://127.0.0.1:9/") == "curl: the proxy was not found");
}

TEST_CASE("wget fetches where curl is not installed", "[data]") {
  if (!std::filesystem::exists("/usr/bin/wget")) SKIP_TEST("needs wget");
  const TemporaryFolder folder, programs;
  folder.put("file", "content");
  const tern_test::HttpServer server(folder.path());
  std::filesystem::create_symlink("/usr/bin/wget", programs / "wget");
  const tern_test::Variable path("PATH", programs.path().c_str());
  CHECK(download(server.address() + "file", folder / "to", 10) == "");
  CHECK(tern_test::content_of(folder / "to") == "content");
  CHECK(download(server.address() + "none", folder / "to", 10) ==
        "curl: not installed, wget: the server has no such file, or refuses it");
  std::filesystem::remove(programs / "wget");
  CHECK(download(server.address() + "file", folder / "to", 10) == "curl: not installed, wget: not installed");
}

}  // namespace data_download
