#include "records.hpp"

#include <tern/data/records/lmdb.hpp>

/// An LMDB is a folder; the file in this one is a link to the input.
struct Folder {
  std::string name = "/tmp/tern_fuzz_XXXXXX", link;

  Folder() {
    if (!mkdtemp(name.data())) std::abort();
    link = name + "/data.mdb";
  }
  ~Folder() {
    unlink(link.c_str());
    rmdir(name.c_str());
  }
};

void read(const std::string& path) {
  static const Folder folder;
  unlink(folder.link.c_str());
  if (symlink(path.c_str(), folder.link.c_str()) != 0) std::abort();
  read_records(tern::data::LmdbFile(folder.name));
}
