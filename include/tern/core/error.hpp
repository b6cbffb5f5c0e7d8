// The one exception type, and how its messages are put together.
#pragma once
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace tern {

/// Sizes, strides and positions.
using Index = std::int64_t;

/// Everything the library throws. The message names the op, the rule and the values.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A view of sizes that does not own them.
struct ShapeRef {
  const Index* d;
  int n;
};

struct Shape;

/// One part of a message; built without a template, converted to text only when an Error is made.
class Piece {
 public:
  Piece(const char* text) : kind_(Kind::text), text_(text) {}
  Piece(const std::string& text) : kind_(Kind::text), text_(text.c_str()) {}
  Piece(Index number) : kind_(Kind::integer), integer_(number) {}
  Piece(int number) : Piece(Index(number)) {}
  Piece(double number) : kind_(Kind::real), real_(number) {}
  Piece(ShapeRef shape) : kind_(Kind::shape), shape_(shape) {}
  Piece(const Shape& shape);

  void append_to(std::string& out) const {
    switch (kind_) {
      case Kind::text: out += text_; break;
      case Kind::integer: out += std::to_string(integer_); break;
      case Kind::real: {
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, "%g", real_);
        out += buffer;
        break;
      }
      case Kind::shape:
        out += '[';
        for (int i = 0; i < shape_.n; ++i) {
          if (i) out += ", ";
          out += std::to_string(shape_.d[i]);
        }
        out += ']';
    }
  }

 private:
  enum class Kind { text, integer, real, shape } kind_;
  union {
    const char* text_;
    Index integer_;
    double real_;
    ShapeRef shape_;
  };
};

/// The pieces as one string.
[[gnu::noinline, gnu::cold]] inline std::string text(std::initializer_list<Piece> pieces) {
  std::string out;
  for (const Piece& piece : pieces) piece.append_to(out);
  return out;
}

namespace detail {
inline constinit thread_local const char* outermost_op = nullptr;
}

/// While alive, Errors of this thread name the outermost such op: what an op made of others refuses is refused in the
/// name that the user called.
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
[[noreturn, gnu::noinline, gnu::cold]] inline void fail(const char* op, std::initializer_list<Piece> pieces) {
  throw Error(std::string(detail::outermost_op ? detail::outermost_op : op) + ": " + text(pieces));
}

}  // namespace tern
