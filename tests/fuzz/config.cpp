#include "reader.hpp"

#include <tern/models/config.hpp>

void read(const std::string& path) { static_cast<void>(tern::models::load_config(path).eos_token_id.size()); }
