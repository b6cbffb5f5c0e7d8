// The functions of mnist_source.hpp that are not templates.
#pragma once
#include <algorithm>
#include <iterator>

#include "mnist_source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD std::vector<std::string> mnist_mirrors() {
  return {"https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"};
}

}}}  // namespace tern::data

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD bool has_mnist_labels(const std::string& folder) {
  for (const MnistFile& file : {mnist_files[1], mnist_files[3]})
    if (io::sha256(io::read_gzip(mnist_file(folder, file.name), 10 * file.bytes)) != file.sha256) return false;
  return true;
}

TERN_COLD std::string fetch_mnist(const std::string& folder, const MnistSourceOptions& options) {
  const auto has = [&](const MnistFile& file) { return !find_mnist_file(folder, file.name).empty(); };
  if (folder.empty()) return no_cache_folder;
  if (std::all_of(std::begin(mnist_files), std::end(mnist_files), has)) return "";
  try {
    const DownloadLock lock(folder);
    for (const MnistFile& file : mnist_files) {
      if (has(file)) continue;
      const std::string name = tern::detail::text({file.name, ".gz"});
      io::AtomicFile whole(tern::detail::text({folder, "/", name}));
      const std::string problem = fetch(whole, name, options.mirrors, options.timeout, [&](const std::string& path) {
        return io::sha256(io::read_gzip(path, file.bytes)) == file.sha256 ? "" : "not MNIST's file";
      });
      if (!problem.empty()) return problem;
      whole.commit();
    }
  } catch (const Error& error) { return error.without_line(); }
  return "";
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD MnistSource mnist_source(const MnistSourceOptions& options, CallSite here) {
  const CallScope scope(here);
  std::string folder = detail::given_folder(options.folder, "mnist"), problem;
  if (folder.empty()) {
    folder = detail::cache_folder("mnist");
    problem = detail::fetch_mnist(folder, options);
  }
  const MnistOptions train{.train = true, .mean = options.mean, .std = options.std};
  const MnistOptions test{.train = false, .mean = options.mean, .std = options.std};
  if (!problem.empty())
    return {generated_digits(20000, 1, train), generated_digits(4000, 2, test), "generated", "", problem};
  return {Mnist::load(folder, train), Mnist::load(folder, test), detail::has_mnist_labels(folder) ? "mnist" : "files",
          folder, ""};
}

}}}  // namespace tern::data
