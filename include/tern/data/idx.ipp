// The functions of idx.hpp that are not templates.
#pragma once
#include "idx.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD Tensor<Cpu, std::uint8_t> read_idx(const std::string& path, const tern::detail::Shape& expected,
                                             Index max_size, CallSite here) {
  const CallScope scope(here);
  io::GzipReader reader(path);
  const auto next = [&reader] {
    unsigned char bytes[4];
    reader.read(bytes, 4);
    return Index(bytes[0]) << 24 | Index(bytes[1]) << 16 | Index(bytes[2]) << 8 | Index(bytes[3]);
  };
  const Index magic = next(), expected_magic = 0x800 + expected.n;
  if (magic != expected_magic)
    Error::fail("idx", {"'", path, "': begins with the number ", magic, ", not ", expected_magic,
                        ": it should hold unsigned bytes, dimensions: ", expected.n});
  tern::detail::Shape shape = expected;
  for (Index& size : shape) size = next();
  bool fits = true;
  for (int i = 0; i < shape.n; ++i) fits &= expected[i] < 0 ? shape[i] <= max_size : shape[i] == expected[i];
  if (!fits)
    Error::fail("idx", {"'", path, "': has the sizes ", tern::detail::ShapeRef(shape), ", not ",
                        tern::detail::ShapeRef(expected), ", where -1 is any up to ", max_size});
  Index bytes = 1;
  for (const Index size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > reader.most())
      Error::fail("idx", {"'", path, "': of sizes ", tern::detail::ShapeRef(shape),
                          " is larger than allowed: more than ", reader.most(), " bytes"});
  Tensor<Cpu, std::uint8_t> out = empty<Cpu, std::uint8_t>(shape);
  reader.read(out.data(), out.numel());
  reader.expect_end();
  return out;
}

}}}  // namespace tern::data
