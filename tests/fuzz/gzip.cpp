#include "reader.hpp"

#include <tern/io/gzip.hpp>

void read(const std::string& path) { tern::io::read_gzip(path); }
