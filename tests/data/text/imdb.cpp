#include "tern/data/text/imdb.hpp"
#include "../../io/temporary_folder.hpp"
#include "support/catch.hpp"

namespace data_text_imdb {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::pair<std::string, Index>> reviews(const data::Imdb& set) {
  std::vector<std::pair<std::string, Index>> all;
  for (const data::Review& review : set) all.emplace_back(review.text, review.label);
  return all;
}

}  // namespace

TEST_CASE("IMDb is read from tables and from the original folder") {
  const TemporaryFolder folder;
  folder.put("train.tsv", "1\tgood film\n0\tbad\tfilm\n");
  CHECK(reviews(data::Imdb(folder.path())) ==
        std::vector<std::pair<std::string, Index>>{{"good film", 1}, {"bad\tfilm", 0}});
  CHECK_THAT(error_of([&] { data::Imdb(folder.path(), {.train = false}); }),
             ContainsSubstring("has neither test.tsv, plain or gzip, nor a folder test/pos"));
  for (const char* part : {"/test", "/test/pos", "/test/neg"}) std::filesystem::create_directory(folder.path() + part);
  folder.put("test/pos/10_7.txt", "ten"), folder.put("test/pos/2_9.txt", "two"), folder.put("test/neg/1_3.txt", "one");
  CHECK(reviews(data::Imdb(folder.path(), {.train = false})) ==
        std::vector<std::pair<std::string, Index>>{{"two", 1}, {"ten", 1}, {"one", 0}});
  for (const char* bad : {"2\tx", "1 x", "", "1"}) {
    folder.put("train.tsv", std::string("1\tok\n") + bad + "\n");
    CHECK_THAT(error_of([&] { reviews(data::Imdb(folder.path())); }),
               ContainsSubstring("train.tsv', line 2: a line is 0 or 1, a tab and the text"));
  }
}

TEST_CASE("IMDb's subset has 4,000 and 2,000 reviews, half of them positive") {
  const std::string folder = test_data("data/imdb-subset");
  if (folder.empty()) SKIP_TEST("needs TERN_TEST_DATA");
  for (const bool train : {true, false}) {
    Index count = 0, positive = 0;
    for (const data::Review& review : data::Imdb(folder, {.train = train})) ++count, positive += review.label;
    CHECK(count == (train ? 4000 : 2000));
    CHECK(2 * positive == count);
  }
}

}  // namespace data_text_imdb
