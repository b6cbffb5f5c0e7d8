// Files recorded in hexadecimal.
#pragma once
#include "support/recorded.hpp"

namespace tern_test {

inline std::string bytes_of(const Json& hexadecimal) {
  const std::string digits = hexadecimal.get<std::string>();
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) bytes += char(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace tern_test
