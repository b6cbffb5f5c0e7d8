#include "reader.hpp"

#include <tern/data/image_file.hpp>

void read(const std::string& path) {
  tern::data::Image image;
  tern::data::detail::JpegReader(path, tern::io::read_file(path, 1 << 20)).read(image);
}
