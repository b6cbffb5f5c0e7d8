#include "support/catch.hpp"

#include <tern/data/records/pack_list.hpp>

#include "../../io/temporary_folder.hpp"

namespace data_records_pack_list {
using namespace tern;
using tern_test::error_of;
using tern_test::TemporaryFolder;

TEST_CASE("a list of what was packed is read as it was written") {
  const TemporaryFolder folder;
  const std::string path = folder / "pack.json";
  const data::PackList list{.kind = "imagefolder",
                            .format = "tar",
                            .shards = 8,
                            .samples = 1281167,
                            .shuffle = 3,
                            .size = 256,
                            .classes = {"a \"b\"", "été", ""}};
  io::write_file_atomically(path, list.json());
  CHECK(data::PackList::read(path) == list);
}

TEST_CASE("what a later version adds to the list is left out") {
  const TemporaryFolder folder;
  const std::string path = folder / "pack.json";
  io::write_file_atomically(path, R"({"samples": 3, "more": {"x": [1.5, null]}, "classes": ["a"]})");
  const data::PackList list = data::PackList::read(path);
  CHECK(list.samples == 3);
  CHECK(list.shards == 1);
  CHECK(list.classes == std::vector<std::string>{"a"});
}

TEST_CASE("a damaged list is refused by name") {
  const TemporaryFolder folder;
  const std::string path = folder / "pack.json";
  for (const char* const text : {"", "[]", "{\"samples\": -1}", "{\"samples\": 3", "{\"classes\": [3]}", "{} {}"}) {
    CAPTURE(text);
    io::write_file_atomically(path, text);
    CHECK(error_of([&] { data::PackList::read(path); }).starts_with("PackList: '" + path + "'"));
  }
}

}  // namespace data_records_pack_list
