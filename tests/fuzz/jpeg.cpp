#include "reader.hpp"

#include <tern/data/image_file.hpp>

/// The whole picture, and a window that depends on its size: at its own size, and for larger ones at a half, a quarter and an eighth.
void read(const std::string& path) {
  const std::string bytes = tern::io::read_file(path, 1 << 20);
  tern::data::Image image;
  for (const tern::Index part : {3, 8, 16, 64}) {
    try {
      tern::data::detail::JpegReader(path, bytes).read(image, [&](tern::Index height, tern::Index width) -> tern::data::ImageWindow {
        const tern::Index rows = (height + 1) / 2, columns = (width + 1) / 2;
        return {height / 3, width / 2, rows, columns, {1 + rows / part, 1 + columns / part}};
      });
    } catch (const tern::Error&) {
    }
  }
  tern::data::detail::JpegReader(path, bytes).read(image);
}
