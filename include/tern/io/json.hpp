// Writing JSON (RFC 8259): receipts and reports.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "../core/error.hpp"

namespace tern::inline TERN_BUILD::io {

/// The text as a JSON string, quotes included. Bytes beyond ASCII are passed on: they are expected to be UTF-8.
[[gnu::noinline, gnu::cold]] inline std::string json_quoted(const std::string& text) {
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

/// The shortest decimal that reads back as the same double; null for what JSON cannot say (infinities, NaN).
[[gnu::noinline, gnu::cold]] inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  for (int digits = 15; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value) break;
  }
  return buffer;
}

/// Builds a document from front to back: json.object(); json.member("loss", 0.5); json.end();
class Json {
 public:
  void object() { open('{'); }
  void object(const std::string& name) { key(name), open('{'); }
  void array() { open('['); }
  void array(const std::string& name) { key(name), open('['); }
  /// Ends the innermost object or array.
  [[gnu::noinline, gnu::cold]] void end() {
    text_ += closing_.back();
    closing_.pop_back();
  }

  [[gnu::noinline, gnu::cold]] void value(const std::string& text) { item(json_quoted(text)); }
  [[gnu::noinline, gnu::cold]] void value(const char* text) { item(json_quoted(text)); }
  template <class N>
    requires std::is_arithmetic_v<N>
  void value(N number) {
    if constexpr (std::is_same_v<N, bool>) truth(number);
    else if constexpr (std::is_floating_point_v<N>) real(double(number));
    else integer(static_cast<long long>(number));
  }
  void null() { item("null"); }

  /// A name and its value, in an object.
  template <class V>
  void member(const std::string& name, const V& v) {
    key(name);
    value(v);
  }
  void null(const std::string& name) { key(name), null(); }

  const std::string& text() const { return text_; }

 private:
  [[gnu::noinline, gnu::cold]] void truth(bool flag) { item(flag ? "true" : "false"); }
  [[gnu::noinline, gnu::cold]] void real(double number) { item(json_number(number)); }
  [[gnu::noinline, gnu::cold]] void integer(long long number) { item(tern::text({Index(number)})); }
  [[gnu::noinline, gnu::cold]] void separate() {
    if (text_.empty() || text_.back() == '{' || text_.back() == '[' || text_.back() == ' ') return;
    text_ += ", ";
  }
  [[gnu::noinline, gnu::cold]] void key(const std::string& name) {
    separate();
    text_ += json_quoted(name);
    text_ += ": ";
  }
  [[gnu::noinline, gnu::cold]] void item(const std::string& text) {
    separate();
    text_ += text;
  }
  [[gnu::noinline, gnu::cold]] void open(char bracket) {
    separate();
    text_ += bracket;
    closing_ += bracket == '{' ? '}' : ']';
  }

  std::string text_, closing_;
};

}  // namespace tern::io
