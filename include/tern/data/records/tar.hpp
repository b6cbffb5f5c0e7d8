// Tar archives as shards, with WebDataset's names (https://github.com/webdataset/webdataset): members in sequence whose
// names agree up to the first dot are one sample.
#pragma once
#include <utility>
#include <vector>

#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// A member of an archive.
struct TERN_API TarMember {
  std::string_view folder, name;  // the name is folder/name if folder is not empty
  std::string_view content;
  bool is_field = false;  // a file with a dot within its name
  Index next = 0;         // the offset behind it, or behind the damage if it cannot be read; -1: the archive ends
  const char* problem = nullptr;  // why it cannot be read

  /// The name up to the first dot behind the last slash, and what follows the dot.
  std::string_view stem() const { return name.substr(0, dot()); }
  std::string_view field() const { return name.substr(dot() + 1); }
  std::size_t dot() const { return name.find('.', name.rfind('/') + 1); }

  /// folder/stem
  std::string key() const;
  /// True if the keys agree. Of two names of a sample only the longer one may be in two fields.
  bool is_of_sample(const TarMember& other) const {
    return folder == other.folder ? stem() == other.stem() : key() == other.key();
  }
};

/// The member at an offset, after the headers that say its long name.
TERN_API TarMember tar_member(std::string_view archive, Index offset, CallSite here = {});

}  // namespace detail

/// A record is a sample: its key is the members' common name, as `train/0001`, its bytes are the members with their
/// headers, of which fields() makes { {"jpg", …}, {"cls", …} }. Long names are read in the POSIX and in the GNU format.
/// What is not a file, and files without a dot in their name or with a name that begins with one, such as a Mac's
/// ._a.jpg, are left out. Samples beside a damaged header are damaged too: it may be that of a member of theirs.
class TERN_API TarFile : public detail::MappedRecords {
 public:
  explicit TarFile(const std::string& path, CallSite here = {}) : TarFile(CallScope(here), path) {}

  const char* format() const override { return "tar"; }

  using Fields = std::vector<std::pair<std::string, std::string_view>>;
  /// The parts of the members' names behind the first dot, in lower case, and the contents.
  static Fields fields(const Record& record, CallSite here = {});

  /// Of a sample with a jpg, jpeg or png, with the label as a whole number in cls, and where there is one, the file's
  /// name in filename.txt.
  ImageRecord image(const Record& record) const override;

 protected:
  Index parse(const RecordPosition& at, Record* record) const override;
  Index next_offset(const RecordPosition& at) const override;

 private:
  TarFile(const CallScope&, const std::string& path) : MappedRecords(path) {}
};

class TERN_API TarWriter : public RecordWriter {
 public:
  explicit TarWriter(const std::string& path, CallSite here = {}) : TarWriter(CallScope(here), path) {}

  /// Writes the members KEY.NAME of a sample: writer.write("0001", {{"jpg", bytes}, {"cls", "3"}}). Error if there is a
  /// dot in the last part of the key, or if the sample before has the same key.
  void write(std::string_view key, const TarFile::Fields& fields, CallSite here = {});
  /// A sample 00000000, 00000001, … with jpg or png, cls and filename.txt.
  void write_image(const ImageRecord& image, CallSite here = {}) override;
  void close(CallSite here = {}) override;

 private:
  TarWriter(const CallScope&, const std::string& path) : file_(path) {}

  void write_member(const std::string& name, std::string_view content, char type = '0');

  detail::BlockWriter file_;
  std::string last_key_;
  Index records_ = 0;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "tar.ipp"
#endif
