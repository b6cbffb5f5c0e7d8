// libjpeg's type boolean, after `using namespace tern`.
#include <tern/tern.hpp>
#include <tern/data/encode_jpeg.hpp>
#include <tern/data/image_file.hpp>
using namespace tern;

#include <cstdio>

#include <jpeglib.h>

boolean is_grey(jpeg_decompress_struct& jpeg) {
  const boolean complete = jpeg_read_header(&jpeg, TRUE) == JPEG_HEADER_OK;
  return complete && jpeg.num_components == 1;
}

Tensor<Cpu, bool> mask(const Tensor<Cpu>& x) { return x.to(bool_); }
