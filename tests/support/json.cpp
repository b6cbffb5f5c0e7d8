#include "support/json.hpp"

#include <fstream>

#include "support/folders.hpp"

template class nlohmann::basic_json<>;

namespace tern_test {

Json parse_json(const std::string& text) { return Json::parse(text); }

Json read_recorded(const std::string& name) {
  std::ifstream file(std::string(recorded_folder) + "/" + name);
  return Json::parse(file);
}

}  // namespace tern_test
