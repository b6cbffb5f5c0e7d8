// Reads JSON (RFC 8259) from front to back, into the caller's own structures. To compile fast it uses no containers.
#pragma once
#include <string>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// A text that is read value by value: for (bool first = true; json.next_member(first, name);) … Each function reads
/// what it is named after. Error, in the name of the op that reads, with the rule and the byte, if something else
/// follows.
class TERN_API JsonReader {
 public:
  /// Messages begin with `subject`: "'model.safetensors': the header is not valid".
  JsonReader(const char* text, Index length, const char* op, std::string subject)
      : at_(text), begin_(text), end_(text + length), op_(op), subject_(std::move(subject)) {}

  /// Walks through { "name": value, … }. If true, the next value follows; if false, the object is over.
  bool next_member(bool& first, std::string& name);
  /// Walks through [ value, … ].
  bool next_element(bool& first);

  std::string string();
  /// A number that is not negative, without fraction and exponent.
  Index integer();
  /// Any number, as the nearest double.
  double number();
  bool truth();
  /// null, if it follows.
  bool accept_null();
  /// Any value.
  void skip();
  /// The first character of the value that follows, which says what it is; 0 at the end.
  char peek();
  /// Nothing but spaces up to the end.
  void end();

  [[noreturn]] void refuse(const char* rule) const;

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool accept(char c);
  void expect(char c);
  void expect_word(const char* word);
  void skip_number();
  unsigned hex4();
  void append_escape(std::string& out);
  /// Appends a UTF-8 character beyond ASCII.
  void append_multibyte(std::string& out);

  const char* at_;
  const char *begin_, *end_;
  const char* op_;
  std::string subject_;
  int depth_ = 0;  // of what is skipped
};

/// Appends a character as UTF-8.
TERN_API void append_utf8(std::string& out, unsigned code);

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "json_reader.ipp"
#endif
