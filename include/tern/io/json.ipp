// The functions of json.hpp that are not templates.
#pragma once
#include "json.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD std::string json_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out += '"';
}

TERN_COLD std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  for (int digits = 15; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value) break;
  }
  return buffer;
}

TERN_COLD void Json::end() {
  text_ += closing_.back();
  closing_.pop_back();
}

TERN_COLD void Json::value(const std::string& text) { item(json_quoted(text)); }

TERN_COLD void Json::value(const char* text) { item(json_quoted(text)); }

TERN_COLD void Json::truth(bool flag) { item(flag ? "true" : "false"); }

TERN_COLD void Json::real(double number) { item(json_number(number)); }

TERN_COLD void Json::integer(long long number) { item(tern::detail::text({Index(number)})); }

TERN_COLD void Json::separate() {
  if (text_.empty() || text_.back() == '{' || text_.back() == '[' || text_.back() == ' ') return;
  text_ += ", ";
}

TERN_COLD void Json::key(const std::string& name) {
  separate();
  text_ += json_quoted(name);
  text_ += ": ";
}

TERN_COLD void Json::item(const std::string& text) {
  separate();
  text_ += text;
}

TERN_COLD void Json::open(char bracket) {
  separate();
  text_ += bracket;
  closing_ += bracket == '{' ? '}' : ']';
}

}}}  // namespace tern::io
