#include "support/catch.hpp"
#include "support/variable.hpp"

#include "../../examples/support/data_folder.hpp"
#include "../io/temporary_folder.hpp"

namespace trainers_data_folder {
using namespace tern;
using namespace tern_test;

namespace {

std::string found(const std::string& data) {
  support::Options options;
  options.data = data;
  return support::data_folder(options, "words", {"train.txt", "train"}, "Write some.");
}

}  // namespace

TEST_CASE("the data folder is that of --data, or the set's in TERN_DATA") {
  const TemporaryFolder folder;
  const std::string own = folder / "own", set = folder / "words";
  io::make_folders(own), io::make_folders(set);
  folder.put("own/train", ""), folder.put("words/train.txt.gz", "");
  const Variable variable("TERN_DATA", folder.path().c_str());
  CHECK(found(own) == own);
  CHECK(found("") == set);
}

TEST_CASE("a data folder without data is refused, and the error says how to get them") {
  const TemporaryFolder folder;
  {
    const Variable none("TERN_DATA", nullptr);
    CHECK(error_of([] { found(""); }) ==
          "words: neither --data nor TERN_DATA names a folder with the data. Write some.");
  }
  const Variable variable("TERN_DATA", folder.path().c_str());
  CHECK(error_of([] { found(""); }) == "words: '" + folder.path() + "/words' has no train.txt or train. Write some.");
  CHECK(error_of([&] { found(folder.path()); }) ==
        "words: '" + folder.path() + "' has no train.txt or train. Write some.");
}

}  // namespace trainers_data_folder
