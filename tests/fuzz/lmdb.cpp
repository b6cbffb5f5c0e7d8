#include "records.hpp"

#include <tern/data/records/lmdb.hpp>

namespace {

/// A folder whose data.mdb leads to another file.
class Folder {
 public:
  Folder() {
    if (!mkdtemp(path_)) std::abort();
  }
  ~Folder() {
    ::unlink(file().c_str());
    ::rmdir(path_);
  }

  std::string with(const std::string& target) const {
    ::unlink(file().c_str());
    if (::symlink(target.c_str(), file().c_str()) != 0) std::abort();
    return path_;
  }

 private:
  std::string file() const { return std::string(path_) + "/data.mdb"; }

  char path_[32] = "/tmp/tern_fuzz_XXXXXX";
};

}  // namespace

void read(const std::string& path) {
  static const Folder folder;
  read_records(tern::data::LmdbFile(folder.with(path)), size_of(path));
}
