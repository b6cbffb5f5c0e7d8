#include "reader.hpp"

#include <tern/data/image_file.hpp>

/// The whole picture, its numbers, and a window that depends on its size: at its own size, and for larger ones at a
/// half, a quarter and an eighth; also what there is of a damaged picture, upright.
void read(const std::string& path) {
  const std::string bytes = tern::io::read_file(path, 1 << 20);
  tern::data::Image image;
  for (const tern::data::ImageOptions& options :
       {tern::data::ImageOptions{.allow_damaged = true, .apply_exif_orientation = true}, {}}) {
    for (const tern::Index part : {3, 8, 16, 64}) {
      try {
        tern::data::detail::JpegReader(path, bytes, options)
            .read(image, [&](tern::Index height, tern::Index width) -> tern::data::ImageWindow {
              const tern::Index rows = (height + 1) / 2, columns = (width + 1) / 2;
              return {height / 3, width / 2, rows, columns, {1 + rows / part, 1 + columns / part}};
            });
      } catch (const tern::Error&) {}
    }
    try {
      tern::data::detail::JpegReader(path, bytes, options).read_pixels();
      tern::data::detail::JpegReader(path, bytes, options).read(image);
    } catch (const tern::Error&) {}
  }
}
