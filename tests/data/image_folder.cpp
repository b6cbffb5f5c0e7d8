#include "support/recorded.hpp"

#include <set>

#include <tern/data/image_folder.hpp>
#include <tern/data/loader.hpp>
#include <tern/data/save_image.hpp>
#include <tern/data/subset.hpp>
#include <tern/data/transforms.hpp>
#include <tern/io/sha256.hpp>

#include "../io/temporary_folder.hpp"
#include "picture_bytes.hpp"

namespace data_image_folder {
using namespace tern;
using namespace tern::data::transforms;
using data::ImageFolder;
using tern_test::content_of;
using tern_test::error_of;
using tern_test::TemporaryFolder;

namespace {

/// A PNG file of 5 x 4 pixels: red 50 y + 10 x, green 255 - red, blue 7 x; `format` may add transparency.
std::string png_bytes(int format = PNG_FORMAT_RGB) {
  const int channels = format == PNG_FORMAT_RGB ? 3 : 4;
  std::vector<unsigned char> pixels;
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 4; ++x)
      for (int c = 0; c < channels; ++c)
        pixels.push_back(static_cast<unsigned char>(c == 0 ? 50 * y + 10 * x : c == 1 ? 255 - 50 * y - 10 * x : 7 * x));
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = 4, png.height = 5, png.format = png_uint_32(format);
  std::string out(10000, '\0');
  png_alloc_size_t size = out.size();
  REQUIRE(png_image_write_to_memory(&png, out.data(), &size, 0, pixels.data(), 0, nullptr));
  out.resize(size);
  return out;
}

/// The bytes [H, W, 3] that a read image came from.
std::string bytes_of(const data::Image& image) {
  std::string out;
  const Index plane = image.height() * image.width();
  for (Index i = 0; i < plane; ++i)
    for (Index c = 0; c < 3; ++c) out += char(int(std::lround(255 * image.data()[c * plane + i])));
  return out;
}

/// Two classes of two and one PNG images, and what is none.
struct SmallFolder : TemporaryFolder {
  SmallFolder() {
    for (const char* folder : {"b", "a", "a/deep", ".hidden"}) std::filesystem::create_directory(*this / folder);
    put("a/2.PNG", png_bytes());
    put("a/1.png", png_bytes());
    put("a/deep/3.png", png_bytes(PNG_FORMAT_RGBA));
    put("b/0.png", png_bytes());
    put("b/notes.txt", "no image");
    put("readme.png", "no class");
    put(".hidden/x.png", "no class");
  }
};

/// A folder's pictures, each of which is read as a whole.
struct Whole {
  const ImageFolder& set;
  Index size() const { return set.size(); }
  Index label(Index sample) const { return set.label(sample); }
  void read(Index sample, data::Image& image) const { set.read(sample, image); }
  auto batch(std::span<const Index> samples) const { return set.batch(samples); }
};
static_assert(data::WindowedDataset<ImageFolder> && !data::WindowedDataset<Whole>);

/// The largest difference between batches of the folder's pictures and of the same pictures read as a whole.
template <class... T>
float largest_difference(const ImageFolder& set, const T&... transform) {
  const std::vector<Index> samples = {0, 1, 1, 0};
  float largest = 0;
  for (Index epoch = 0; epoch < 5; ++epoch) {
    const data::RandomKey key{3, epoch, 0};
    const auto x = std::get<0>(data::transformed(set, transform...).batch(samples, key));
    const auto y = std::get<0>(data::transformed(Whole{set}, transform...).batch(samples, key));
    REQUIRE(x.shape() == y.shape());
    for (Index i = 0; i < x.numel(); ++i) largest = std::max(largest, std::abs(x.data()[i] - y.data()[i]));
  }
  return largest;
}

}  // namespace

TEST_CASE("crops of a folder's pictures are those of the pictures read as a whole", "[data]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  folder.put("a/0.jpg", tern_test::jpeg_bytes({250, 190}));
  folder.put("a/1.jpg", tern_test::jpeg_bytes({.width = 199, .height = 301, .across = 1, .down = 1}));
  const auto set = ImageFolder::load(folder.path());
  // Windows of fewer than 4 x 96 rows are not reduced. The smallest deviation is 0.2.
  const float most = 2e-6f / 0.2f;
  const Normalize normalize({0.5f, 0.4f, 0.3f}, {0.2f, 0.3f, 0.4f});
  CHECK(largest_difference(set, RandomResizedCrop(96), RandomHorizontalFlip(), normalize) <= most);
  CHECK(largest_difference(set, RandomResizedCrop(96), RandomHorizontalFlip(), RandomCrop(80), RandomResizedCrop(96)) <=
        most);
  CHECK(largest_difference(set, RandomHorizontalFlip(), RandomResizedCrop(96), normalize) ==
        0);  // begins with no window
  CHECK(largest_difference(set, Resize(100), CenterCrop(90), normalize) <= most);
}

TEST_CASE("a folder's picture is decoded no further than its crop", "[data]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  const std::string jpeg = tern_test::jpeg_bytes({200, 200});
  folder.put("a/0.jpg", jpeg.substr(0, jpeg.size() / 2));
  const auto set = ImageFolder::load(folder.path());
  const RandomResizedCrop crop(20, {.scale = {0.01, 0.02}});
  const std::vector<Index> samples = {0};
  int refused = 0;
  for (Index epoch = 0; epoch < 40; ++epoch) {
    const data::RandomKey key{3, epoch, 0};
    CHECK(error_of([&] { data::transformed(Whole{set}, crop).batch(samples, key); }) != "");
    refused += error_of([&] { data::transformed(set, crop).batch(samples, key); }) != "";
  }
  CHECK(refused > 5);
  CHECK(refused < 35);
}

TEST_CASE("photographs are decoded and resized as by Pillow", "[data]") {
  NEED_TEST_DATA(folder, "data/imagefolder");
  const auto set = ImageFolder::load(folder);
  CHECK(set.classes() == std::vector<std::string>{"autumn", "christmas", "spring", "summer", "winter"});
  const auto cases = tern_test::recorded_cases("photographs");
  REQUIRE(set.size() == Index(cases.size()));
  const auto cropped = data::transformed(set, Resize(64), CenterCrop(48));
  Index i = 0;
  for (const auto& j : cases) {
    INFO(set.path(i));
    REQUIRE(set.path(i) == folder + "/" + j["name"].get<std::string>());
    REQUIRE(io::sha256(content_of(set.path(i))) == j["sha256"].get<std::string>());
    data::Image image;
    set.read(i, image);
    REQUIRE(image.width() == j["size"][0].get<Index>());
    REQUIRE(image.height() == j["size"][1].get<Index>());
    CHECK(io::sha256(bytes_of(image)) == j["decoded"].get<std::string>());
    const auto [x, y] = cropped.batch({&i, 1});
    REQUIRE(x.shape() == tern::detail::Shape{1, 3, 48, 48});
    CHECK(set.classes()[std::size_t(y(0))] ==
          j["name"].get<std::string>().substr(0, set.classes()[std::size_t(y(0))].size()));
    // Pillow rounds to bytes after each of its two passes, so it is off by up to one from the exact average.
    for (const auto& point : j["points"])
      for (Index c = 0; c < 3; ++c) {
        const double exact = 255 * double(x(0, c, point[0].get<Index>(), point[1].get<Index>()));
        CHECK(std::abs(exact - point[std::size_t(2 + c)].get<double>()) < 1.01);
      }
    ++i;
  }
}

TEST_CASE("classes and files are sorted by name, folders within searched", "[data]") {
  const SmallFolder folder;
  const auto set = ImageFolder::load(folder.path());
  CHECK(set.classes() == std::vector<std::string>{"a", "b"});
  std::vector<std::string> names;
  for (Index i = 0; i < set.size(); ++i) names.push_back(set.path(i).substr(folder.path().size()));
  CHECK(names == std::vector<std::string>{"/a/1.png", "/a/2.PNG", "/a/deep/3.png", "/b/0.png"});
  Index seen = 0;
  for (auto& [x, y] : data::loader<Cpu>(set, {.batch_size = 3})) {
    REQUIRE(x.shape() == tern::detail::Shape{x.size(0), 3, 5, 4});
    for (Index i = 0; i < x.size(0); ++i, ++seen) {
      CHECK(y(i) == (seen == 3));
      for (Index row = 0; row < 5; ++row)
        for (Index column = 0; column < 4; ++column) {
          const double red = double(50 * row + 10 * column);
          CHECK(x(i, 0, row, column) == Approx(red / 255).margin(1e-7));
          CHECK(x(i, 1, row, column) == Approx(1 - red / 255).margin(1e-7));
          if (seen != 2) CHECK(x(i, 2, row, column) == Approx(double(7 * column) / 255).margin(1e-7));
        }
    }
  }
  CHECK(seen == 4);
}

TEST_CASE("folders that are no image folders are refused by name", "[data]") {
  const TemporaryFolder folder;
  CHECK(error_of([&] { ImageFolder::load(folder.path()); }) ==
        "ImageFolder: '" + folder.path() + "': holds no folders");
  CHECK(error_of([&] { ImageFolder::load(folder / "none"); }) ==
        "ImageFolder: '" + (folder / "none") + "': cannot be opened: No such file or directory");
  std::filesystem::create_directory(folder / "empty");
  CHECK(error_of([&] { ImageFolder::load(folder.path()); }) ==
        "ImageFolder: '" + (folder / "empty") + "': holds no .jpg, .jpeg or .png file");
}

TEST_CASE("pictures of other formats are not passed in silence, and folders may have any names", "[data]") {
  const TemporaryFolder folder;
  for (const char* name : {"K\xc3\xa4tzchen 1", "\xe7\x8a\xac", ".ipynb_checkpoints"})
    std::filesystem::create_directories(folder / name + "/deep/er");
  for (const char* name : {"0.jpg", "1.JPG", "2.Jpeg", "3.jfif", "4.PNG", "deep/er/5.jpe", "._0.jpg", "Thumbs.db"})
    folder.put("K\xc3\xa4tzchen 1/" + std::string(name), png_bytes());
  folder.put("\xe7\x8a\xac/0.webp", "RIFF----WEBP");
  folder.put("\xe7\x8a\xac/1.tif", std::string("II*\0", 4));
  folder.put("\xe7\x8a\xac/2.jpg", "GIF89a");
  std::filesystem::create_symlink("nowhere.jpg", folder / "\xe7\x8a\xac/3.jpg");
  std::filesystem::create_symlink(folder / "K\xc3\xa4tzchen 1/0.jpg", folder / "\xe7\x8a\xac/4.jpg");
  const auto set = ImageFolder::load(folder.path());
  CHECK(set.classes() == std::vector<std::string>{"K\xc3\xa4tzchen 1", "\xe7\x8a\xac"});
  REQUIRE(set.size() == 6 + 5);
  CHECK(std::get<0>(set.batch(std::vector<Index>{0, 1, 2, 3, 4, 5, 10})).size(0) == 7);
  const auto refusal = [&](Index i) {
    data::Image image;
    return error_of([&] { set.read(i, image); });
  };
  CHECK(refusal(6).ends_with("/0.webp': is neither a JPEG nor a PNG file, but a WebP picture"));
  CHECK(refusal(7).ends_with("/1.tif': is neither a JPEG nor a PNG file, but a TIFF picture"));
  CHECK(refusal(8).ends_with("/2.jpg': is neither a JPEG nor a PNG file, but a GIF picture"));
  CHECK(refusal(9).ends_with("/3.jpg': cannot be opened: No such file or directory"));
  CHECK(ImageFolder::load(folder.path(), {.skip_bad = true}).skipped() == 4);
}

TEST_CASE("damaged images are refused by name, or skipped and counted", "[data]") {
  NEED_TEST_DATA(photographs, "data/imagefolder/winter");
  const SmallFolder folder;
  const std::string jpeg = content_of(photographs + "/winter_1.jpg"), png = png_bytes();
  const std::string path_j = folder.put("b/1.jpg", jpeg), path_p = folder / "b/0.png";
  const auto refusal = [&](const std::string& path) {
    return error_of([&] {
      data::Image image;
      data::read_image(path, image);
    });
  };
  REQUIRE(refusal(path_j) == "");
  REQUIRE(refusal(path_p) == "");

  SECTION("cut off anywhere") {
    for (std::size_t n = 0; n < jpeg.size(); n = n < 700 ? n + 7 : n + 511) {
      folder.put("b/1.jpg", jpeg.substr(0, n));
      INFO(n);
      CHECK(refusal(path_j).starts_with("image: '" + path_j + "': "));
    }
    for (std::size_t n = 0; n + 12 < png.size(); ++n) {  // what is cut off of the end chunk is not missed
      folder.put("b/0.png", png.substr(0, n));
      INFO(n);
      CHECK(refusal(path_p).starts_with("image: '" + path_p + "': "));
    }
  }
  SECTION("each of many bytes damaged: refused or read, nothing worse") {
    std::set<std::string> said;
    for (std::size_t i = 0; i < jpeg.size(); i += i < 700 ? 5 : 97) {
      std::string damaged = jpeg;
      damaged[i] = char(damaged[i] ^ 0x55);
      folder.put("b/1.jpg", damaged);
      const std::string message = refusal(path_j);
      if (message.empty()) continue;
      CHECK(message.starts_with("image: '" + path_j + "': "));
      said.insert(message);
    }
    CHECK(said.size() > 5);
    data::Image whole, image;
    data::read_image(path_p, whole);
    int refused = 0;
    for (std::size_t i = 0; i + 12 < png.size(); ++i) {  // checksums find all that matters to the pixels
      std::string damaged = png;
      damaged[i] = char(damaged[i] ^ 0x55);
      folder.put("b/0.png", damaged);
      const std::string message = error_of([&] { data::read_image(path_p, image); });
      INFO(i);
      if (message.empty()) CHECK(bytes_of(image) == bytes_of(whole));
      else CHECK(message.starts_with("image: '" + path_p + "': "));
      refused += !message.empty();
    }
    CHECK(refused > int(png.size()) - 20);
  }
  SECTION("skipped") {
    folder.put("a/2.PNG", "not a PNG");
    folder.put("b/1.jpg", jpeg.substr(0, jpeg.size() / 2));
    const auto all = ImageFolder::load(folder.path()), good = ImageFolder::load(folder.path(), {.skip_bad = true});
    CHECK(all.size() == 5);
    CHECK(all.skipped() == 0);
    CHECK(good.size() == 3);
    CHECK(good.skipped() == 2);
    CHECK(good.path(2) == path_p);
    CHECK(good.label(2) == 1);
    const std::vector<Index> samples = {1};
    CHECK(error_of([&] { all.batch(samples); }) ==
          "image: '" + (folder / "a/2.PNG") + "': is neither a JPEG nor a PNG file");
  }
}

TEST_CASE("damaged images are read as far as they go, and turned as EXIF data say, if that is asked for", "[data]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  const std::string jpeg = tern_test::jpeg_bytes({90, 61});
  folder.put("a/0.jpg", jpeg.substr(0, jpeg.size() / 2));
  // EXIF data of one entry: the first row is at the right, the first column at the top.
  folder.put("a/1.jpg", jpeg.substr(0, 2) +
                            std::string("\xff\xe1\0\x22"
                                        "Exif\0\0II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0",
                                        36) +
                            jpeg.substr(2));
  const auto plain = ImageFolder::load(folder.path()),
             lenient = ImageFolder::load(folder.path(), {.allow_damaged = true, .apply_exif_orientation = true});
  const std::vector<Index> first = {0}, second = {1};
  CHECK(error_of([&] { plain.batch(first); }) != "");
  CHECK(std::get<0>(lenient.batch(first)).shape() == tern::detail::Shape{1, 3, 61, 90});
  const auto stored = std::get<0>(plain.batch(second)), upright = std::get<0>(lenient.batch(second));
  REQUIRE(stored.shape() == tern::detail::Shape{1, 3, 61, 90});
  REQUIRE(upright.shape() == tern::detail::Shape{1, 3, 90, 61});
  for (Index y = 0; y < 90; ++y)
    for (Index x = 0; x < 61; ++x) CHECK(upright(0, 1, y, x) == stored(0, 1, 60 - x, y));
  const auto cropped = data::transformed(lenient, RandomResizedCrop(20));
  CHECK(std::get<0>(cropped.batch(std::vector<Index>{0, 1})).shape() == tern::detail::Shape{2, 3, 20, 20});
  data::Image image;
  lenient.read(0, image);
  CHECK(image.warnings() > 0);
  CHECK(ImageFolder::load(folder.path(), {.skip_bad = true}).size() == 1);
  CHECK(ImageFolder::load(folder.path(), {.skip_bad = true, .allow_damaged = true}).size() == 2);
}

TEST_CASE("folders with links into themselves end, and a linked folder is searched", "[data]") {
  const SmallFolder folder;
  std::filesystem::create_directory_symlink(folder.path(), folder / "a/deep/top");
  std::filesystem::create_directory_symlink(folder / "a", folder / "a/deep/above");
  std::filesystem::create_directory_symlink(".", folder / "b/itself");
  std::filesystem::create_directory_symlink(folder / "b", folder / "a/other");
  std::filesystem::create_directory_symlink("nowhere", folder / "b/nowhere");
  const auto set = ImageFolder::load(folder.path());
  std::vector<std::string> names;
  for (Index i = 0; i < set.size(); ++i) names.push_back(set.path(i).substr(folder.path().size()));
  CHECK(names == std::vector<std::string>{"/a/1.png", "/a/2.PNG", "/a/deep/3.png", "/a/other/0.png", "/b/0.png"});
}

TEST_CASE("a folder has samples, labels and numbers of classes as torchvision's", "[data]") {
  const SmallFolder folder;
  const auto set = ImageFolder::load(folder.path());
  CHECK(set.targets() == std::vector<Index>{0, 0, 0, 1});
  CHECK(set.class_to_idx() == std::map<std::string, Index>{{"a", 0}, {"b", 1}});
  const auto [x, label] = set[-1];
  CHECK(label == 1);
  const std::vector<Index> last = {3};
  CHECK(std::equal(x.data(), x.data() + x.numel(), std::get<0>(set.batch(last)).data()));
  CHECK(x.shape() == tern::detail::Shape{3, 5, 4});
  CHECK(std::get<1>(data::Subset(set, {3, 0})[0]) == 1);
  CHECK(error_of([&] { set[4]; }) == "ImageFolder: there is no sample 4 of 4");
}

TEST_CASE("a folder's pictures of several sizes make no batch, and the Error names the folder", "[data]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  const auto wide = zeros<Cpu, std::uint8_t>({3, 2, 3});
  folder.put("a/0.png", png_bytes());
  folder.put("a/1.png", data::encode_png(wide));
  const auto set = ImageFolder::load(folder.path());
  const std::vector<Index> both = {0, 1};
  CHECK(
      error_of([&] { set.batch(both); }) ==
      "ImageFolder: images of a batch differ in size: [3, 5, 4] and [3, 2, 3]; let transformed() end with a crop or a "
      "Resize");
}

}  // namespace data_image_folder
