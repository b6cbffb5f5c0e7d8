// Writes JSON (RFC 8259), for the reports of a training.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// The text as a JSON string, with quotes. Bytes beyond ASCII are copied; they must be UTF-8.
TERN_API std::string json_quoted(const std::string& text);

/// The shortest decimal that reads back as the same double; null for infinities and NaN, which JSON lacks.
TERN_API std::string json_number(double value);

/// Builds a document from front to back: json.object(); json.member("loss", 0.5); json.end();
class TERN_API Json {
 public:
  void object() { open('{'); }
  void object(const std::string& name) { key(name), open('{'); }
  void array() { open('['); }
  void array(const std::string& name) { key(name), open('['); }
  /// Ends the innermost object or array.
  void end();

  void value(const std::string& text);
  void value(const char* text);
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
  void truth(bool flag);
  void real(double number);
  void integer(long long number);
  void separate();
  void key(const std::string& name);
  void item(const std::string& text);
  void open(char bracket);

  std::string text_, closing_;
};

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "json.ipp"
#endif
