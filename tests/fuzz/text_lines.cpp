#include "reader.hpp"

#include <tern/data/text_lines.hpp>

void read(const std::string& path) {
  const auto lines = tern::data::TextLines::load(path);
  for (tern::Index i = 0; i < lines.size(); ++i) static_cast<void>(lines[i]);
}
