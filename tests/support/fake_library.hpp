// Libraries that tests make, and the folders that lead to them.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "variable.hpp"

namespace tern_test {

/// A new folder, which is removed.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tern_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& below) const { return path_ / below; }
  std::string text() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// A library of some code. Like those of a CUDA Toolkit it names no folder for what it needs.
inline std::string make_library(const std::filesystem::path& file, const std::string& code,
                                const std::string& needs = "") {
  std::filesystem::create_directories(file.parent_path());
  const std::string source = file.string() + ".cpp", name = file.filename();
  std::ofstream(source) << code;
  const std::string command =
      "c++ -shared -fPIC -Wl,-soname," + name + " -o '" + file.string() + "' '" + source + "' " + needs;
  REQUIRE(std::system(command.c_str()) == 0);
  return file;
}

}  // namespace tern_test
