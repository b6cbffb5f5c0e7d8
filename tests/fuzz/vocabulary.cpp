#include "reader.hpp"

#include <tern/data/text/vocabulary.hpp>

void read(const std::string& path) { static_cast<void>(tern::data::Vocabulary::load(path).size()); }
