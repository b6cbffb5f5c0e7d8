// The functions of json_reader.hpp that are not templates.
#pragma once
#include <charconv>
#include <cstring>
#include <utility>

#include "json_reader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += char(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out += char((0xf00 >> (more + 1) & 0xff) | code >> (6 * more));
  for (int i = more; i-- > 0;) out += char(0x80 | (code >> (6 * i) & 0x3f));
}

TERN_COLD void JsonReader::refuse(const char* rule) const {
  Error::fail(op_, {subject_, ": ", rule, ", at its byte ", at_ - begin_});
}

TERN_COLD bool JsonReader::accept(char c) {
  skip_space();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

TERN_COLD void JsonReader::expect(char c) {
  if (accept(c)) return;
  char rule[] = "'?' is missing";
  rule[1] = c;
  refuse(rule);
}

TERN_COLD bool JsonReader::next_member(bool& first, std::string& name) {
  if (std::exchange(first, false)) {
    expect('{');
    if (accept('}')) return false;
  } else if (!accept(',')) {
    expect('}');
    return false;
  }
  name = string();
  expect(':');
  return true;
}

TERN_COLD unsigned JsonReader::hex4() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i) {
    if (at_ == end_) refuse("a string has no end");
    const char c = *at_++;
    if (c >= '0' && c <= '9') code = code * 16 + unsigned(c - '0');
    else if (c >= 'a' && c <= 'f') code = code * 16 + unsigned(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F') code = code * 16 + unsigned(c - 'A' + 10);
    else refuse("\\u is not followed by four hexadecimal digits");
  }
  return code;
}

TERN_COLD void JsonReader::append_escape(std::string& out) {
  if (at_ == end_) refuse("a string has no end");
  switch (const char c = *at_++) {
    case '"':
    case '\\':
    case '/': out += c; return;
    case 'b': out += '\b'; return;
    case 'f': out += '\f'; return;
    case 'n': out += '\n'; return;
    case 'r': out += '\r'; return;
    case 't': out += '\t'; return;
    case 'u': break;
    default: refuse("an unknown escape sequence");
  }
  unsigned code = hex4();
  if (code >= 0xd800 && code < 0xdc00) {
    if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') refuse("half a surrogate pair");
    at_ += 2;
    const unsigned low = hex4();
    if (low < 0xdc00 || low > 0xdfff) refuse("half a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code < 0xe000) {
    refuse("half a surrogate pair");
  }
  append_utf8(out, code);
}

TERN_COLD void JsonReader::append_multibyte(std::string& out) {
  const auto lead = static_cast<unsigned char>(*at_);
  const int more = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  if (more == 0 || end_ - at_ <= more) refuse("it is not UTF-8");
  unsigned code = lead & (0x3fu >> more);
  for (int i = 1; i <= more; ++i) {
    const auto next = static_cast<unsigned char>(at_[i]);
    if (next >> 6 != 2) refuse("it is not UTF-8");
    code = code << 6 | (next & 0x3f);
  }
  const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
  if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) refuse("it is not UTF-8");
  out.append(at_, std::size_t(more) + 1);
  at_ += more + 1;
}

TERN_COLD std::string JsonReader::string() {
  expect('"');
  std::string out;
  for (;;) {
    if (at_ == end_) refuse("a string has no end");
    const char c = *at_;
    if (static_cast<unsigned char>(c) < 0x20) refuse("a control character in a string");
    if (static_cast<unsigned char>(c) >= 0x80) {
      append_multibyte(out);
      continue;
    }
    ++at_;
    if (c == '"') return out;
    if (c == '\\') append_escape(out);
    else out += c;
  }
}

TERN_COLD Index JsonReader::integer() {
  skip_space();
  const char* const first = at_;
  Index value = 0;
  for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at_ - '0', &value))
      refuse("a number is too large");
  if (at_ == first) refuse("a number that is not negative is missing");
  if (*first == '0' && at_ - first > 1) refuse("a number begins with 0");
  return value;
}

TERN_COLD bool JsonReader::next_element(bool& first) {
  if (std::exchange(first, false)) {
    expect('[');
    return !accept(']');
  }
  if (accept(',')) return true;
  expect(']');
  return false;
}

TERN_COLD char JsonReader::peek() {
  skip_space();
  return at_ == end_ ? '\0' : *at_;
}

TERN_COLD void JsonReader::expect_word(const char* word) {
  const std::size_t length = std::strlen(word);
  if (std::size_t(end_ - at_) < length || std::memcmp(at_, word, length)) refuse("a value is missing");
  at_ += length;
}

TERN_COLD bool JsonReader::truth() {
  const bool yes = peek() == 't';
  expect_word(yes ? "true" : "false");
  return yes;
}

TERN_COLD bool JsonReader::accept_null() {
  if (peek() != 'n') return false;
  expect_word("null");
  return true;
}

TERN_COLD void JsonReader::skip_number() {
  const auto digits = [&] {
    const char* const first = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    if (at_ == first) refuse("a value is missing");
  };
  const auto is = [&](char a, char b) { return at_ != end_ && (*at_ == a || *at_ == b); };
  if (is('-', '-')) ++at_;
  digits();
  if (is('.', '.')) ++at_, digits();
  if (!is('e', 'E')) return;
  ++at_;
  if (is('+', '-')) ++at_;
  digits();
}

TERN_COLD double JsonReader::number() {
  skip_space();
  const char* const first = at_;
  skip_number();
  double value = 0;
  if (std::from_chars(first, at_, value).ec != std::errc()) refuse("a number is too large or too small");
  return value;
}

TERN_COLD void JsonReader::skip() {
  constexpr int deepest = 200;
  std::string name;
  switch (peek()) {
    case '"': name = string(); return;
    case 't':
    case 'f': truth(); return;
    case 'n': accept_null(); return;
    case '{':
    case '[': break;
    default: skip_number(); return;
  }
  if (++depth_ > deepest) refuse("values lie too deep in each other");
  bool first = true;
  if (*at_ == '{')
    while (next_member(first, name)) skip();
  else
    while (next_element(first)) skip();
  --depth_;
}

TERN_COLD void JsonReader::end() {
  skip_space();
  if (at_ != end_) refuse("something follows the closing brace");
}

}}}  // namespace tern::io
