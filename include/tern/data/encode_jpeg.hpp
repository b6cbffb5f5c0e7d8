// Images as JPEG files. tern.hpp does not include this header, because it needs libjpeg (-ljpeg, or CMake's
// tern::images).
#pragma once
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <jpeglib.h>

#include "dataset.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct JpegOptions {
  int quality = 75;  ///< 1 to 100
};

/// An image [C, H, W] of bytes as a JPEG file. C is 1 for grey or 3 for colours, of which libjpeg stores every fourth
/// (4:2:0).
TERN_API std::string encode_jpeg(const Tensor<Cpu, std::uint8_t>& image, const JpegOptions& options = {},
                                 CallSite here = {});

}}}  // namespace tern::data

// Not in the compiled library, so that programs that read no images need no libjpeg.
#include "encode_jpeg.ipp"
