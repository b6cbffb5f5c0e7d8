// The functions of datum.hpp that are not templates.
#pragma once
#include "../../io/wire_format.hpp"
#include "datum.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {
/// The message's fields (caffe.proto).
enum DatumField : Index {
  datum_channels = 1,
  datum_height = 2,
  datum_width = 3,
  datum_data = 4,
  datum_label = 5,
  datum_floats = 6,
  datum_encoded = 7
};
}  // namespace detail

TERN_NOINLINE ImageRecord parse_datum(std::string_view message, CallSite here) {
  const CallScope scope(here);
  using namespace detail;
  ImageRecord image;
  std::string_view data;
  bool encoded = false;
  for (io::WireReader fields("Datum", message); fields.next();) {
    if (fields.number() == datum_channels) image.channels = Index(fields.varint());
    if (fields.number() == datum_height) image.height = Index(fields.varint());
    if (fields.number() == datum_width) image.width = Index(fields.varint());
    if (fields.number() == datum_data) data = fields.bytes();
    if (fields.number() == datum_label) image.label = Index(fields.varint());
    if (fields.number() == datum_floats) Error::fail("Datum", {"holds floats; bytes and picture files are read"});
    if (fields.number() == datum_encoded) encoded = fields.varint() != 0;
  }
  if (encoded) {
    image.encoded = data;
    return image;
  }
  constexpr Index most = Index(1) << 20;  // a side; the product of three fits
  for (const Index side : {image.channels, image.height, image.width})
    if (side < 1 || side > most)
      Error::fail("Datum", {"a picture of ", image.channels, " x ", image.height, " x ", image.width, " cannot be"});
  if (const Index n = image.channels * image.height * image.width; n != Index(data.size()))
    Error::fail("Datum",
                {"has ", Index(data.size()), " bytes, not ", image.channels, " x ", image.height, " x ", image.width});
  image.pixels = data;
  return image;
}

TERN_NOINLINE std::string serialize_datum(const ImageRecord& image, CallSite here) {
  const CallScope scope(here);
  using namespace detail;
  io::WireWriter datum;
  const bool encoded = image.pixels.empty();
  if (!encoded) {
    datum.varint(datum_channels, std::uint64_t(image.channels));
    datum.varint(datum_height, std::uint64_t(image.height));
    datum.varint(datum_width, std::uint64_t(image.width));
  }
  datum.bytes(datum_data, encoded ? image.encoded : image.pixels);
  datum.varint(datum_label, std::uint64_t(image.label));
  if (encoded) datum.varint(datum_encoded, 1);
  return datum.message();
}

}}}  // namespace tern::data
