#include "reader.hpp"

#include <tern/data/image_file.hpp>

/// The picture and its numbers; also what there is of a damaged one, upright, and a window of it.
void read(const std::string& path) {
  const std::string bytes = tern::io::read_file(path, 1 << 20);
  tern::data::Image image;
  for (const tern::data::ImageOptions& options :
       {tern::data::ImageOptions{.allow_damaged = true, .apply_exif_orientation = true}, {}}) {
    try {
      tern::data::detail::PngReader(path, bytes, options).read_pixels();
      tern::data::detail::PngReader(path, bytes, options).read(image);
      tern::data::detail::PngReader(path, bytes, options)
          .read(image, [&](tern::Index height, tern::Index width) -> tern::data::ImageWindow {
            return {height / 3, width / 2, (height + 1) / 2, (width + 1) / 2, {1 + height / 3, 1 + width / 5}};
          });
    } catch (const tern::Error&) {}
  }
}
