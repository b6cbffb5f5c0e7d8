#include "support/json.hpp"

#include <fstream>

template class nlohmann::basic_json<>;

namespace tern_test {

Json parse_json(const std::string& text) { return Json::parse(text); }

Json read_recorded(const std::string& name) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/')) + "/../recorded/" + name);
  return Json::parse(file);
}

}  // namespace tern_test
