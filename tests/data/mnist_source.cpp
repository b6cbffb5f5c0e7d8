#include "support/catch.hpp"

#include "support/http_server.hpp"
#include "support/variable.hpp"

#include <tern/data/mnist_source.hpp>

#include "../io/gzipped.hpp"
#include "../io/temporary_folder.hpp"
#include "idx_bytes.hpp"

namespace data_mnist_source {
using namespace tern;
using data::mnist_source;
using data::MnistSourceOptions;
using tern_test::error_of;
using tern_test::gzipped;
using tern_test::idx_bytes;
using tern_test::TemporaryFolder;
using tern_test::Variable;

namespace {

/// Files with MNIST's names, and three images each.
void put_small_set(const TemporaryFolder& folder) {
  for (const std::string half : {"train", "t10k"}) {
    folder.put(half + "-images-idx3-ubyte.gz", gzipped(idx_bytes({3, 28, 28}, tern_test::image_bytes(3))));
    folder.put(half + "-labels-idx1-ubyte.gz", gzipped(idx_bytes({3}, "\1\2\3")));
  }
}

const std::string nowhere = "http://127.0.0.1:9/";  // the discard port: nobody answers

bool has_curl() {
  const char* const version[] = {"curl", "--version", nullptr};
  return data::detail::run_program(version, 10).empty();
}

}  // namespace

TEST_CASE("MNIST in a folder is recognised", "[data]") {
  NEED_TEST_DATA(folder, "data/mnist");
  const auto found = mnist_source({.folder = folder, .mirrors = {}});
  CHECK(found.source == "mnist");
  CHECK(found.folder == folder);
  CHECK(found.reason == "");
  CHECK(found.train.size() == 60000);
  CHECK(found.test.size() == 10000);
}

TEST_CASE("other data in files of the same names are not called MNIST", "[data]") {
  const TemporaryFolder folder;
  put_small_set(folder);
  const auto found = mnist_source({.folder = folder.path()});
  CHECK(found.source == "files");
  CHECK(found.test.size() == 3);
}

TEST_CASE("a folder that is named must hold the files", "[data]") {
  const TemporaryFolder folder;
  CHECK(error_of([&] { mnist_source({.folder = folder.path()}); }) ==
        "Mnist: '" + folder.path() +
            "': has neither train-labels-idx1-ubyte nor train-labels.idx1-ubyte, plain or .gz");
}

TEST_CASE("TERN_DATA comes first, then the cache", "[data]") {
  const TemporaryFolder root;
  for (const std::string place : {"data/mnist", "xdg/tern/mnist", "home/.cache/tern/mnist"}) {
    std::filesystem::create_directories(root / place);
    const TemporaryFolder files;
    put_small_set(files);
    std::filesystem::copy(files.path(), root / place);
  }
  const Variable home("HOME", (root / "home").c_str());
  {
    const Variable data("TERN_DATA", (root / "data").c_str()), cache("XDG_CACHE_HOME", (root / "xdg").c_str());
    CHECK(mnist_source({.mirrors = {}}).folder == root / "data/mnist");
  }
  {
    const Variable data("TERN_DATA", ""), cache("XDG_CACHE_HOME", (root / "xdg").c_str());
    CHECK(mnist_source({.mirrors = {}}).folder == root / "xdg/tern/mnist");
  }
  {
    const Variable data("TERN_DATA", nullptr), cache("XDG_CACHE_HOME", nullptr);
    CHECK(mnist_source({.mirrors = {}}).folder == root / "home/.cache/tern/mnist");
  }
}

TEST_CASE("a folder that TERN_DATA names and that has no MNIST is an Error, not replaced by drawn digits", "[data]") {
  const TemporaryFolder root, empty_cache;
  const Variable data("TERN_DATA", root.path().c_str()), cache("XDG_CACHE_HOME", empty_cache.path().c_str());
  const std::string lacks =
      "Mnist: '" + root / "mnist" + "': has neither train-labels-idx1-ubyte nor train-labels.idx1-ubyte, plain or .gz";
  CHECK(error_of([] { mnist_source({.mirrors = {}}); }) == lacks);
  std::filesystem::create_directories(root / "mnist");
  CHECK(error_of([] { mnist_source({.mirrors = {}}); }) == lacks);
  root.put("mnist/train-labels.idx1-ubyte", idx_bytes({3}, "\1\2\3"));
  CHECK(error_of([] { mnist_source({.mirrors = {}}); }) ==
        "Mnist: '" + root / "mnist" +
            "': has neither train-images-idx3-ubyte nor train-images.idx3-ubyte, plain or .gz");
}

TEST_CASE("files whose names have a dot before idx are read, and nothing is downloaded instead", "[data]") {
  for (const std::string ending : {"", ".gz"}) {
    const TemporaryFolder folder, empty_cache;
    const Variable data("TERN_DATA", nullptr), cache("XDG_CACHE_HOME", empty_cache.path().c_str());
    for (const std::string half : {"train", "t10k"}) {
      const auto put = [&](const std::string& name, const std::string& content) {
        folder.put(half + name + ending, ending.empty() ? content : gzipped(content));
      };
      put("-images.idx3-ubyte", idx_bytes({3, 28, 28}, tern_test::image_bytes(3)));
      put("-labels.idx1-ubyte", idx_bytes({3}, "\1\2\3"));
      // Some archives have folders besides, with the usual names.
      std::filesystem::create_directories(folder / (half + "-images-idx3-ubyte")),
          std::filesystem::create_directories(folder / (half + "-labels-idx1-ubyte"));
    }
    const auto found = mnist_source({.folder = folder.path(), .mirrors = {}});
    CHECK(found.source == "files");
    CHECK(found.train.label(2) == 3);
    CHECK(found.test.size() == 3);
  }
}

TEST_CASE("without files and network digits are drawn, and this is said", "[data]") {
  const TemporaryFolder root;
  const Variable data("TERN_DATA", nullptr), cache("XDG_CACHE_HOME", root.path().c_str());
  const auto found = mnist_source({.mean = 0.5f, .mirrors = {nowhere, nowhere}});
  CHECK(found.source == "generated");
  CHECK(found.folder == "");
  CHECK(found.reason.starts_with(nowhere + "train-images-idx3-ubyte.gz: curl: no connection to the server; "));
  CHECK(found.train.size() == 20000);
  CHECK(found.test.size() == 4000);
  CHECK(std::filesystem::is_empty(root / "tern/mnist"));
  CHECK(mnist_source({.mirrors = {}}).reason == "no mirrors are named");
  const Variable home("HOME", nullptr), no_cache("XDG_CACHE_HOME", nullptr);
  CHECK(mnist_source().reason == "there is no cache folder: neither XDG_CACHE_HOME nor HOME is set");
}

TEST_CASE("a download is kept if it is MNIST's, and only then", "[data]") {
  NEED_TEST_DATA(real, "data/mnist");
  if (!has_curl()) SKIP_TEST("needs curl, which can read file:// addresses");
  const TemporaryFolder root, wrong, damaged;
  put_small_set(wrong);
  damaged.put("train-images-idx3-ubyte.gz", gzipped("not for long").substr(0, 20));
  const Variable data("TERN_DATA", nullptr), cache("XDG_CACHE_HOME", root.path().c_str());
  const auto mirror = [](const std::string& folder) { return "file://" + folder + "/"; };

  const auto refused = mnist_source({.mirrors = {mirror(wrong.path()), mirror(damaged.path())}});
  CHECK(refused.source == "generated");
  CHECK(refused.reason.find("train-images-idx3-ubyte.gz: not MNIST's file; file://" + damaged.path()) !=
        std::string::npos);
  CHECK(refused.reason.find("is truncated") != std::string::npos);
  CHECK(std::filesystem::is_empty(root / "tern/mnist"));

  const auto found = mnist_source({.mirrors = {mirror(wrong.path()), mirror(real)}});
  CHECK(found.source == "mnist");
  CHECK(found.folder == root / "tern/mnist");
  CHECK(found.train.size() == 60000);

  const auto again = mnist_source({.mirrors = {}});
  CHECK(again.source == "mnist");
}

}  // namespace data_mnist_source
