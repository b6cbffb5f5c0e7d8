#include "support/http_server.hpp"
#include "support/variable.hpp"

#include <tern/data/cifar.hpp>
#include <tern/data/sources.hpp>
#include <tern/data/text/imdb.hpp>
#include <tern/io/sha256.hpp>

#include "../io/temporary_folder.hpp"

namespace data_sources {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using data::detail::Published;

namespace {

/// Packs the folder `name` in `files` as GNU tar and gzip do, to a file in `served`, and returns the set with that
/// file's size and hash.
Published packed(Published set, const TemporaryFolder& files, const char* name, const std::string& served) {
  const std::string archive = served + "/" + set.file;
  const char* const tar[] = {"tar", "-czf", archive.c_str(), "-C", files.path().c_str(), name, nullptr};
  REQUIRE(data::detail::run_program(tar, 60) == "");
  const std::string content = content_of(archive);
  set.bytes = Index(content.size());
  set.sha256 = io::sha256(content);
  return set;
}

/// A record of CIFAR-10: an image whose bytes are all `value`.
std::string record(char label, char value) { return label + std::string(3072, value); }

/// CIFAR-10 with one image a file, as it is published.
Published small_cifar10(const TemporaryFolder& files, const std::string& served) {
  const std::string name = "cifar-10-batches-bin";
  io::make_folders(files / name);
  for (char i = 1; i <= 5; ++i) files.put(name + "/data_batch_" + char('0' + i) + ".bin", record(i, char(10 * i)));
  files.put(name + "/test_batch.bin", record(7, 70));
  files.put(name + "/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  files.put(name + "/readme.html", "<html>");
  return packed(data::detail::published_cifar10(), files, name.c_str(), served);
}

std::vector<std::pair<std::string, Index>> reviews_of(const std::string& folder, bool train) {
  std::vector<std::pair<std::string, Index>> reviews;
  for (const data::Review& review : data::Imdb(folder, {.train = train}))
    reviews.emplace_back(review.text, review.label);
  return reviews;
}

}  // namespace

TEST_CASE("CIFAR-10 is downloaded once", "[data]") {
  const TemporaryFolder files, served, cache;
  const Variable given("TERN_DATA", nullptr), home("XDG_CACHE_HOME", cache.path().c_str());
  const Published set = small_cifar10(files, served.path());
  std::string folder;
  {
    const HttpServer server(served.path());
    folder = data::detail::cached(set, {.mirrors = {"http://127.0.0.1:9/", server.address()}});
  }
  CHECK(folder == cache / "tern/cifar10");
  const auto training = data::Cifar10::load(folder), test = data::Cifar10::load(folder, {.train = false});
  REQUIRE(training.size() == 5);
  for (Index i = 0; i < 5; ++i) {
    CHECK(training.label(i) == i + 1);
    CHECK(training.images()(i, 2, 31, 31) == 10 * (i + 1));
  }
  CHECK(test.label(0) == 7);
  CHECK(test.classes()[9] == "j");
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 7);
  CHECK(data::detail::cached(set, {.mirrors = {"http://127.0.0.1:9/"}}) == folder);
  CHECK(data::cifar10_source({.mirrors = {"http://127.0.0.1:9/"}}) == folder);
}

TEST_CASE("what is not the published file, and what was interrupted, is not taken for it", "[data]") {
  const TemporaryFolder files, served, cache;
  const Variable given("TERN_DATA", nullptr), home("XDG_CACHE_HOME", cache.path().c_str());
  io::make_folders(served / "cut");
  const Published set = small_cifar10(files, served.path());
  std::filesystem::copy(served / set.file, served / "cut");
  const HttpServer server(served.path());
  const std::string url = server.address() + set.file, folder = cache / "tern/cifar10";
  const auto refusal = [&](const Published& wanted, const std::string& address) {
    const std::string error = error_of([&] { data::detail::cached(wanted, {.mirrors = {address}}); });
    CHECK(std::filesystem::is_empty(folder));
    return error;
  };
  Published other = set;
  other.bytes += 1;
  CHECK_THAT(refusal(other, server.address()),
             ContainsSubstring("cifar10: " + url + ": not the file that was published: it has ") &&
                 ContainsSubstring(". Two ways to get them:\n  curl -L https://www.cs.toronto.edu/"));
  other = set;
  other.sha256[5] = other.sha256[5] == 'a' ? 'b' : 'a';
  CHECK_THAT(refusal(other, server.address()),
             ContainsSubstring(url + ": not the file that was published: its SHA-256 differs"));
  CHECK_THAT(refusal(set, server.address() + "cut/"),
             ContainsSubstring("curl: the connection ended before the file did"));
  CHECK_THAT(refusal(set, server.address() + "none/"),
             ContainsSubstring("none/" + std::string(set.file) + ": curl: the server has no such file, or refuses it"));
  other = set;
  other.files.push_back("data_batch_6.bin");
  CHECK_THAT(error_of([&] { data::detail::cached(other, {.mirrors = {server.address()}}); }),
             ContainsSubstring("lacks files that it should hold"));

  // What a process leaves that is killed while it downloads or unpacks.
  std::filesystem::remove_all(folder);
  io::make_folders(folder);
  const std::string abandoned = folder + "/" + set.file + ".0123456789abcdef.tmp";
  std::filesystem::copy(served / set.file, abandoned);
  std::filesystem::copy(files / "cifar-10-batches-bin/data_batch_1.bin", folder);
  CHECK(data::detail::cached(set, {.mirrors = {server.address()}}) == folder);
  CHECK(data::Cifar10::load(folder).size() == 5);
  CHECK_FALSE(std::filesystem::exists(abandoned));
}

TEST_CASE("IMDb's reviews are those of the folder that is published", "[data]") {
  const TemporaryFolder files, served, cache;
  const Variable given("TERN_DATA", nullptr), home("XDG_CACHE_HOME", cache.path().c_str());
  for (const std::string half : {"train", "test"})
    for (const std::string kind : {"pos", "neg", "unsup"}) {
      io::make_folders(files / ("aclImdb/" + half + "/" + kind));
      for (const int number : {0, 2, 10, 1}) {
        const std::string name = std::to_string(number) + "_7.txt";
        files.put("aclImdb/" + half + "/" + kind + "/" + name, half + "\t" + kind + " <br />" + name);
      }
    }
  files.put("aclImdb/train/pos/3_8.txt", "one\ntwo\r\nthree");
  files.put("aclImdb/train/urls_pos.txt", "http://");
  const Published set = packed(data::detail::published_imdb(), files, "aclImdb", served.path());
  const HttpServer server(served.path());
  const std::string folder = data::detail::cached(set, {.mirrors = {server.address()}});
  CHECK(reviews_of(folder, false) == reviews_of(files / "aclImdb", false));
  auto expected = reviews_of(files / "aclImdb", true);
  REQUIRE(expected.size() == 9);
  REQUIRE(expected[3].first == "one\ntwo\r\nthree");
  expected[3].first = "one two  three";
  CHECK(reviews_of(folder, true) == expected);
  CHECK(data::imdb_source() == folder);
}

TEST_CASE("Nietzsche's text is a file", "[data]") {
  const TemporaryFolder served, cache;
  const Variable given("TERN_DATA", nullptr), home("XDG_CACHE_HOME", cache.path().c_str());
  const std::string text(600'901, 'a');
  served.put("nietzsche.txt", text);
  const HttpServer server(served.path());
  const std::string path = data::nietzsche_source({.mirrors = {server.address()}});
  CHECK(path == cache / "tern/nietzsche/nietzsche.txt");
  CHECK(content_of(path) == text);
  std::filesystem::remove(path);
  served.put("nietzsche.txt", "no");
  CHECK_THAT(error_of([&] { data::nietzsche_source({.mirrors = {server.address()}}); }),
             ContainsSubstring("it has 2 bytes instead of 600901"));
  CHECK(std::filesystem::is_empty(cache / "tern/nietzsche"));
}

TEST_CASE("a folder that is given must have the files; nothing is downloaded instead", "[data]") {
  const TemporaryFolder root, cache;
  const Variable home("XDG_CACHE_HOME", cache.path().c_str());
  for (const char* const set : {"cifar10", "imdb", "nietzsche"}) io::make_folders(root / set);
  const auto check = [&](const char* set, const auto& source, const std::string& lacks,
                         std::initializer_list<const char*> files) {
    const std::string folder = root / set;
    const data::SourceOptions named{.folder = folder}, in_root{};
    for (const auto& options : {named, in_root}) {
      const Variable given("TERN_DATA", options.folder.empty() ? root.path().c_str() : nullptr);
      CHECK_THAT(error_of([&] { source(options, {}); }),
                 ContainsSubstring(std::string(set) + ": '" + folder + "' " + lacks));
    }
    for (const std::string file : files) root.put(std::string(set) + "/" + file, "");
    for (const auto& options : {named, in_root}) {
      const Variable given("TERN_DATA", options.folder.empty() ? root.path().c_str() : nullptr);
      CHECK(source(options, {}).starts_with(folder));
    }
  };
  check("cifar10", data::cifar10_source, "lacks data_batch_1.bin or test_batch.bin, plain or .gz. Two ways",
        {"data_batch_1.bin.gz", "test_batch.bin"});
  check("imdb", data::imdb_source, "has neither train.tsv, plain or .gz, nor a folder train. Two ways",
        {"train.tsv.gz"});
  check("nietzsche", data::nietzsche_source, "has no nietzsche.txt, plain or .gz. Name any text", {"nietzsche.txt.gz"});
  CHECK(std::filesystem::is_empty(cache.path()));
}

TEST_CASE("without a folder and without a network the error tells how to get the data", "[data]") {
  const TemporaryFolder cache;
  const Variable given("TERN_DATA", ""), home("HOME", nullptr);
  {
    const Variable none("XDG_CACHE_HOME", nullptr);
    CHECK_THAT(error_of([] { data::imdb_source(); }),
               ContainsSubstring("imdb: there is no cache folder: neither XDG_CACHE_HOME nor HOME is set. Two ways"));
  }
  const Variable root("XDG_CACHE_HOME", cache.path().c_str());
  CHECK_THAT(error_of([] { data::cifar10_source({.mirrors = {"http://127.0.0.1:9/"}}); }),
             ContainsSubstring("cifar10: http://127.0.0.1:9/cifar-10-binary.tar.gz: curl: no connection to the server. "
                               "Two ways to get them:"));
}

}  // namespace data_sources
