#include "support/errors.hpp"

#include <tern/data/collate.hpp>
#include <tern/data/loader.hpp>
#include <tern/data/text_lines.hpp>

#include "../io/gzipped.hpp"
#include "../io/temporary_folder.hpp"

namespace data_text_lines {
using namespace tern;
using data::TextLines;
using tern_test::error_of;

TEST_CASE("a file's lines", "[data]") {
  const tern_test::TemporaryFolder folder;
  const auto read = [&](const std::string& content) {
    const TextLines lines = TextLines::load(folder.put("x.txt", content));
    std::vector<std::string> out;
    for (Index i = 0; i < lines.size(); ++i) out.emplace_back(lines[i]);
    return out;
  };
  using Lines = std::vector<std::string>;
  CHECK(read("") == Lines{});
  CHECK(read("\n") == Lines{""});
  CHECK(read("a") == Lines{"a"});
  CHECK(read("a\r\n\n b \n") == Lines{"a", "", " b "});
  CHECK(read("a\r\nb\r") == Lines{"a", "b"});
  CHECK(read("\xef\xbb\xbf"
             "a\n\xef\xbb\xbf"
             "b") == Lines{"a",
                           "\xef\xbb\xbf"
                           "b"});  // as Notepad saves it
  CHECK(read("\xef\xbb\xbf") == Lines{});
  CHECK(error_of([&] {
          read(
              std::string("\xff\xfe"
                          "a\0\n\0",
                          6));
        }) == "TextLines: '" + (folder / "x.txt") + "': is in UTF-16; save it as UTF-8");
  CHECK(TextLines::load(folder.put("x.gz", tern_test::gzipped("a\nb\n")))[1] == "b");
  const std::string none = folder / "none";
  CHECK(error_of([&] { TextLines::load(none); }) ==
        "file: '" + none + "': cannot be opened: No such file or directory");
}

TEST_CASE("a line that is not there is an Error, and text has a limit", "[data]") {
  const tern_test::TemporaryFolder folder;
  const TextLines lines = TextLines::load(folder.put("x", "a\nb\n"), 4);
  CHECK(error_of([&] { static_cast<void>(lines[2]); }) == "TextLines: there is no line 2 of 2");
  CHECK(error_of([&] { static_cast<void>(lines[-1]); }) == "TextLines: there is no line -1 of 2");
  const std::string path = folder.put("x.gz", tern_test::gzipped(std::string(100'000, '\n')));
  CHECK(TextLines::load(path).size() == 100'000);
  CHECK(error_of([&] { TextLines::load(path, 99'999); }) ==
        "gzip: '" + path + "': its content is larger than allowed: more than 99999 bytes");
}

TEST_CASE("the Penn Treebank, in batches", "[data]") {
  NEED_TEST_DATA(folder, "data/ptb");
  const TextLines lines = TextLines::load(folder + "/ptb.valid.txt.gz");
  CHECK(lines.size() == 3370);
  const auto words = [](const std::vector<std::string_view>& batch) {
    const auto counts = empty<Cpu, Index>({Index(batch.size())});
    for (std::size_t i = 0; i < batch.size(); ++i)  // a space at each end, one between words
      counts(Index(i)) = std::count(batch[i].begin(), batch[i].end(), ' ') - 1;
    return std::tuple(counts);
  };
  Index sum = 0;
  for (auto& [counts] : data::loader<Cpu>(data::collated(lines, words), {.batch_size = 100}))
    for (Index i = 0; i < counts.numel(); ++i) sum += counts(i);
  CHECK(sum == 70390);
}

}  // namespace data_text_lines
