#include "reader.hpp"

#include <set>

#include <tern/data/records/datum.hpp>
#include <tern/data/records/example.hpp>

using tern::data::Example;

void read(const std::string& path) {
  const std::string message = tern::io::read_file(path, tern::Index(1) << 20);
  try {
    tern::data::parse_datum(message);
  } catch (const tern::Error&) {}
  const Example example = Example::parse(message);
  const auto names = example.names();
  if (std::set(names.begin(), names.end()).size() != names.size()) std::abort();
  const std::string again = example.serialize();
  if (Example::parse(again).serialize() != again) std::abort();
}
