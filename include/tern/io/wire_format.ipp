// The functions of wire_format.hpp that are not templates.
#pragma once
#include <cstring>

#include "wire_format.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_NOINLINE bool WireReader::next() {
  if (rest_.empty()) return false;
  const std::uint64_t key = take_varint();
  number_ = Index(key >> 3);
  if (number_ < 1 || number_ >= Index(1) << 29) refuse("a field has no valid number");
  switch (key & 7) {
    case 0: value_ = take_varint(); break;
    case 1: value_ = take_fixed(8); break;
    case 2: bytes_ = take_bytes(take_varint()); break;
    case 5: value_ = take_fixed(4); break;
    default: refuse("a field is of a type that is not read");
  }
  type_ = Type(key & 7);
  return true;
}

TERN_NOINLINE float WireReader::float32() const {
  const std::uint32_t bits = fixed32();
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

TERN_NOINLINE void WireReader::expect(Type type) const {
  if (type_ != type) Error::fail(op_, {"field ", number_, " of a message is of another type than its name says"});
}

TERN_NOINLINE std::uint64_t WireReader::take_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) refuse("the message ends within a number");
    const unsigned char byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t(byte & 127) << shift;
    if (byte < 128) return value;
  }
  refuse("a number has more than ten bytes");
}

TERN_NOINLINE std::uint64_t WireReader::take_fixed(std::size_t n) {
  std::uint64_t value = 0;
  std::memcpy(&value, take_bytes(n).data(), n);  // the format's order of bytes is x86's
  return value;
}

TERN_NOINLINE std::string_view WireReader::take_bytes(std::uint64_t n) {
  if (n > rest_.size()) refuse("a field is longer than what is left of the message");
  const std::string_view taken = rest_.substr(0, std::size_t(n));
  rest_.remove_prefix(std::size_t(n));
  return taken;
}

TERN_COLD void WireReader::refuse(const char* rule) const {
  Error::fail(op_, {rule, ", at byte ", Index(size_ - rest_.size()), " of ", Index(size_)});
}

TERN_NOINLINE void WireWriter::varint(Index field, std::uint64_t value) {
  key(field, 0);
  append_varint(value);
}

TERN_NOINLINE void WireWriter::float32(Index field, float value) {
  key(field, 5);
  message_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

TERN_NOINLINE void WireWriter::float64(Index field, double value) {
  key(field, 1);
  message_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

TERN_NOINLINE void WireWriter::bytes(Index field, std::string_view value) {
  key(field, 2);
  append_varint(value.size());
  message_.append(value);
}

TERN_NOINLINE void WireWriter::varints(Index field, const Index* values, std::size_t n) {
  WireWriter packed;
  for (std::size_t i = 0; i < n; ++i) packed.append_varint(std::uint64_t(values[i]));
  bytes(field, packed.message());
}

TERN_NOINLINE void WireWriter::floats(Index field, const float* values, std::size_t n) {
  bytes(field, {reinterpret_cast<const char*>(values), n * sizeof(float)});
}

TERN_NOINLINE void WireWriter::append_varint(std::uint64_t value) {
  for (; value >= 128; value >>= 7) message_ += static_cast<char>(value | 128);
  message_ += static_cast<char>(value);
}

}}}  // namespace tern::io
