// The functions of image_orientation.hpp that are not templates.
#pragma once
#include <utility>

#include "image_orientation.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD Orientation Orientation::of_exif(std::string_view tiff) {
  constexpr Index tag = 0x112, short_type = 3, long_type = 4, entry_bytes = 12;
  const bool little = tiff.starts_with("II");
  const auto number = [&](Index at, int bytes) -> Index {
    if (at > Index(tiff.size()) - bytes) return 0;
    Index value = 0;
    for (int i = 0; i < bytes; ++i)
      value |= Index(static_cast<unsigned char>(tiff[std::size_t(at + i)])) << 8 * (little ? i : bytes - 1 - i);
    return value;
  };
  if ((!little && !tiff.starts_with("MM")) || number(2, 2) != 42) return {};
  const Index directory = number(4, 4), count = number(directory, 2);
  for (Index i = 0, at = directory + 2; i < count && at < Index(tiff.size()); ++i, at += entry_bytes) {
    if (number(at, 2) != tag || number(at + 4, 4) != 1) continue;
    const Index type = number(at + 2, 2);
    return Orientation(type == short_type ? number(at + 8, 2) : type == long_type ? number(at + 8, 4) : 1);
  }
  return {};
}

TERN_INLINE Orientation::Steps Orientation::steps(ImageSize stored, Index row, Index column) const {
  Index first = 0;
  if (is_from_bottom()) first += (stored.height - 1) * row, row = -row;
  if (is_from_right()) first += (stored.width - 1) * column, column = -column;
  return is_transposed() ? Steps{first, column, row} : Steps{first, row, column};
}

TERN_INLINE ImageWindow Orientation::stored_window(const ImageWindow& upright, ImageSize stored) const {
  ImageWindow window = upright;
  if (is_transposed())
    window = {upright.left, upright.top, upright.width, upright.height, {upright.size.width, upright.size.height}};
  if (is_from_bottom()) window.top = stored.height - window.top - window.height;
  if (is_from_right()) window.left = stored.width - window.left - window.width;
  return window;
}

TERN_COLD transforms::detail::PictureBytes Orientation::upright(const transforms::detail::PictureBytes& stored,
                                                                std::vector<unsigned char>& memory) const {
  const auto [first, down, across] = steps({stored.height, stored.width}, stored.stride, 3);
  transforms::detail::PictureBytes picture = stored;
  if (is_from_bottom())
    picture.top = double(stored.height) - stored.bottom, picture.bottom = double(stored.height) - stored.top;
  if (is_from_right())
    picture.left = double(stored.width) - stored.right, picture.right = double(stored.width) - stored.left;
  if (is_transposed()) {
    std::swap(picture.height, picture.width);
    std::swap(picture.top, picture.left);
    std::swap(picture.bottom, picture.right);
  }
  picture.stride = 3 * picture.width;
  tern::detail::within_memory("image", "turning it",
                              [&] { memory.resize(std::size_t(picture.height * picture.stride)); });
  picture.first = memory.data();
  unsigned char* out = memory.data();
  for (Index y = 0; y < picture.height; ++y) {
    const unsigned char* in = stored.first + first + y * down;
    for (Index x = 0; x < picture.width; ++x, in += across, out += 3) out[0] = in[0], out[1] = in[1], out[2] = in[2];
  }
  return picture;
}

}}}  // namespace tern::data::detail
