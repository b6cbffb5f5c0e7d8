// Datum, the message that Caffe's programs put into an LMDB: a labelled picture.
#pragma once
#include <string>

#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// The picture of a Datum: a file if it is `encoded`, else bytes [channels, height, width], whose channels are in the
/// order in which they were stored: Caffe's convert_imageset stores blue, green and red. The views are of the message.
/// Error if it is damaged, holds floats, or its bytes are not as many as its sizes say.
TERN_API ImageRecord parse_datum(std::string_view message, CallSite here = {});

/// A Datum of a picture's file or bytes, with its label.
TERN_API std::string serialize_datum(const ImageRecord& image, CallSite here = {});

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "datum.ipp"
#endif
