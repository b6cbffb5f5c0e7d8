// How a picture lies in its file: cameras store what their sensor has, and say in EXIF data which side was up.
#pragma once
#include <string_view>
#include <vector>

#include "image.hpp"
#include "transforms/resize.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// EXIF's orientation: of the upright picture, which sides the file's first row and first column are.
class TERN_API Orientation {
 public:
  Orientation() {}
  /// 1 … 8; other numbers mean nothing, and 1.
  explicit Orientation(Index exif) : exif_(exif >= 1 && exif <= 8 ? int(exif) : 1) {}
  /// What EXIF data, in the form of a TIFF file, say. 1 if they do not, or are damaged.
  static Orientation of_exif(std::string_view tiff);

  bool is_upright() const { return exif_ == 1; }
  /// The upright picture's size, for so many rows and columns in the file.
  ImageSize size(ImageSize stored) const { return is_transposed() ? ImageSize(stored.width, stored.height) : stored; }

  /// Where the upright picture's pixels are: that of row y and column x at first + y * down + x * across.
  struct Steps {
    Index first, down, across;
  };
  /// `row` and `column` are the steps to the file's next row and column.
  Steps steps(ImageSize stored, Index row, Index column) const;

  /// The window of the file that becomes this window of the upright picture.
  ImageWindow stored_window(const ImageWindow& upright, ImageSize stored) const;
  /// A part of the file, upright, in `memory`.
  transforms::detail::PictureBytes upright(const transforms::detail::PictureBytes& stored,
                                           std::vector<unsigned char>& memory) const;

 private:
  bool is_transposed() const { return exif_ >= 5; }
  bool is_from_bottom() const {
    return exif_ == 3 || exif_ == 4 || exif_ == 6 || exif_ == 7;
  }  // the first row, before it is transposed
  bool is_from_right() const { return exif_ == 2 || exif_ == 3 || exif_ == 7 || exif_ == 8; }

  int exif_ = 1;
};

}}}  // namespace tern::data::detail

// Not in the compiled library, because only programs that read images use it.
#include "image_orientation.ipp"
