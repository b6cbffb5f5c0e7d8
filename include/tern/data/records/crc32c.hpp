// CRC32C, the checksum of TFRecord files.
#pragma once
#include <cstdint>
#include <string_view>

#include "../../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// The cyclic redundancy check of the bytes with Castagnoli's polynomial 0x1edc6f41 (RFC 3720, appendix B.4), by the
/// processor's instruction where it has one.
TERN_API std::uint32_t crc32c(std::string_view bytes);

namespace detail {

/// The same by a table, for processors without the instruction.
TERN_API std::uint32_t crc32c_by_table(std::string_view bytes);

/// The checksum as TFRecord files store it. A checksum of data that contain checksums would be weak.
inline std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

}  // namespace detail

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "crc32c.ipp"
#endif
