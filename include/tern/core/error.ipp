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

TERN_INLINE constinit thread_local const OpName* outermost_op = nullptr;

TERN_COLD void fail_at(const char* op, Here here, std::initializer_list<Piece> pieces) {
  op = outermost_name(op);
  if (outermost_op && outermost_op->here.file) here = outermost_op->here;
  if (outermost_site) here = *outermost_site;
  char* const message = joined(op, pieces);
  if (here.file && std::strstr(here.file, "include/tern/"))
    here.file = nullptr;  // an op's call of another, not the user's line
  const char* const folder = here.file ? std::strrchr(here.file, '/') : nullptr;
  const char* const name = folder ? folder + 1 : here.file;
  const Error error(name ? text({static_cast<const char*>(message), " (", name, ":", Index(here.line), ")"}) : message);
  std::free(message);
  throw error;
}

}}}  // namespace tern::detail

namespace tern { inline namespace TERN_BUILD {

TERN_COLD void Error::set_path(const std::string& path) {
  std::string message = path + ": ";
  message += what() + path_bytes_;
  static_cast<std::runtime_error&>(*this) = std::runtime_error(message);
  path_bytes_ = path.size() + 2;
}

}}  // namespace tern

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void fail_memory(const char* op, const char* of) {
  fail(op, {"'", of, "': the host has not enough memory for it"});
}

}}}  // namespace tern::detail
