// The functions of error.hpp that are not templates.
#pragma once
#include "error.hpp"

namespace tern::inline TERN_BUILD {

TERN_INLINE void Piece::print_to(std::FILE* out) const {
  switch (kind_) {
    case Kind::text: std::fputs(text_, out); break;
    case Kind::integer: std::fprintf(out, "%lld", static_cast<long long>(integer_)); break;
    case Kind::real: std::fprintf(out, "%g", real_); break;
    case Kind::shape:
      std::fputs("[", out);
      for (int i = 0; i < shape_.n; ++i)
        std::fprintf(out, i ? ", %lld" : "%lld", static_cast<long long>(shape_.d[i]));
      std::fputs("]", out);
  }
}

}  // namespace tern

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE char* joined(const char* op, std::initializer_list<Piece> pieces) {
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

}  // namespace tern::detail

namespace tern::inline TERN_BUILD {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string text(std::initializer_list<Piece> pieces) {
  char* const joined = detail::joined(nullptr, pieces);
  const std::string out(joined);
  std::free(joined);
  return out;
}

}  // namespace tern

namespace tern::inline TERN_BUILD::detail {

TERN_INLINE constinit thread_local const char* outermost_op = nullptr;

}  // namespace tern::detail

namespace tern::inline TERN_BUILD {

[[gnu::noinline, gnu::cold]] TERN_INLINE void fail(const char* op, std::initializer_list<Piece> pieces) {
  char* const message = detail::joined(detail::outermost_op ? detail::outermost_op : op, pieces);
  const Error error(message);
  std::free(message);
  throw error;
}

}  // namespace tern
