// Packs a folder of pictures, CIFAR-10 or MNIST into a few large files, and unpacks them. ./examples/run pack --help
// lists the options.
#include <tern/data/encode_jpeg.hpp>
#include <tern/data/image_folder.hpp>
#include <tern/data/records/lmdb_writer.hpp>
#include <tern/data/records/packed_images.hpp>
#include <tern/data/records/records.hpp>
#include <tern/data/save_image.hpp>
#include <tern/data/transforms.hpp>
#include <tern/tern.hpp>

#include "support/parse.hpp"
#include "support/seconds.hpp"

using namespace tern;

struct Options {
  std::vector<std::string> words;  // what to do, from where, to where
  std::string format = "tfrecord";
  Index shards = 1, size = 0, shuffle = 0, threads = get_num_threads();
  bool skip_bad = false;
};

/// A line with a bar that is drawn again in place; off a terminal only its last state is printed.
class Bar {
 public:
  explicit Bar(Index total) : total_(total) {}

  void draw(Index done, Index skipped = 0) {
    const double seconds = support::now() - start_;
    const bool terminal = isatty(STDOUT_FILENO);
    if (done < total_ && (!terminal || seconds - drawn_ < 0.1)) return;
    drawn_ = seconds;
    constexpr int width = 30;
    const int filled = total_ ? int(width * done / total_) : width;
    const double rate = double(done - skipped) / std::max(seconds, 1e-9);
    std::printf("%s[%.*s%.*s] %lld of %lld, %.0f images/s", terminal ? "\r\033[K" : "", filled,
                "##############################", width - filled, "..............................", (long long)done,
                (long long)total_, rate);
    if (skipped) std::printf(", %lld were packed before", (long long)skipped);
    if (done < total_ && rate > 0) std::printf(", %.0f s left", double(total_ - done) / rate);
    if (done == total_) std::putchar('\n');
    std::fflush(stdout);
  }

 private:
  Index total_;
  double start_ = support::now(), drawn_ = 0;
};

/// The picture's bytes, [C, H, W].
Tensor<Cpu, std::uint8_t> bytes_of(const data::Image& image) {
  const auto bytes = empty<Cpu, std::uint8_t>({image.channels(), image.height(), image.width()});
  for (Index i = 0; i < image.numel(); ++i)
    bytes.data()[i] = std::uint8_t(std::clamp(image.data()[i] * 255 + 0.5f, 0.f, 255.f));
  return bytes;
}

/// A picture's file; reduced, as a JPEG of high quality, if its shorter side has more than so many pixels.
std::string read_picture(const std::string& path, Index size) {
  constexpr Index most_bytes = Index(1) << 30;
  if (size == 0) return io::read_file(path, most_bytes);
  data::Image image;
  data::read_image(path, image);
  if (std::min(image.height(), image.width()) <= size) return io::read_file(path, most_bytes);
  data::Random random({}, 0, 0);
  data::transforms::Resize{size}(image, random);
  return data::encode_jpeg(bytes_of(image), {.quality = 95});
}

/// Packs n samples of a kind into a folder; sample(i) makes one.
void pack(const Options& o, const std::string& folder, const std::string& kind, Index n,
          const std::vector<std::string>& classes, const std::function<data::PackSample(Index)>& sample) {
  std::vector<Index> order = data::detail::in_sequence(n);
  data::Random random(std::uint64_t(o.shuffle), 0);
  if (o.shuffle) data::detail::shuffle(order, random);
  const data::PackList list{.kind = kind,
                            .format = o.format,
                            .shards = o.shards,
                            .samples = n,
                            .shuffle = o.shuffle,
                            .size = o.size,
                            .classes = classes};
  std::printf("%lld pictures, %lld shards in %s\n", (long long)n, (long long)o.shards, folder.c_str());
  Bar bar(n);
  data::pack_images(
      folder, list, [&](Index i) { return sample(order[std::size_t(i)]); },
      {.workers = int(o.threads), .progress = [&](Index done, Index skipped) { bar.draw(done, skipped); }});
}

void pack_folder(const Options& o, const std::string& from, const std::string& to) {
  const auto pictures = data::ImageFolder::load(from, {.skip_bad = o.skip_bad});
  if (o.skip_bad) std::printf("%lld damaged pictures left out\n", (long long)pictures.skipped());
  pack(o, to, "imagefolder", pictures.size(), pictures.classes(), [&](Index i) -> data::PackSample {
    return {read_picture(pictures.path(i), o.size), pictures.label(i), pictures.path(i).substr(from.size() + 1)};
  });
}

/// Packs images [N, C, H, W] or [N, H, W] of bytes as PNG files.
void pack_bytes(const Options& o, const std::string& to, const char* kind, const Tensor<Cpu, std::uint8_t>& images,
                const Tensor<Cpu, Index>& labels, const std::vector<std::string>& classes) {
  const Index height = images.size(-2), width = images.size(-1);
  const auto planes = images.reshape({images.size(0), -1, height, width});
  pack(o, to, kind, images.size(0), classes, [&](Index i) -> data::PackSample {
    char name[16];
    std::snprintf(name, sizeof name, "%05lld.png", (long long)i);
    return {data::encode_png(planes.select(0, i)), labels.data()[i], name};
  });
}

void pack(const Options& o) {
  const std::string &kind = o.words[0], &from = o.words[1], &to = o.words[2];
  if (kind == "imagefolder") {
    if (!io::exists(from + "/train") || !io::exists(from + "/val")) return pack_folder(o, from, to);
    for (const char* const part : {"/train", "/val"}) pack_folder(o, from + part, to + part);
    return;
  }
  if (o.size)
    throw std::runtime_error("pack: --size is for picture files; the images of " + kind + " are packed as they are");
  for (const bool train : {true, false}) {
    const std::string part = to + (train ? "/train" : "/val");
    if (kind == "cifar10") {
      const auto set = data::Cifar10::load(from, {.train = train, .skip_bad = o.skip_bad});
      pack_bytes(o, part, "cifar10", set.images(), set.labels(), set.classes());
    } else {
      const auto set = data::Mnist::load(from, {.train = train});
      pack_bytes(o, part, "mnist", set.images(), set.labels(), {});
    }
  }
}

/// Writes each picture under its name; without one under its class and number.
void unpack_folder(const data::PackedImages& set, const std::string& to) {
  Bar bar(set.size());
  for (Index i = 0; i < set.size(); ++i) {
    data::Record record;
    const data::ImageRecord image = set.record(i, record);
    if (image.encoded.empty())
      throw std::runtime_error("pack: sample " + std::to_string(i) + " is no picture file but bytes");
    std::string name(image.name);
    if (name.empty()) {
      char made[64];
      std::snprintf(made, sizeof made, "class_%05lld/%08lld.%s", (long long)image.label, (long long)i,
                    image.encoded.starts_with("\x89PNG") ? "png" : "jpg");
      name = made;
    }
    if (name.starts_with("/") || ("/" + name + "/").find("/../") != std::string::npos)
      throw std::runtime_error("pack: sample " + std::to_string(i) + " would be written outside the folder, to '" +
                               name + "'");
    io::make_folders(io::folder_of(to + "/" + name));
    io::File file(to + "/" + name,
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);  // without a sync of the disk for each picture
    file.write(image.encoded.data(), Index(image.encoded.size()));
    bar.draw(i + 1);
  }
}

/// Sample i's bytes, as many planes as the data set has.
std::string pixels_of(const data::PackedImages& set, Index i, Index channels) {
  data::Image image;
  set.read(i, image);
  const auto bytes = bytes_of(image);
  return {reinterpret_cast<const char*>(bytes.data()), std::size_t(channels * image.height() * image.width())};
}

/// data_batch_1.bin …, of 10,000 records each, or test_batch.bin.
void unpack_cifar(const data::PackedImages& set, const std::string& to, bool train) {
  constexpr Index records_a_file = 10000;
  Bar bar(set.size());
  for (Index first = 0; first < set.size(); first += records_a_file) {
    std::string file;
    for (Index i = first; i < std::min(set.size(), first + records_a_file); ++i) {
      file += char(set.label(i)) + pixels_of(set, i, 3);
      bar.draw(i + 1);
    }
    io::write_file_atomically(
        to + (train ? "/data_batch_" + std::to_string(first / records_a_file + 1) + ".bin" : "/test_batch.bin"), file);
  }
  std::string names;
  for (const std::string& name : set.classes()) names += name + "\n";
  if (!names.empty()) io::write_file_atomically(to + "/batches.meta.txt", names);
}

/// train-images-idx3-ubyte and its labels, or t10k-….
void unpack_mnist(const data::PackedImages& set, const std::string& to, bool train) {
  const auto header = [](std::initializer_list<Index> numbers) {
    std::string bytes;
    for (const Index number : numbers)
      for (int shift = 24; shift >= 0; shift -= 8) bytes += char(number >> shift);
    return bytes;
  };
  std::string images = header({0x803, set.size(), 28, 28}), labels = header({0x801, set.size()});
  Bar bar(set.size());
  for (Index i = 0; i < set.size(); ++i) {
    images += pixels_of(set, i, 1);
    labels += char(set.label(i));
    bar.draw(i + 1);
  }
  const std::string stem = to + (train ? "/train" : "/t10k");
  io::write_file_atomically(stem + "-images-idx3-ubyte", images);
  io::write_file_atomically(stem + "-labels-idx1-ubyte", labels);
}

void unpack(const Options& o) {
  const std::string &from = o.words[1], &to = o.words[2];
  const bool parts = io::exists(from + "/train") && io::exists(from + "/val");
  for (const std::string& part : parts ? std::vector<std::string>{"/train", "/val"} : std::vector<std::string>{""}) {
    const auto set = data::PackedImages::load(from + part, {.skip_bad = o.skip_bad});
    if (o.skip_bad) std::printf("%lld damaged pictures left out\n", (long long)set.skipped());
    const std::string list = from + part + "/pack.json",
                      kind = io::exists(list) ? data::PackList::read(list).kind : "imagefolder";
    io::make_folders(to);
    if (kind == "cifar10") unpack_cifar(set, to, part == "/train");
    else if (kind == "mnist") unpack_mnist(set, to, part == "/train");
    else unpack_folder(set, to + part);
  }
}

constexpr const char* help =
    "usage: pack imagefolder FOLDER OUT [options]   pictures in a folder for each class; or in train/ and val/ with "
    "such folders\n"
    "       pack cifar10|mnist FOLDER OUT [options] the original files, to OUT/train and OUT/val\n"
    "       pack unpack OUT FOLDER                  the same files again\n"
    "  --format NAME  tfrecord, recordio, lmdb or tar (tfrecord)\n"
    "  --shards N     files to write (1)\n"
    "  --size N       reduce pictures whose shorter side has more pixels to N, as JPEG of quality 95\n"
    "  --shuffle N    pack in a random order with this seed, for programs that read from front to back\n"
    "  --threads N    that read and reduce pictures (all)\n"
    "  --skip-bad     leave out damaged pictures, and say how many\n"
    "A packing that was interrupted goes on with the first shard that is missing.\n";

int main(int argc, char** argv) try {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") return std::fputs(help, stdout), 0;
    if (name.rfind("--", 0) != 0) {
      o.words.push_back(name);
      continue;
    }
    if (name == "--skip-bad") {
      o.skip_bad = true;
      continue;
    }
    if (++i == argc) throw std::runtime_error("pack: " + name + " needs a value; see --help");
    if (name == "--format")
      support::check_choice("--format", o.format = argv[i], {"tfrecord", "recordio", "lmdb", "tar"});
    else if (name == "--shards") o.shards = support::parse_index("--shards", argv[i], 1, 99999);
    else if (name == "--size") o.size = support::parse_index("--size", argv[i], 1, 65535);
    else if (name == "--shuffle") o.shuffle = support::parse_index("--shuffle", argv[i], 1);
    else if (name == "--threads") o.threads = support::parse_index("--threads", argv[i], 1, 1024);
    else throw std::runtime_error("pack: unknown option '" + name + "'; see --help");
  }
  if (o.words.size() != 3) return std::fputs(help, stderr), 2;
  for (std::string& word : o.words)
    while (word.size() > 1 && word.ends_with('/')) word.pop_back();
  if (o.words[0] == "unpack") unpack(o);
  else support::check_choice("the kind of data", o.words[0], {"imagefolder", "cifar10", "mnist", "unpack"}), pack(o);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
