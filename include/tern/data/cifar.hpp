// CIFAR-10 and CIFAR-100 in their original binary files (https://www.cs.toronto.edu/~kriz/cifar.html). A record has its
// label bytes and a colour image of 32 x 32, with one plane each for red, green and blue.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "../io/gzip.hpp"
#include "byte_images.hpp"
#include "folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct Cifar10Options {
  bool train = true;                                       ///< the training images, or the test images
  std::array<float, 3> mean = {0, 0, 0}, std = {1, 1, 1};  ///< for each channel
  bool skip_bad = false;                                   ///< leave out damaged records
};

struct Cifar100Options {
  bool train = true;
  std::array<float, 3> mean = {0, 0, 0}, std = {1, 1, 1};
  bool coarse = false;  ///< the labels are the 20 superclasses instead of the 100 classes
  bool skip_bad = false;
};

namespace detail {

/// The layout of a file's records.
struct CifarRecord {
  const char* name;  // of the data set
  int label_bytes;   // how many precede the pixels
  int label_at;      // which of them is the label
  int classes;       // how many classes a label may name
  bool skip_bad;
};

/// Images and labels from files of such records, the names of the labels, and the number of damaged records that were
/// left out.
struct CifarRecords {
  Tensor<Cpu, std::uint8_t> images;
  Tensor<Cpu, Index> labels;
  std::vector<std::string> classes;
  Index skipped;
};

inline constexpr Index cifar_image_bytes = 3 * 32 * 32;

/// Appends a file's records. The file's size determines their number. Returns how many damaged ones it left out.
TERN_API Index read_cifar_file(const std::string& path, const CifarRecord& record, std::vector<std::uint8_t>& pixels,
                               std::vector<std::uint8_t>& labels);

/// The lines of a file of class names; none if the file does not exist.
TERN_API std::vector<std::string> read_cifar_names(const std::string& path, const CifarRecord& record);

TERN_API CifarRecords read_cifar(const std::vector<std::string>& paths, const std::string& names,
                                 const CifarRecord& record);

/// data_batch_1.bin and the following files, up to 5, or test_batch.bin.
TERN_API std::vector<std::string> cifar10_files(const std::string& folder, bool train);

}  // namespace detail

/// CIFAR-10: images [3, 32, 32] of ten classes, stored as bytes.
class TERN_API Cifar10 : public ByteImages {
 public:
  /// Reads data_batch_1.bin to data_batch_5.bin, or test_batch.bin, each plain or .gz, and batches.meta.txt. If only
  /// the first training files exist, or if files are shorter, the set is smaller. Error that names the file and the
  /// fault if one is missing or damaged. With skip_bad, damaged records are left out. If a record is cut off or cannot
  /// be decompressed, so are the later ones of its file.
  static Cifar10 load(const std::string& folder, const Cifar10Options& options = {}, CallSite here = {});

  /// The labels' names; empty if the folder has no file of them.
  const std::vector<std::string>& classes() const { return classes_; }
  /// How many damaged records were left out.
  Index skipped() const { return skipped_; }

 private:
  Cifar10(detail::CifarRecords&& records, const Cifar10Options& options);

  std::vector<std::string> classes_;
  Index skipped_;
};

/// CIFAR-100: images [3, 32, 32] of 100 classes in 20 superclasses, stored as bytes.
class TERN_API Cifar100 : public ByteImages {
 public:
  /// Reads train.bin or test.bin, plain or .gz, and fine_label_names.txt or coarse_label_names.txt. Errors are
  /// Cifar10's.
  static Cifar100 load(const std::string& folder, const Cifar100Options& options = {}, CallSite here = {});

  /// The labels' names; empty if the folder has no file of them.
  const std::vector<std::string>& classes() const { return classes_; }
  /// How many damaged records were left out.
  Index skipped() const { return skipped_; }

 private:
  Cifar100(detail::CifarRecords&& records, const Cifar100Options& options);

  std::vector<std::string> classes_;
  Index skipped_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "cifar.ipp"
#endif
