// The function of file_kind.hpp.
#pragma once
#include "file_kind.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD std::string but_of_kind(std::string_view bytes) {
  struct Kind {
    std::string_view begin;
    const char* name;
  };
  constexpr Kind kinds[] = {{"version https://git-lfs", "a pointer of Git LFS; git lfs pull fetches the file"},
                            {"<!DOCTYPE", "a page of HTML"},
                            {"<!doctype", "a page of HTML"},
                            {"<html", "a page of HTML"},
                            {{"PK\3\4", 4}, "a zip archive, as torch.save and numpy.savez write"},
                            {"\x93NUMPY", "a .npy file"},
                            {"\x80\2", "a pickle of Python"},
                            {"\x80\4", "a pickle of Python"},
                            {"\x89HDF", "an HDF5 file"},
                            {"\x1f\x8b", "compressed by gzip"},
                            {"\xff\xd8", "a JPEG picture"},
                            {"\x89PNG", "a PNG picture"},
                            {"GIF8", "a GIF picture"},
                            {"BM", "a BMP picture"},
                            {{"II*\0", 4}, "a TIFF picture"},
                            {{"MM\0*", 4}, "a TIFF picture"}};
  constexpr Kind in_containers[] = {
      {"WEBP", "a WebP picture"}, {"avif", "an AVIF picture"}, {"heic", "a HEIF picture"}};
  for (const Kind& kind : kinds)
    if (bytes.starts_with(kind.begin)) return std::string(", but ") + kind.name;
  if (bytes.size() > 8 && bytes.substr(3, 6) == std::string_view("\0\0\0\0\0{", 6)) return ", but a .safetensors file";
  if (bytes.size() < 12 || !(bytes.starts_with("RIFF") || bytes.substr(4, 4) == "ftyp")) return "";
  for (const Kind& kind : in_containers)
    if (bytes.substr(8, 4) == kind.begin) return std::string(", but ") + kind.name;
  return "";
}

}}}  // namespace tern::io
