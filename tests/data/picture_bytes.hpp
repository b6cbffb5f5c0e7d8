// PNG and JPEG files made for tests.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <zlib.h>

namespace tern_test {

inline std::string big_endian(unsigned long number, int bytes) {
  std::string out;
  for (int i = bytes; i-- > 0;) out += char(number >> (8 * i) & 255);
  return out;
}

inline std::string png_chunk(const std::string& kind, const std::string& data) {
  const std::string body = kind + data;
  const unsigned long check = crc32(0, reinterpret_cast<const Bytef*>(body.data()), uInt(body.size()));
  return big_endian(data.size(), 4) + body + big_endian(check, 4);
}

struct PngKind {
  unsigned width, height;
  int depth = 8;    // bits
  int colours = 0;  // 0 grey, 2 colour, 3 a palette, 4 and 6 the first two with transparency
  int interlaced = 0;
};

/// A PNG file of these rows of bytes. `chunks` stand before the pixels.
inline std::string png_bytes(const PngKind& kind, std::initializer_list<std::string> rows,
                             const std::string& chunks = "") {
  std::string raw;
  for (const std::string& row : rows) raw += '\0' + row;
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
               raw.size()) != Z_OK)
    throw std::runtime_error("compress");
  packed.resize(size);
  const std::string header = big_endian(kind.width, 4) + big_endian(kind.height, 4) + char(kind.depth) +
                             char(kind.colours) + std::string(2, '\0') + char(kind.interlaced);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + chunks + png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

struct JpegKind {
  unsigned width, height;
  bool progressive = false;
  J_COLOR_SPACE colours = JCS_RGB;     // or JCS_GRAYSCALE, JCS_CMYK
  bool many_scans = false;             // progressive, with a scan for each coefficient of each colour
  int across = 2, down = 2;            // in JCS_RGB, the columns and rows that share a value of their colour
  J_COLOR_SPACE stored = JCS_UNKNOWN;  // as what the colours are stored; else libjpeg's choice
};

/// A JPEG file of a slanted ramp.
inline std::string jpeg_bytes(const JpegKind& kind) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = kind.width, jpeg.image_height = kind.height;
  jpeg.input_components = kind.colours == JCS_GRAYSCALE ? 1 : kind.colours == JCS_CMYK ? 4 : 3;
  jpeg.in_color_space = kind.colours;
  jpeg_set_defaults(&jpeg);
  if (kind.stored != JCS_UNKNOWN) jpeg_set_colorspace(&jpeg, kind.stored);
  if (kind.colours == JCS_RGB)
    jpeg.comp_info[0].h_samp_factor = kind.across, jpeg.comp_info[0].v_samp_factor = kind.down;
  if (kind.progressive) jpeg_simple_progression(&jpeg);
  std::vector<jpeg_scan_info> scans;
  if (kind.many_scans) {
    scans.push_back({jpeg.num_components, {0, 1, 2, 3}, 0, 0, 0, 0});
    for (int colour = 0; colour < jpeg.num_components; ++colour)
      for (int i = 1; i < 64; ++i) scans.push_back({1, {colour, 0, 0, 0}, i, i, 0, 0});
    jpeg.scan_info = scans.data();
    jpeg.num_scans = int(scans.size());
  }
  jpeg_start_compress(&jpeg, TRUE);
  std::string row(kind.width * unsigned(jpeg.input_components), '\0');
  for (unsigned y = 0; y < kind.height; ++y) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = char(3 * i + 5 * y);
    auto* line = reinterpret_cast<unsigned char*>(row.data());
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::string out(reinterpret_cast<char*>(memory), size);
  std::free(memory);
  return out;
}

/// The position of a JPEG's segment with one of these markers.
inline std::size_t jpeg_segment(const std::string& jpeg, const std::string& markers) {
  std::size_t at = 2;
  while (markers.find(jpeg[at + 1]) == std::string::npos)
    at += 2 + (static_cast<unsigned char>(jpeg[at + 2]) << 8 | static_cast<unsigned char>(jpeg[at + 3]));
  return at;
}

/// Changes the size that a JPEG's header claims.
inline void set_jpeg_size(std::string& jpeg, unsigned width, unsigned height) {
  const std::size_t frame = jpeg_segment(jpeg, "\xc0\xc2");
  jpeg.replace(frame + 5, 4, big_endian(height, 2) + big_endian(width, 2));
}

}  // namespace tern_test
