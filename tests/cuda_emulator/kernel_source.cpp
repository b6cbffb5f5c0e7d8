#include "kernel_source.hpp"

#include <regex>

namespace emulator {

namespace {

constexpr const char* no_bounds = "1024";

// The thread limit of a kernel with __launch_bounds__(number): of one that the source defines under this name.
std::string launch_bounds(const std::string& source, const std::string& name) {
  static const std::string before = R"(__global__\s+(?:void\s+)?__launch_bounds__\s*\(\s*(\d+)[^)]*\)\s*(?:void\s+)?)";
  std::smatch match;
  return std::regex_search(source, match, std::regex(before + name + R"(\s*\()")) ? match[1].str() : no_bounds;
}

// The identifier in an expression such as "&space::kernel<float, 8>".
std::string base_name(const std::string& expression) {
  const std::string plain = expression.substr(0, expression.find('<'));
  const std::size_t end = plain.find_last_not_of(' ') + 1, begin = plain.find_last_of(" &:", end - 1);
  return plain.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1));
}

// The namespaces that a place in the source lies in, as "a::b::". Braces in strings and comments must pair.
std::string enclosing_namespaces(const std::string& source, std::size_t place) {
  static const std::regex opening(R"(namespace\s+(\w+)\s*$)");
  std::vector<std::string> open;
  std::size_t statement = 0;  // where the one that a brace may end began
  for (std::size_t i = 0; i < place; ++i) {
    const char c = source[i];
    if (c == '{') {
      const std::string before = source.substr(statement, i - statement);
      std::smatch match;
      open.push_back(std::regex_search(before, match, opening) ? match[1].str() + "::" : "");
    } else if (c == '}' && !open.empty()) {
      open.pop_back();
    }
    if (c == '{' || c == '}' || c == ';' || c == '\n') statement = i + 1;
  }
  std::string all;
  for (const std::string& name : open) all += name;
  return all;
}

std::string entry(const std::string& source, const std::string& expression, const std::string& space = "") {
  const std::string address = expression[0] == '&' ? expression : "&" + space + expression;
  return "emulated_kernel<(" + address + ")>(\"" + expression + "\", " + launch_bounds(source, base_name(expression)) +
         "), ";
}

}  // namespace

std::string host_source(const std::string& source, const std::string& name,
                        const std::vector<std::string>& expressions) {
  static const std::regex dynamic_shared(
      R"(extern\s+__shared__\s+((?:__align__\s*\([^)]*\)\s*)?)([\w:<> ]+?)\s+(\w+)\s*\[\s*\]\s*;)");
  static const std::regex c_kernel(R"(extern\s+"C"\s+__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?)"
                                   R"(void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\()");
  static const std::regex c_linkage(R"(extern\s+"C"\s+__global__)");
  // "__shared__ T a[2], b[3];": each variable is declared by itself.
  static const std::regex shared_list(R"((__shared__\s+[\w: ]+?\s)(\w+\s*(?:\[[^\]]*\]\s*)*),)");

  std::string table;
  for (std::sregex_iterator match(source.begin(), source.end(), c_kernel), end; match != end; ++match)
    table +=
        entry(source, (*match)[1].str(), enclosing_namespaces(source, static_cast<std::size_t>(match->position())));
  for (const std::string& expression : expressions) table += entry(source, expression);

  std::string text = std::regex_replace(source, dynamic_shared, "$2* $3 = ($2*)emulated_dynamic_shared;");
  text = std::regex_replace(text, c_linkage, "__global__");
  for (std::string before; text != before;) text = std::regex_replace(before = text, shared_list, "$1$2; $1");
  return "#line 1 \"" + name + "\"\n" + text + "\nEMULATED_MODULE(" + table + ")\n";
}

}  // namespace emulator
