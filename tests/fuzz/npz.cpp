#include "reader.hpp"

#include <tern/io/npz.hpp>

void read(const std::string& path) { tern::io::load_npz(path); }
