// The library's exception type, and how its messages are built.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>

#include "config.hpp"

namespace tern::inline TERN_BUILD {

/// The type of sizes, strides and positions.
using Index = std::int64_t;

/// Every exception of the library. The message names the op, the rule and the values.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

namespace detail {
/// "op: " (nothing if op is null) and the pieces, as memory that the caller frees. It is not a std::string, because in
/// C++20 every file that uses one compiles parts of it anew.
TERN_API char* joined(const char* op, std::initializer_list<Piece> pieces);
}  // namespace detail

/// The pieces as one string.
TERN_API std::string text(std::initializer_list<Piece> pieces);

namespace detail {
extern TERN_API constinit thread_local const char* outermost_op;
}

/// While alive, Errors of this thread name the outermost such op. So an op that is made of other ops fails in the name
/// that the user called.
class ErrorName {
 public:
  explicit ErrorName(const char* op) : outer_(detail::outermost_op) {
    if (!outer_) detail::outermost_op = op;
  }
  ~ErrorName() { detail::outermost_op = outer_; }
  ErrorName(const ErrorName&) = delete;
  ErrorName& operator=(const ErrorName&) = delete;

 private:
  const char* outer_;
};

/// Throws Error("op: pieces").
[[noreturn]] TERN_API void fail(const char* op, std::initializer_list<Piece> pieces);

}  // namespace tern

#ifndef TERN_COMPILED
#include "error.ipp"
#endif
