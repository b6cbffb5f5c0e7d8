#include "tern/data/text/ptb.hpp"
#include "../../io/temporary_folder.hpp"
#include "support/catch.hpp"

namespace data_text_ptb {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("PTB's words are tokens, and each line has an end") {
  const TemporaryFolder folder;
  folder.put("ptb.train.txt", " b a b \n c b \n"), folder.put("ptb.valid.txt", " a \n"),
      folder.put("ptb.test.txt", " d \n");
  CHECK_THAT(error_of([&] { data::Ptb::load(folder.path()); }),
             ContainsSubstring("ptb.test.txt', line 1: 'd' is not in the training part, which has no <unk>"));
  folder.put("ptb.test.txt", " c c \n");
  const data::Ptb set = data::Ptb::load(folder.path());
  CHECK(set.vocabulary.tokens() == std::vector<std::string>{"b", "<eos>", "a", "c"});
  CHECK(set.train == data::Tokens{0, 2, 0, 1, 3, 0, 1});
  CHECK(set.valid == data::Tokens{2, 1});
  CHECK(set.test == data::Tokens{3, 3, 1});
  folder.put("ptb.train.txt", "a <unk>\n"), folder.put("ptb.test.txt", "z\n");
  const data::Ptb other = data::Ptb::load(folder.path());
  CHECK(other.test == data::Tokens{other.vocabulary["<unk>"], other.vocabulary["<eos>"]});
}

TEST_CASE("PTB has 10,000 words") {
  const std::string folder = test_data("data/ptb");
  if (folder.empty()) SKIP_TEST("needs TERN_TEST_DATA");
  const data::Ptb set = data::Ptb::load(folder);
  CHECK(set.vocabulary.size() == 10000);
  CHECK(set.train.size() == 929589);
  CHECK(set.valid.size() == 73760);
  CHECK(set.test.size() == 82430);
}

}  // namespace data_text_ptb
