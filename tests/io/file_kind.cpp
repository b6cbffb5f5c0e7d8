// What files are that readers did not expect, and what the readers of arrays say then.
#include "recorded_bytes.hpp"
#include "temporary_folder.hpp"

#include <tern/io/file_kind.hpp>
#include <tern/io/npz.hpp>
#include <tern/io/safetensors.hpp>

namespace io_file_kind {
using namespace tern;
using tern_test::error_of;
using tern_test::TemporaryFolder;

TEST_CASE("a file's kind is known by its first bytes", "[io]") {
  const std::pair<std::string, const char*> kinds[] = {
      {"GIF89a", "a GIF picture"},
      {std::string("RIFF\0\0\0\0WEBPVP8 ", 16), "a WebP picture"},
      {"BM", "a BMP picture"},
      {std::string("II*\0", 4), "a TIFF picture"},
      {std::string("MM\0*", 4), "a TIFF picture"},
      {std::string("\0\0\0\x20"
                   "ftypavif",
                   12),
       "an AVIF picture"},
      {std::string("\0\0\0\x20"
                   "ftypheic",
                   12),
       "a HEIF picture"},
      {"\xff\xd8\xff", "a JPEG picture"},
      {"\x89PNG", "a PNG picture"},
      {"<!DOCTYPE html>", "a page of HTML"},
      {"\x89HDF\r\n", "an HDF5 file"},
      {std::string("\x40\0\0\0\0\0\0\0{\"", 10), "a .safetensors file"}};
  for (const auto& [begin, kind] : kinds) CHECK(io::but_of_kind(begin) == std::string(", but ") + kind);
  for (const std::string& other :
       {std::string(), std::string("RIFF\0\0\0\0WAVE", 12), std::string("ftypavif"), std::string("RIFF")})
    CHECK(io::but_of_kind(other) == "");
}

TEST_CASE("readers of arrays say what they were given instead", "[io]") {
  const TemporaryFolder folder;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  io::save_npz(folder / "a.npz", {{"x", zeros<Cpu>({2})}});
  io::save_npy(folder / "a.npy", zeros<Cpu>({2}));
  const std::string npz = tern_test::content_of(folder / "a.npz"), npy = tern_test::content_of(folder / "a.npy");
  const auto safetensors = [&](const std::string& content) {
    return error_of([&] { io::load_safetensors(folder.put("x", content)); });
  };
  const std::string file = "'" + (folder / "x") + "': ";
  CHECK(safetensors(pointer) ==
        "safetensors: " + file + "is no safetensors file, but a pointer of Git LFS; git lfs pull fetches the file");
  CHECK(safetensors(npz) ==
        "safetensors: " + file + "is no safetensors file, but a zip archive, as torch.save and numpy.savez write");
  CHECK(safetensors("\x80\2}q\1.xxxxxxx") == "safetensors: " + file + "is no safetensors file, but a pickle of Python");
  CHECK(error_of([&] { io::load_npy(folder.put("x", npz)); }) ==
        "npy: " + file + "it is not a .npy file, but a zip archive, as torch.save and numpy.savez write");
  CHECK(error_of([&] { io::load_npz(folder.put("x", npy)); }) ==
        "npz: " + file + "it is not a zip archive, but a .npy file");
  CHECK(error_of([&] { io::load_npz(folder.put("x", npz.substr(0, npz.size() / 2))); }) ==
        "npz: " + file + "is truncated: the end of the zip archive is missing");
  CHECK(error_of([&] { io::load_npz(folder.put("x", "abc")); }) == "npz: " + file + "it is not a zip archive");
}

}  // namespace io_file_kind
