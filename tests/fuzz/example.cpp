#include "reader.hpp"

#include <tern/data/records/datum.hpp>
#include <tern/data/records/example.hpp>

void read(const std::string& path) {
  const std::string message = tern::io::read_file(path, 1 << 20);
  try {
    static_cast<void>(tern::data::parse_datum(message));
  } catch (const tern::Error&) {
  }
  const std::string written = tern::data::Example::parse(message).serialize();
  if (tern::data::Example::parse(written).serialize() != written) std::abort();
}
