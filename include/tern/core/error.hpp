// The library's exception type, and how its messages are built.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>

#include "call_site.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The type of sizes, strides and positions.
using Index = std::int64_t;

namespace detail {
/// A view of sizes that does not own them.
struct ShapeRef {
  const Index* d;
  int n;
};

struct Shape;

/// One part of a message. Building it needs no template; it becomes text only when an Error is made.
class TERN_API Piece {
 public:
  Piece(const char* text) : kind_(Kind::text), text_(text) {}
  Piece(const std::string& text) : kind_(Kind::text), text_(text.c_str()) {}
  Piece(Index number) : kind_(Kind::integer), integer_(number) {}
  Piece(int number) : Piece(Index(number)) {}
  Piece(double number) : kind_(Kind::real), real_(number) {}
  Piece(ShapeRef shape) : kind_(Kind::shape), shape_(shape) {}
  Piece(const Shape& shape);

  void print_to(std::FILE* out) const;

 private:
  enum class Kind { text, integer, real, shape } kind_;
  union {
    const char* text_;
    Index integer_;
    double real_;
    ShapeRef shape_;
  };
};

/// "op: " (nothing if op is null) and the pieces, as memory that the caller frees. It is not a std::string, because in
/// C++20 every file that uses one compiles parts of it anew.
TERN_API char* joined(const char* op, std::initializer_list<Piece> pieces);

/// The pieces as one string.
TERN_API std::string text(std::initializer_list<Piece> pieces);
}  // namespace detail

/// Every exception of the library: "path: op: rule and values (file:line)". The path leads to the layer that failed, in
/// the network that was called; without a layer there is none. The line is the user's, if it is known.
class TERN_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The last line_bytes of the message are " (file:line)".
  Error(const std::string& message, std::size_t line_bytes) : runtime_error(message), line_bytes_(line_bytes) {}

  /// Throws Error("op: pieces (file:line)"). Operation and line are those of the outermost CallScope, else the site's
  /// own. Without a line, or with one of the library's headers, the message ends with the pieces.
  [[noreturn]] static void fail(CallSite site, std::initializer_list<detail::Piece> pieces);
  /// The same without a line of its own.
  [[noreturn]] static void fail(const char* op, std::initializer_list<detail::Piece> pieces) {
    fail({op, CallSite::unknown}, pieces);
  }

  /// The innermost layer whose call threw this. Null if no layer's call did.
  const void* layer() const { return layer_; }
  /// Says that a call of this layer threw this.
  void set_layer(const void* layer) { layer_ = layer; }
  /// Puts the layer's path before the message, in place of an earlier path.
  void set_path(const std::string& path);
  /// The message without the line at its end, for a message that quotes it.
  std::string without_line() const;

 private:
  const void* layer_ = nullptr;
  std::size_t path_bytes_ = 0, line_bytes_ = 0;
};

namespace detail {

[[noreturn]] TERN_API void fail_memory(const char* op, const char* of);

/// f(). If the host has not the memory that a container of f asks for, the Error names the op and whose memory it is.
template <class F>
decltype(auto) within_memory(const char* op, const char* of, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) { fail_memory(op, of); } catch (const std::length_error&) {
    fail_memory(op, of);
  }
}

}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "error.ipp"
#endif
