#include "support/catch.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <tern/io/file.hpp>

#include "temporary_folder.hpp"

using namespace tern;
using tern_test::content_of;
using tern_test::error_of;
using tern_test::TemporaryFolder;

TEST_CASE("a file is read whole, up to a limit", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", std::string("a\0b", 3));
  CHECK(io::read_file(path, 3) == std::string("a\0b", 3));
  CHECK(error_of([&] { io::read_file(path, 2); }) == "file: '" + path + "': is larger than allowed: 3 > 2 bytes");
  CHECK(error_of([&] { io::read_file(folder / "none", 9); }) ==
        "file: '" + (folder / "none") + "': cannot be opened: No such file or directory");
  CHECK(error_of([&] { io::read_file(folder.path(), 9); }) == "file: '" + folder.path() + "': is not a regular file");
}

TEST_CASE("a mapped file reads as the file does and does not change it", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", "hello");
  {
    const io::MappedFile file(path);
    CHECK(std::string(file.data(), std::size_t(file.size())) == "hello");
    file.data()[0] = 'j';
  }
  CHECK(content_of(path) == "hello");
  CHECK(io::MappedFile(folder.put("empty", "")).size() == 0);
}

TEST_CASE("folders are made with those above them", "[io]") {
  const TemporaryFolder folder;
  io::make_folders(folder / "a/b/c");
  io::make_folders(folder / "a/b/c/");
  CHECK(std::filesystem::is_directory(folder / "a/b/c"));
  const std::string file = folder.put("file", "");
  CHECK(error_of([&] { io::make_folders(file + "/below"); }) ==
        "file: '" + file + "/below': cannot be made: Not a directory");
  CHECK(io::folder_of("a/b") == "a");
  CHECK(io::folder_of("a") == ".");
  CHECK(io::folder_of("/a") == "/");
}

TEST_CASE("an atomic write replaces the file at commit, and leaves nothing else", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", "old");
  {
    io::AtomicFile file(path);
    file.write("new", 3);
    CHECK(content_of(path) == "old");
    file.commit();
    CHECK(content_of(path) == "new");
  }
  { io::AtomicFile(path).write("given up", 8); }
  CHECK(content_of(path) == "new");
  CHECK(folder.file_count() == 1);
  CHECK(error_of([&] { io::write_file_atomically(folder / "none/x", ""); }).find("No such file or directory") !=
        std::string::npos);
}

TEST_CASE("what does not fit leaves the old file whole", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", "old");
  rlimit limit;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit small{1 << 16, limit.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string message = error_of([&] { io::write_file_atomically(path, std::string(1 << 20, 'x')); });
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, handler);
  CHECK(message.find("file: '" + path) == 0);
  CHECK(message.find("cannot be written: File too large") != std::string::npos);
  CHECK(content_of(path) == "old");
  CHECK(folder.file_count() == 1);

  if (io::exists("/dev/full"))
    CHECK(error_of([] { io::File("/dev/full", O_WRONLY).write("x", 1); }) ==
          "file: '/dev/full': cannot be written: No space left on device");
}

TEST_CASE("a process killed while it writes leaves the old file whole", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", "old");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    io::AtomicFile file(path);
    file.write("half", 4);
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(content_of(path) == "old");
}
