// The functions of image.hpp that are not templates.
#pragma once
#include "image.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_NOINLINE float* Image::replace(Index channels, Index height, Index width) {
  Index size = 0;
  if (__builtin_mul_overflow(channels, height, &size) || __builtin_mul_overflow(size, width, &size) || size < 0)
    Error::fail("image", {"cannot be of ", tern::detail::Shape{channels, height, width}});
  if (replacements_left_-- == 1 && target_ && size == target_size_) {
    pixels_ = target_;
  } else {
    std::vector<float>& buffer = buffers_[in_buffer_ = !in_buffer_];
    if (Index(buffer.size()) < size)
      tern::detail::within_memory("image", tern::detail::text({tern::detail::Shape{channels, height, width}}).c_str(),
                                  [&] { buffer.resize(std::size_t(size)); });
    pixels_ = buffer.data();
  }
  channels_ = channels;
  height_ = height;
  width_ = width;
  return pixels_;
}

TERN_NOINLINE unsigned char* Image::bytes(Index n) {
  if (Index(bytes_.size()) < n)
    tern::detail::within_memory("image", tern::detail::text({n, " bytes"}).c_str(),
                                [&] { bytes_.resize(std::size_t(n)); });
  return bytes_.data();
}

}}}  // namespace tern::data
