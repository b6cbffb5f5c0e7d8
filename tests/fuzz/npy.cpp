#include "reader.hpp"

#include <tern/io/npy.hpp>

void read(const std::string& path) { tern::io::load_npy(path); }
