// JSON for the tests. Its code is compiled once (json.cpp): it took more than a second in each file that has some.
#pragma once
#include <string>

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;

namespace tern_test {

using Json = nlohmann::json;

/// Throws nlohmann's errors.
Json parse_json(const std::string& text);

/// A file of tests/recorded.
Json read_recorded(const std::string& name);

}  // namespace tern_test
