// CIFAR-10 and CIFAR-100 in their original binary files (https://www.cs.toronto.edu/~kriz/cifar.html): records of label
// bytes and a colour image of 32 x 32, one plane each for red, green and blue.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <array>
#include <string>
#include <vector>

#include "../io/gzip.hpp"
#include "byte_images.hpp"
#include "plain_or_gzip.hpp"

namespace tern::inline TERN_BUILD::data {

struct Cifar10Options {
  bool train = true;                                       ///< the training images, or the test images
  std::array<float, 3> mean = {0, 0, 0}, std = {1, 1, 1};  ///< of the pixels' channels
  bool skip_bad = false;                                   ///< leave out damaged records
};

struct Cifar100Options {
  bool train = true;
  std::array<float, 3> mean = {0, 0, 0}, std = {1, 1, 1};
  bool coarse = false;  ///< the 20 superclasses as labels, not the 100 classes
  bool skip_bad = false;
};

namespace detail {

/// What the records of a file are made of.
struct CifarRecord {
  const char* name;  // of the data set
  int label_bytes;   // before the pixels
  int label_at;      // the byte that counts
  int classes;       // that it may name
  bool skip_bad;
};

/// Images and labels from files of such records, the names of the labels, and how many damaged records were left out.
struct CifarRecords {
  Tensor<Cpu, std::uint8_t> images;
  Tensor<Cpu, Index> labels;
  std::vector<std::string> classes;
  Index skipped;
};

inline constexpr Index cifar_image_bytes = 3 * 32 * 32;

/// Appends a file's records; their number is what its content has room for. Returns how many damaged ones it left out.
[[gnu::noinline, gnu::cold]] inline Index read_cifar_file(const std::string& path, const CifarRecord& record,
                                                          std::vector<std::uint8_t>& pixels,
                                                          std::vector<std::uint8_t>& labels) {
  constexpr Index most = 1'000'000;
  const Index bytes = record.label_bytes + cifar_image_bytes;
  io::GzipReader reader(path);
  std::uint8_t buffer[cifar_image_bytes + 2];
  Index count = 0, skipped = 0;
  for (;; ++count) {
    try {
      const Index got = reader.read_some(buffer, bytes);
      if (got == 0) break;
      if (got < bytes)
        fail(record.name, {"'", path, "': is truncated: record ", count, " has ", got, " of ", bytes, " bytes"});
    } catch (const Error&) {  // corrupt compressed data too: nothing can be read behind it
      if (!record.skip_bad) throw;
      ++skipped;
      break;
    }
    const int label = buffer[record.label_at];
    if (label >= record.classes) {
      if (!record.skip_bad)
        fail(record.name,
             {"'", path, "': the label of record ", count, " is ", label, ", larger than ", record.classes - 1});
      ++skipped;
      continue;
    }
    if (count == most) fail(record.name, {"'", path, "': has more than ", most, " records"});
    labels.push_back(std::uint8_t(label));
    pixels.insert(pixels.end(), buffer + record.label_bytes, buffer + bytes);
  }
  if (count + skipped == 0) fail(record.name, {"'", path, "': is empty"});
  return skipped;
}

/// The lines of a file of class names. None where there is no such file.
[[gnu::noinline, gnu::cold]] inline std::vector<std::string> read_cifar_names(const std::string& path,
                                                                              const CifarRecord& record) {
  std::vector<std::string> names;
  if (!io::exists(path)) return names;
  std::string name;
  for (const char c : io::read_file(path, 1 << 16)) {
    if (c == '\n' && !name.empty())
      names.push_back(std::move(name)), name.clear();
    else if (c != '\n' && c != '\r')
      name += c;
  }
  if (!name.empty()) names.push_back(std::move(name));
  if (Index(names.size()) != record.classes)
    fail(record.name, {"'", path, "': names ", Index(names.size()), " classes, not ", record.classes});
  return names;
}

[[gnu::noinline, gnu::cold]] inline CifarRecords read_cifar(const std::vector<std::string>& paths,
                                                            const std::string& names, const CifarRecord& record) {
  std::vector<std::uint8_t> pixels, labels;
  Index skipped = 0;
  for (const std::string& path : paths) skipped += read_cifar_file(path, record, pixels, labels);
  const Index n = Index(labels.size());
  if (n == 0) fail(record.name, {"'", paths[0], "': has no record that is whole"});
  CifarRecords out{empty<Cpu, std::uint8_t>({n, 3, 32, 32}), empty<Cpu, Index>({n}), {}, skipped};
  std::memcpy(out.images.data(), pixels.data(), pixels.size());
  for (Index i = 0; i < n; ++i) out.labels.data()[i] = labels[std::size_t(i)];
  out.classes = read_cifar_names(names, record);
  return out;
}

/// data_batch_1.bin and those that follow it, up to 5, or test_batch.bin.
[[gnu::noinline, gnu::cold]] inline std::vector<std::string> cifar10_files(const std::string& folder, bool train) {
  if (!train) return {plain_or_gzip("Cifar10", folder, "test_batch.bin")};
  std::vector<std::string> paths = {plain_or_gzip("Cifar10", folder, "data_batch_1.bin")};
  int last = 5;
  while (last > 1 && find_plain_or_gzip(folder, text({"data_batch_", last, ".bin"})).empty()) --last;
  for (int i = 2; i <= last; ++i) paths.push_back(plain_or_gzip("Cifar10", folder, text({"data_batch_", i, ".bin"})));
  return paths;
}

}  // namespace detail

/// CIFAR-10: images [3, 32, 32] of ten classes, kept as bytes.
class Cifar10 : public ByteImages {
 public:
  /// Reads data_batch_1.bin to data_batch_5.bin, or test_batch.bin, each plain or .gz, and batches.meta.txt. Fewer
  /// training files, the first ones, and shorter ones are a smaller set. Error, naming the file and what is wrong with
  /// it, if one is missing or damaged; with skip_bad damaged records are left out, and where one is cut off or cannot be
  /// decompressed, what follows it in its file.
  [[gnu::noinline, gnu::cold]] static Cifar10 load(const std::string& folder, const Cifar10Options& options = {}) {
    return Cifar10(detail::read_cifar(detail::cifar10_files(folder, options.train), text({folder, "/batches.meta.txt"}),
                                      {"Cifar10", 1, 0, 10, options.skip_bad}),
                   options);
  }

  /// The labels' names; empty where the folder has no file of them.
  const std::vector<std::string>& classes() const { return classes_; }
  /// How many damaged records were left out.
  Index skipped() const { return skipped_; }

 private:
  [[gnu::noinline, gnu::cold]] Cifar10(detail::CifarRecords&& records, const Cifar10Options& options)
      : ByteImages("Cifar10", records.images, records.labels, options.mean, options.std),
        classes_(std::move(records.classes)), skipped_(records.skipped) {}

  std::vector<std::string> classes_;
  Index skipped_;
};

/// CIFAR-100: images [3, 32, 32] of 100 classes in 20 superclasses, kept as bytes.
class Cifar100 : public ByteImages {
 public:
  /// Reads train.bin or test.bin, plain or .gz, and fine_label_names.txt or coarse_label_names.txt. Error as Cifar10's.
  [[gnu::noinline, gnu::cold]] static Cifar100 load(const std::string& folder, const Cifar100Options& options = {}) {
    const std::string path = detail::plain_or_gzip("Cifar100", folder, options.train ? "train.bin" : "test.bin");
    const char* const names = options.coarse ? "/coarse_label_names.txt" : "/fine_label_names.txt";
    return Cifar100(detail::read_cifar({path}, text({folder, names}),
                                       {"Cifar100", 2, options.coarse ? 0 : 1, options.coarse ? 20 : 100, options.skip_bad}),
                    options);
  }

  /// The labels' names; empty where the folder has no file of them.
  const std::vector<std::string>& classes() const { return classes_; }
  /// How many damaged records were left out.
  Index skipped() const { return skipped_; }

 private:
  [[gnu::noinline, gnu::cold]] Cifar100(detail::CifarRecords&& records, const Cifar100Options& options)
      : ByteImages("Cifar100", records.images, records.labels, options.mean, options.std),
        classes_(std::move(records.classes)), skipped_(records.skipped) {}

  std::vector<std::string> classes_;
  Index skipped_;
};

}  // namespace tern::data
