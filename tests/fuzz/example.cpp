#include "reader.hpp"

#include <tern/data/records/example.hpp>

using tern::data::Example;

void read(const std::string& path) {
  const std::string message = tern::io::read_file(path, tern::Index(1) << 20);
  const std::string again = Example::parse(message).serialize();
  if (Example::parse(again).serialize() != again) std::abort();
}
