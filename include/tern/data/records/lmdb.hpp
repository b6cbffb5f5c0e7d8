// LMDB folders (http://www.lmdb.tech), as Caffe's programs use them: records with keys, in a tree of pages.
// lmdb_writer.hpp writes them.
#pragma once
#include <vector>

#include "record_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// The records of FOLDER/data.mdb in the order of their keys. The tree is walked once, and each bound is checked:
/// liblmdb trusts its files, and a damaged one would end the program. A page that is damaged counts as one damaged
/// record. No lock is taken, so nothing may write to the folder meanwhile. Databases within the database are not read.
class TERN_API LmdbFile : public detail::MappedRecords {
 public:
  /// Error if the file is not one of LMDB's, of format 1 and 64 bits.
  explicit LmdbFile(const std::string& folder, CallSite here = {}) : LmdbFile(CallScope(here), folder) {}

  const char* format() const override { return "LMDB"; }
  std::vector<Index> index() const override;

  /// Of a Caffe Datum; the name is what follows the first _ of the key, as Caffe's convert_imageset writes it.
  ImageRecord image(const Record& record) const override;

 protected:
  Index parse(const RecordPosition& at, Record* record) const override;
  Index next_offset(const RecordPosition& at) const override;

 private:
  LmdbFile(const CallScope&, const std::string& folder);

  /// Where a record's node is, or why a page has none.
  struct Node {
    Index offset;
    const char* problem;
  };
  /// A database's root in one of the two pages about the file.
  struct Root {
    Index page, entries, transaction, page_bytes;
    bool is_sorted;  // by the bytes of the keys
  };

  template <class T>
  T number(Index offset) const;
  bool read_meta(Index offset, Root& root) const;
  void check_order();
  void walk(Index page, int depth, std::vector<bool>& seen);
  const char* walk_page(Index page, int depth, std::vector<bool>& seen);

  Index page_bytes_ = 0;
  std::vector<Node> nodes_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "lmdb.ipp"
#endif
