#include "tern/data/text/line_stream.hpp"
#include "../../io/gzipped.hpp"
#include "../../io/temporary_folder.hpp"
#include "support/catch.hpp"

namespace data_text_line_stream {
using namespace tern;
using namespace tern_test;
using Strings = std::vector<std::string>;

TEST_CASE("lines of a file come one after the other, in each pass") {
  const TemporaryFolder folder;
  const auto lines = [&](const std::string& content) {
    Strings all;
    const data::LineStream file(folder.put("text", content));
    for (int pass = 0; pass < 2; ++pass)
      for (const std::string& line : file) all.push_back(line);
    return all;
  };
  CHECK(lines("a\r\n\nb") == Strings{"a", "", "b", "a", "", "b"});
  CHECK(lines("a\r\nb\r") == Strings{"a", "b", "a", "b"});
  CHECK(lines("\xef\xbb\xbf"
              "a\n\xef\xbb\xbf"
              "b") == Strings{"a",
                              "\xef\xbb\xbf"
                              "b",
                              "a",
                              "\xef\xbb\xbf"
                              "b"});  // as Notepad saves it
  CHECK(error_of([&] { lines(std::string("\xfe\xff\0a\0\n", 6)); }) ==
        "LineStream: '" + (folder / "text") + "': is in UTF-16; save it as UTF-8");
  CHECK(lines("").empty());
  CHECK(lines("one\n") == Strings{"one", "one"});
  const std::string longest(200000, 'x');  // longer than what is read at once
  CHECK(lines(longest + "\n" + longest) == Strings{longest, longest, longest, longest});
}

}  // namespace data_text_line_stream
