// The functions of encode_jpeg.hpp that are not templates.
#pragma once
#include "encode_jpeg.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// libjpeg reports an error by a longjmp, so each call of it is in a function of its own that has no objects to
/// destroy.
class TERN_API JpegWriter {
 public:
  JpegWriter() = default;
  ~JpegWriter() {
    if (jpeg_.mem) jpeg_destroy_compress(&jpeg_);
    std::free(file_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  bool start(Index channels, Index height, Index width, int quality) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) {
      auto& self = *static_cast<JpegWriter*>(jpeg->client_data);
      jpeg->err->format_message(jpeg, self.message_);
      std::longjmp(self.out_, 1);
    };
    if (setjmp(out_)) return false;
    jpeg_create_compress(&jpeg_);
    jpeg_.client_data = this;
    jpeg_mem_dest(&jpeg_, &file_, &size_);
    jpeg_.image_width = JDIMENSION(width);
    jpeg_.image_height = JDIMENSION(height);
    jpeg_.input_components = int(channels);
    jpeg_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, quality, TRUE);
    jpeg_start_compress(&jpeg_, TRUE);
    return true;
  }
  bool write(unsigned char* row) {
    if (setjmp(out_)) return false;
    return jpeg_write_scanlines(&jpeg_, &row, 1) == 1;
  }
  bool finish() {
    if (setjmp(out_)) return false;
    jpeg_finish_compress(&jpeg_);
    return true;
  }

  std::string file() const { return {reinterpret_cast<const char*>(file_), size_}; }
  const char* message() const { return message_; }

 private:
  jpeg_compress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf out_;
  unsigned char* file_ = nullptr;
  unsigned long size_ = 0;
  char message_[JMSG_LENGTH_MAX] = "";
};

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD std::string encode_jpeg(const Tensor<Cpu, std::uint8_t>& image, const JpegOptions& options, CallSite here) {
  const CallScope scope(here);
  if (image.checked("encode_jpeg")->ndim != 3 || !image.numel())
    Error::fail("encode_jpeg", {"an image is [C, H, W] and not empty, but the shape is ", image.shape()});
  const Index channels = image.size(0), height = image.size(1), width = image.size(2);
  if (channels != 1 && channels != 3) Error::fail("encode_jpeg", {"images have 1 or 3 channels, not ", channels});
  if (height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION)
    Error::fail("encode_jpeg", {"an image of ", height, " x ", width, " is too large; the most is ",
                                Index(JPEG_MAX_DIMENSION), " a side"});
  if (options.quality < 1 || options.quality > 100)
    Error::fail("encode_jpeg", {"quality must be in [1, 100], not ", options.quality});
  const Tensor<Cpu, std::uint8_t> planes = detail::row_major(image);
  std::vector<unsigned char> row(std::size_t(width * channels));
  detail::JpegWriter writer;
  bool good = writer.start(channels, height, width, options.quality);
  for (Index y = 0; good && y < height; ++y) {
    for (Index i = 0; i < width * channels; ++i)
      row[std::size_t(i)] = planes.data()[(i % channels * height + y) * width + i / channels];
    good = writer.write(row.data());
  }
  if (!good || !writer.finish()) Error::fail("encode_jpeg", {writer.message()});
  return writer.file();
}

}}}  // namespace tern::data
