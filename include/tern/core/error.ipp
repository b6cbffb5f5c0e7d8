// The functions of error.hpp that are not templates.
#pragma once
#include <cstring>

#include "error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE void Piece::print_to(std::FILE* out) const {
  switch (kind_) {
    case Kind::text: std::fputs(text_, out); break;
    case Kind::integer: std::fprintf(out, "%lld", static_cast<long long>(integer_)); break;
    case Kind::real: std::fprintf(out, "%g", real_); break;
    case Kind::shape:
      std::fputs("[", out);
      for (int i = 0; i < shape_.n; ++i) std::fprintf(out, i ? ", %lld" : "%lld", static_cast<long long>(shape_.d[i]));
      std::fputs("]", out);
  }
}

TERN_COLD char* joined(const char* op, std::initializer_list<Piece> pieces) {
  char* text = nullptr;
  std::size_t size;
  std::FILE* const out = open_memstream(&text, &size);
  if (!out) throw std::bad_alloc();
  if (op) std::fprintf(out, "%s: ", op);
  for (const Piece& piece : pieces) piece.print_to(out);
  std::fclose(out);
  if (!text) throw std::bad_alloc();
  return text;
}

TERN_COLD std::string text(std::initializer_list<Piece> pieces) {
  char* const joined = detail::joined(nullptr, pieces);
  const std::string out(joined);
  std::free(joined);
  return out;
}

}}}  // namespace tern::detail

namespace tern { inline namespace TERN_BUILD {

TERN_COLD void Error::fail(CallSite site, std::initializer_list<detail::Piece> pieces) {
  const CallSite& at = detail::site(site);
  char* const message = detail::joined(detail::outermost_name(site.name()), pieces);
  const bool known = at.line() && !std::strstr(at.file(), "include/tern/");  // else an op's call of another
  const char* const folder = std::strrchr(at.file(), '/');
  const std::string line =
      known ? detail::text({" (", folder ? folder + 1 : at.file(), ":", Index(at.line()), ")"}) : std::string();
  const Error error(message + line, line.size());
  std::free(message);
  throw error;
}

TERN_COLD void Error::set_path(const std::string& path) {
  std::string message = path + ": ";
  message += what() + path_bytes_;
  static_cast<std::runtime_error&>(*this) = std::runtime_error(message);
  path_bytes_ = path.size() + 2;
}

TERN_COLD std::string Error::without_line() const {
  const std::string message = what();
  return message.substr(0, message.size() - line_bytes_);
}

}}  // namespace tern

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void fail_memory(const char* op, const char* of) {
  Error::fail(op, {"'", of, "': the host has not enough memory for it"});
}

}}}  // namespace tern::detail
