// The functions of sources.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstdio>

#include "../io/gzip.hpp"
#include "../io/sha256.hpp"
#include "folder.hpp"
#include "records/tar.hpp"
#include "sources.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// Calls f(path, content) for the files of a tar archive whose names have a dot.
template <class F>
void for_each_file(std::string_view archive, const F& f) {
  TarMember member;
  for (Index offset = 0;; offset = member.next) {
    member = tar_member(archive, offset);
    if (member.problem) Error::fail("tar", {member.problem});
    if (member.next < 0) return;
    if (member.is_field)
      f(member.folder.empty() ? std::string(member.name)
                              : tern::detail::text({std::string(member.folder), "/", std::string(member.name)}),
        member.content);
  }
}

/// The content of an archive that was downloaded, without gzip.
TERN_COLD std::string unzipped(const io::AtomicFile& archive) {
  constexpr Index most = 1'000'000'000;  // the larger of the two has 0.5 GB
  return io::read_gzip(archive.temporary_path(), most);
}

TERN_COLD void keep_cifar10(io::AtomicFile& archive, const std::string& folder) {
  for_each_file(unzipped(archive), [&](const std::string& path, std::string_view content) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.ends_with(".bin") || name == "batches.meta.txt")
      io::write_file_atomically(tern::detail::text({folder, "/", name}), std::string(content));
  });
}

/// The reviews of one half of aclImdb as lines of a label, a tab and the text, in the order in which Imdb reads the
/// files: first the positive ones, by number.
TERN_COLD std::string imdb_lines(std::string_view archive, const char* half) {
  struct File {
    bool positive;
    Index number;
    std::string_view content;
  };
  std::vector<File> files;
  const std::string positive = tern::detail::text({"/", half, "/pos/"}),
                    negative = tern::detail::text({"/", half, "/neg/"});
  for_each_file(archive, [&](const std::string& path, std::string_view content) {
    const std::size_t name = path.rfind('/') + 1;
    const std::string_view folder = std::string_view(path).substr(0, name);
    if (folder.ends_with(positive) || folder.ends_with(negative))
      files.push_back({folder.ends_with(positive), std::strtoll(path.c_str() + name, nullptr, 10), content});
  });
  std::stable_sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.positive != b.positive ? a.positive : a.number < b.number;
  });
  std::string lines;
  for (const File& file : files) {
    lines += file.positive ? "1\t" : "0\t";
    for (const char c : file.content) lines += c == '\n' || c == '\r' ? ' ' : c;
    lines += '\n';
  }
  return lines;
}

TERN_COLD void keep_imdb(io::AtomicFile& archive, const std::string& folder) {
  const std::string content = unzipped(archive);
  for (const char* const half : {"train", "test"})
    io::write_file_atomically(tern::detail::text({folder, "/", half, ".tsv"}), imdb_lines(content, half));
}

// CIFAR-10's hash is in TensorFlow Datasets' list of checksums, IMDb's in several public projects that fetch it.
TERN_COLD Published published_cifar10() {
  return {"cifar10",
          "https://www.cs.toronto.edu/~kriz/",
          "cifar-10-binary.tar.gz",
          170'052'171,
          "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin",
           "test_batch.bin"},
          keep_cifar10,
          "Two ways to get them:\n"
          "  curl -L https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz | tar xz, then name the folder "
          "cifar-10-batches-bin (--data)\n"
          "  have data_batch_1.bin to 5 and test_batch.bin, plain or .gz, in a folder that you name, or in "
          "$TERN_DATA/cifar10"};
}

TERN_COLD Published published_imdb() {
  return {"imdb",
          "https://ai.stanford.edu/~amaas/data/sentiment/",
          "aclImdb_v1.tar.gz",
          84'125'825,
          "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
          {"train.tsv", "test.tsv"},
          keep_imdb,
          "Two ways to get them:\n"
          "  curl -L https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz | tar xz, then name the folder "
          "aclImdb (--data)\n"
          "  have train.tsv and test.tsv, plain or .gz, with a line `1<tab>text` or `0<tab>text` for each review, in "
          "$TERN_DATA/imdb"};
}

TERN_COLD Published published_nietzsche() {
  return {"nietzsche",
          "https://s3.amazonaws.com/text-datasets/",
          "nietzsche.txt",
          600'901,
          "",
          {"nietzsche.txt"},
          [](io::AtomicFile& text, const std::string&) { text.commit(); },
          "Name any text in UTF-8 (--data FILE), or get this one:\n"
          "  curl -O https://s3.amazonaws.com/text-datasets/nietzsche.txt, and name the folder, or have it in "
          "$TERN_DATA/nietzsche"};
}

/// What is wrong with a file that was downloaded; empty if nothing.
TERN_COLD std::string mismatch(const Published& set, const std::string& path) {
  const Index bytes = io::File(path).size();
  if (bytes != set.bytes)
    return tern::detail::text({"not the file that was published: it has ", bytes, " bytes instead of ", set.bytes});
  if (!set.sha256.empty() && io::sha256(io::read_file(path, bytes)) != set.sha256)
    return "not the file that was published: its SHA-256 differs";
  return "";
}

TERN_COLD bool has_all(const std::string& folder, const std::vector<const char*>& files) {
  return std::all_of(files.begin(), files.end(),
                     [&](const char* file) { return !find_plain_or_gzip(folder, file).empty(); });
}

TERN_COLD std::string cached(const Published& set, const SourceOptions& options) {
  const std::string folder = cache_folder(set.set);
  if (folder.empty()) Error::fail(set.set, {no_cache_folder, ". ", set.remedy});
  if (has_all(folder, set.files)) return folder;
  std::string problem;
  try {
    const DownloadLock lock(folder);
    if (has_all(folder, set.files)) return folder;
    const std::vector<std::string> mirrors =
        options.mirrors.empty() ? std::vector<std::string>{set.mirror} : options.mirrors;
    std::fprintf(stderr, "downloading %s%s (%.1f MB) to %s ...\n", mirrors[0].c_str(), set.file,
                 double(set.bytes) / 1e6, folder.c_str());
    io::AtomicFile downloaded(tern::detail::text({folder, "/", set.file}));
    problem = fetch(downloaded, set.file, mirrors, options.timeout,
                    [&](const std::string& path) { return mismatch(set, path); });
    if (problem.empty()) set.keep(downloaded, folder);
    if (problem.empty() && !has_all(folder, set.files))
      problem = tern::detail::text({set.file, " lacks files that it should hold"});
  } catch (const Error& error) { problem = error.without_line(); }
  if (!problem.empty()) Error::fail(set.set, {problem, ". ", set.remedy});
  return folder;
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD std::string cifar10_source(const SourceOptions& options, CallSite here) {
  const CallScope scope(here);
  const detail::Published set = detail::published_cifar10();
  const std::string folder = detail::given_folder(options.folder, set.set);
  if (folder.empty()) return detail::cached(set, options);
  if (!detail::has_all(folder, {"data_batch_1.bin", "test_batch.bin"}))
    Error::fail(set.set, {"'", folder, "' lacks data_batch_1.bin or test_batch.bin, plain or .gz. ", set.remedy});
  return folder;
}

TERN_COLD std::string imdb_source(const SourceOptions& options, CallSite here) {
  const CallScope scope(here);
  const detail::Published set = detail::published_imdb();
  const std::string folder = detail::given_folder(options.folder, set.set);
  if (folder.empty()) return detail::cached(set, options);
  if (!detail::has_all(folder, {"train.tsv"}) && !io::exists(folder + "/train"))
    Error::fail(set.set, {"'", folder, "' has neither train.tsv, plain or .gz, nor a folder train. ", set.remedy});
  return folder;
}

TERN_COLD std::string nietzsche_source(const SourceOptions& options, CallSite here) {
  const CallScope scope(here);
  const detail::Published set = detail::published_nietzsche();
  std::string folder = detail::given_folder(options.folder, set.set);
  if (folder.empty()) folder = detail::cached(set, options);
  const std::string path = detail::find_plain_or_gzip(folder, "nietzsche.txt");
  if (path.empty()) Error::fail(set.set, {"'", folder, "' has no nietzsche.txt, plain or .gz. ", set.remedy});
  return path;
}

}}}  // namespace tern::data
