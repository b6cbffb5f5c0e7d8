#include "support/catch.hpp"

#include <tern/data/download.hpp>

#include "../io/temporary_folder.hpp"

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
  CHECK(run({"tern-no-such-program"}, 10) == "tern-no-such-program: No such file or directory");
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

}  // namespace data_download
