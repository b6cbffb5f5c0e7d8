// The functions of crc32c.hpp that are not templates.
#pragma once
#include <cstring>

#include "crc32c.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// The register of the checksum after one more byte, and the register after a block of zeros for each value of each of
/// its bytes.
struct CrcTables {
  static constexpr int block = 1024;  // bytes
  std::uint32_t byte[256], zeros[4][256];

  CrcTables() {
    for (std::uint32_t i = 0; i < 256; ++i) {
      byte[i] = i;
      for (int bit = 0; bit < 8; ++bit) byte[i] = byte[i] >> 1 ^ (byte[i] & 1 ? 0x82f63b78u : 0);
    }
    for (int k = 0; k < 4; ++k)
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i << 8 * k;
        for (int n = 0; n < block; ++n) crc = crc >> 8 ^ byte[crc & 255];
        zeros[k][i] = crc;
      }
  }
  std::uint32_t after_zeros(std::uint32_t crc) const {
    return zeros[0][crc & 255] ^ zeros[1][crc >> 8 & 255] ^ zeros[2][crc >> 16 & 255] ^ zeros[3][crc >> 24];
  }
};

TERN_INLINE const CrcTables& crc_tables() {
  static const CrcTables tables;
  return tables;
}

TERN_COLD std::uint32_t crc32c_by_table(std::string_view bytes) {
  const CrcTables& tables = crc_tables();
  std::uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ tables.byte[(crc ^ static_cast<unsigned char>(c)) & 255];
  return ~crc;
}

#if defined(__x86_64__)
/// The instruction takes a cycle but answers after three, so three parts of the bytes are summed side by side. The
/// checksum is linear: that of two parts in sequence is the first one's, shifted by the second one's length in zeros,
/// plus the second one's. Bytes that lie in no cache are fetched ahead: the processor's own prefetching stops at each
/// page, and takes 1.6 times as long.
[[gnu::noinline, gnu::target("sse4.2")]] TERN_INLINE std::uint32_t crc32c_by_instruction(std::string_view bytes) {
  constexpr int block = CrcTables::block, ahead = 4096;  // bytes
  const CrcTables& tables = crc_tables();
  const auto word = [](const char* at) {
    std::uint64_t x;
    std::memcpy(&x, at, sizeof x);
    return x;
  };
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t crc = 0xffffffff;
  for (; left >= 3 * block; left -= 3 * block, at += 3 * block) {
    std::uint64_t second = 0, third = 0;
    for (int line = 0; line < block; line += 64) {
      for (int part = 0; part < 3; ++part) __builtin_prefetch(at + part * block + line + ahead);
      for (int i = line; i < line + 64; i += 8) {
        crc = __builtin_ia32_crc32di(crc, word(at + i));
        second = __builtin_ia32_crc32di(second, word(at + block + i));
        third = __builtin_ia32_crc32di(third, word(at + 2 * block + i));
      }
    }
    crc = tables.after_zeros(std::uint32_t(crc)) ^ second;
    crc = tables.after_zeros(std::uint32_t(crc)) ^ third;
  }
  for (; left >= 8; left -= 8, at += 8) crc = __builtin_ia32_crc32di(crc, word(at));
  for (; left > 0; --left, ++at) crc = __builtin_ia32_crc32qi(std::uint32_t(crc), static_cast<unsigned char>(*at));
  return ~std::uint32_t(crc);
}
#endif

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_NOINLINE std::uint32_t crc32c(std::string_view bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return detail::crc32c_by_instruction(bytes);
#endif
  return detail::crc32c_by_table(bytes);
}

}}}  // namespace tern::data
