#include "support/catch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <tern/io/file.hpp>

#include "temporary_folder.hpp"

namespace io_file {
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

TEST_CASE("a link is written through, and permissions stay", "[io]") {
  const TemporaryFolder folder;
  const auto mode = [](const std::string& path) { return unsigned(std::filesystem::status(path).permissions()); };
  const std::string path = folder.put("x", "old");
  std::filesystem::create_symlink("x", folder / "link");
  std::filesystem::create_symlink(folder / "link", folder / "second");
  for (const unsigned permissions : {0600u, 0664u, 0777u}) {
    std::filesystem::permissions(path, std::filesystem::perms(permissions));
    io::write_file_atomically(folder / "second", "new");
    CHECK(std::filesystem::is_symlink(folder / "second"));
    CHECK(content_of(path) == "new");
    CHECK(mode(path) == permissions);
  }
  std::filesystem::create_symlink("not yet", folder / "dangling");
  io::write_file_atomically(folder / "dangling", "made");
  CHECK(content_of(folder / "not yet") == "made");
  std::filesystem::create_symlink("loop", folder / "loop");
  CHECK(
      error_of([&] { io::write_file_atomically(folder / "loop", ""); }).ends_with("Too many levels of symbolic links"));
}

TEST_CASE("pipes, folders and devices are neither read nor written", "[io]") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0666) == 0);
  for (const std::string& path : {pipe, folder.path(), std::string("/dev/null")}) {
    const std::string refusal = "file: '" + path + "': is not a regular file";
    CHECK(error_of([&] { io::read_file(path, 9); }) == refusal);
    CHECK(error_of([&] { io::MappedFile{path}; }) == refusal);
    CHECK(error_of([&] { io::write_file_atomically(path, "x"); }) == refusal);
    CHECK(error_of([&] { io::check_writable(path); }) == refusal);
  }
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a path is checked before it is written", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", "old");
  CHECK_NOTHROW(io::check_writable(path));
  CHECK_NOTHROW(io::check_writable(folder / "new"));
  CHECK(content_of(path) == "old");
  CHECK(folder.file_count() == 1);
  CHECK(error_of([&] { io::check_writable(folder / "new/"); }) == "file: '" + (folder / "new/") + "': names no file");
  CHECK(error_of([&] { io::check_writable(""); }) == "file: '': names no file");
  CHECK(error_of([&] { io::check_writable(folder / "none/x"); }).find("No such file or directory") !=
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

TEST_CASE("a process killed while it writes leaves the old file whole, and the next save removes what it left",
          "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", "old");
  // Only temporary files of x itself are removed.
  for (const char* const other :
       {"y.0123456789abcdef.tmp", "x.0123456789abcdeg.tmp", "x.0123456789abcdef.tmp.z", "x.tmp"})
    folder.put(other, "another's");
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
  CHECK(folder.file_count() == 6);
  io::write_file_atomically(path, "new");
  CHECK(content_of(path) == "new");
  CHECK(folder.file_count() == 5);
}

TEST_CASE("saves of one file that run at the same time leave each other's temporary files", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  int to_child[2], to_parent[2];
  REQUIRE(pipe(to_child) == 0);
  REQUIRE(pipe(to_parent) == 0);
  char signal = 0;
  const pid_t child = fork();  // it stands for a process of another container, where it may have the same number
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      io::AtomicFile file(path);
      file.write("theirs", 6);
      const bool told = write(to_parent[1], "x", 1) == 1 && read(to_child[0], &signal, 1) == 1;
      file.commit();
      _exit(told ? 0 : 1);
    } catch (const Error&) { _exit(1); }
  }
  REQUIRE(read(to_parent[0], &signal, 1) == 1);
  {
    io::AtomicFile first(path), second(path);
    first.write("first", 5), second.write("second", 6);
    second.commit();
    CHECK(content_of(path) == "second");
    first.commit();
    CHECK(content_of(path) == "first");
  }
  REQUIRE(write(to_child[1], "x", 1) == 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(content_of(path) == "theirs");
  CHECK(folder.file_count() == 1);
  for (const int descriptor : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(descriptor);
}

}  // namespace io_file
