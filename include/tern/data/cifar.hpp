// CIFAR-10 and CIFAR-100 in their original binary files (https://www.cs.toronto.edu/~kriz/cifar.html): records of label
// bytes and a colour image of 32 x 32, one plane each for red, green and blue.
#pragma once
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
TERN_API Index read_cifar_file(const std::string& path, const CifarRecord& record, std::vector<std::uint8_t>& pixels,
                               std::vector<std::uint8_t>& labels);

/// The lines of a file of class names. None where there is no such file.
TERN_API std::vector<std::string> read_cifar_names(const std::string& path, const CifarRecord& record);

TERN_API CifarRecords read_cifar(const std::vector<std::string>& paths, const std::string& names, const CifarRecord& record);

/// data_batch_1.bin and those that follow it, up to 5, or test_batch.bin.
TERN_API std::vector<std::string> cifar10_files(const std::string& folder, bool train);

}  // namespace detail

/// CIFAR-10: images [3, 32, 32] of ten classes, kept as bytes.
class TERN_API Cifar10 : public ByteImages {
 public:
  /// Reads data_batch_1.bin to data_batch_5.bin, or test_batch.bin, each plain or .gz, and batches.meta.txt. Fewer
  /// training files, the first ones, and shorter ones are a smaller set. Error, naming the file and what is wrong with
  /// it, if one is missing or damaged; with skip_bad damaged records are left out, and where one is cut off or cannot be
  /// decompressed, what follows it in its file.
  static Cifar10 load(const std::string& folder, const Cifar10Options& options = {});

  /// The labels' names; empty where the folder has no file of them.
  const std::vector<std::string>& classes() const { return classes_; }
  /// How many damaged records were left out.
  Index skipped() const { return skipped_; }

 private:
  Cifar10(detail::CifarRecords&& records, const Cifar10Options& options);

  std::vector<std::string> classes_;
  Index skipped_;
};

/// CIFAR-100: images [3, 32, 32] of 100 classes in 20 superclasses, kept as bytes.
class TERN_API Cifar100 : public ByteImages {
 public:
  /// Reads train.bin or test.bin, plain or .gz, and fine_label_names.txt or coarse_label_names.txt. Error as Cifar10's.
  static Cifar100 load(const std::string& folder, const Cifar100Options& options = {});

  /// The labels' names; empty where the folder has no file of them.
  const std::vector<std::string>& classes() const { return classes_; }
  /// How many damaged records were left out.
  Index skipped() const { return skipped_; }

 private:
  Cifar100(detail::CifarRecords&& records, const Cifar100Options& options);

  std::vector<std::string> classes_;
  Index skipped_;
};

}  // namespace tern::data

#ifndef TERN_COMPILED
#include "cifar.ipp"
#endif
