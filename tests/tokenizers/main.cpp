// Compares texts' tokens with expected ones: TOKENS, the texts with these (reference.py), and VOCAB MERGES
// TOKENIZER_CLASS or TOKENIZER. The texts must come back from the tokens, normalised where the tokeniser does that.
#include <tern/data/text/byte_pair_encoding.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

using namespace tern;

namespace {

/// Takes numbers and bytes off the front of a file's content.
class Reader {
 public:
  explicit Reader(std::string_view content) : rest_(content) {}
  bool ended() const { return rest_.empty(); }
  std::string_view bytes(Index count) {
    const std::string_view taken = rest_.substr(0, std::size_t(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  Index number() {
    Index value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::string_view rest_;
};

}  // namespace

int main(int argc, char** argv) try {
  const auto encoding =
      argc == 5 ? data::BytePairEncoding::load(argv[2], argv[3], argv[4]) : data::BytePairEncoding::load(argv[2]);
  const std::string content = io::read_file(argv[1], Index(1) << 31);
  Reader reader(content);
  for (int i = 0; !reader.ended(); ++i) {
    const std::string_view text = reader.bytes(reader.number()), normal = reader.bytes(reader.number());
    std::vector<Index> want(std::size_t(reader.number()));
    for (Index& token : want) token = reader.number();
    const std::vector<Index> got = encoding.encode(text);
    if (got != want) {
      const auto same = std::mismatch(got.begin(), got.end(), want.begin(), want.end()).first - got.begin();
      std::printf("text %d has other tokens from its byte %zu on\n", i,
                  encoding.decode({got.data(), std::size_t(same)}).size());
      return 1;
    }
    if (encoding.decode(got) != normal) {
      std::printf("text %d does not come back from its tokens\n", i);
      return 1;
    }
  }
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
