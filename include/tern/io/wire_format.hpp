// The wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding): a message is a sequence of
// numbered fields.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// Walks through a message: while (fields.next()) if (fields.number() == 1) use(fields.bytes()); Nothing is copied, and
/// nothing outside the message is read. Error, in the name of the op that reads, if the message is damaged or a field
/// is of another type.
class TERN_API WireReader {
 public:
  WireReader(const char* op, std::string_view message) : op_(op), rest_(message), size_(message.size()) {}

  /// Moves to the next field; false at the end.
  bool next();
  Index number() const { return number_; }

  /// The field's value: a varint as uint64, a number of fixed size, or bytes (a text, a message, packed numbers).
  std::uint64_t varint() const { return expect(Type::varint), value_; }
  std::uint64_t fixed64() const { return expect(Type::fixed64), value_; }
  std::uint32_t fixed32() const { return expect(Type::fixed32), std::uint32_t(value_); }
  float float32() const;
  std::string_view bytes() const { return expect(Type::bytes), bytes_; }

  /// Calls f on each of the field's numbers: one, or as many as are packed into its bytes.
  template <class F>
  void each_varint(const F& f) const {
    if (type_ == Type::varint) return f(value_);
    for (WireReader packed(op_, bytes()); !packed.rest_.empty();) f(packed.take_varint());
  }
  template <class F>
  void each_float32(const F& f) const {
    if (type_ == Type::fixed32) return f(float32());
    for (WireReader packed(op_, bytes()); !packed.rest_.empty();) {
      packed.type_ = Type::fixed32;
      packed.value_ = packed.take_fixed(4);
      f(packed.float32());
    }
  }

 private:
  enum class Type : unsigned char { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  void expect(Type type) const;
  std::uint64_t take_varint();
  std::uint64_t take_fixed(std::size_t n);
  std::string_view take_bytes(std::uint64_t n);
  [[noreturn]] void refuse(const char* rule) const;

  const char* op_;
  std::string_view rest_, bytes_;
  std::size_t size_;
  Index number_ = 0;
  Type type_ = Type::varint;
  std::uint64_t value_ = 0;
};

/// Builds a message field by field.
class TERN_API WireWriter {
 public:
  void varint(Index field, std::uint64_t value);
  void float32(Index field, float value);
  void float64(Index field, double value);
  /// A text, bytes, or another message.
  void bytes(Index field, std::string_view value);
  /// Numbers, packed into one field.
  void varints(Index field, const Index* values, std::size_t n);
  void floats(Index field, const float* values, std::size_t n);

  const std::string& message() const { return message_; }

 private:
  void append_varint(std::uint64_t value);
  void key(Index field, unsigned type) { append_varint(std::uint64_t(field) << 3 | type); }

  std::string message_;
};

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "wire_format.ipp"
#endif
