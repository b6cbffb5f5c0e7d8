#include "support/catch.hpp"

#include <tern/train/data_folder.hpp>

#include "../io/temporary_folder.hpp"

namespace train_data_folder {
using namespace tern;
using namespace tern_test;

namespace {

/// TERN_DATA with a value, or without, while this lives.
class DataVariable {
 public:
  explicit DataVariable(const char* value) {
    if (const char* const old = std::getenv("TERN_DATA")) old_ = old, was_set_ = true;
    set(value);
  }
  ~DataVariable() { set(was_set_ ? old_.c_str() : nullptr); }

 private:
  static void set(const char* value) { value ? setenv("TERN_DATA", value, 1) : unsetenv("TERN_DATA"); }
  std::string old_;
  bool was_set_ = false;
};

std::string found(const std::string& data) {
  train::Options options;
  options.data = data;
  return train::data_folder(options, "words", {"train.txt", "train"}, "Write some.");
}

}  // namespace

TEST_CASE("the data folder is that of --data, or the set's in TERN_DATA") {
  const TemporaryFolder folder;
  const std::string own = folder / "own", set = folder / "words";
  io::make_folders(own), io::make_folders(set);
  folder.put("own/train", ""), folder.put("words/train.txt.gz", "");
  const DataVariable variable(folder.path().c_str());
  CHECK(found(own) == own);
  CHECK(found("") == set);
}

TEST_CASE("a data folder without data is refused, and the error says how to get them") {
  const TemporaryFolder folder;
  {
    const DataVariable none(nullptr);
    CHECK(error_of([] { found(""); }) == "words: neither --data nor TERN_DATA names a folder with the data. Write some.");
  }
  const DataVariable variable(folder.path().c_str());
  CHECK(error_of([] { found(""); }) == "words: '" + folder.path() + "/words' has no train.txt or train. Write some.");
  CHECK(error_of([&] { found(folder.path()); }) == "words: '" + folder.path() + "' has no train.txt or train. Write some.");
}

}  // namespace train_data_folder
