#include "reader.hpp"

#include <tern/data/text/byte_pair_encoding.hpp>

void read(const std::string& path) {
  const auto encoding = tern::data::BytePairEncoding::load(path);
  const std::string text = "It's 12 o'clock,\n  isn't it? \xff\xc3\xa9<|endoftext|>";
  static_cast<void>(encoding.decode(encoding.encode(text)));
}
