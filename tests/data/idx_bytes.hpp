// idx files for tests, byte by byte.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

namespace tern_test {

/// An idx file of unsigned bytes with these sizes and this content, right or wrong.
inline std::string idx_bytes(std::initializer_list<std::uint32_t> sizes, const std::string& content,
                             unsigned char type = 8) {
  std::string out{'\0', '\0', char(type), char(sizes.size())};
  for (const std::uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) out += char(size >> shift & 0xff);
  return out + content;
}

/// The content of n images: byte (i, row, column) is 100 i + 3 row + column, modulo 256.
inline std::string image_bytes(int n) {
  std::string out;
  for (int i = 0; i < n; ++i)
    for (int row = 0; row < 28; ++row)
      for (int column = 0; column < 28; ++column) out += char(100 * i + 3 * row + column);
  return out;
}

}  // namespace tern_test
