// The functions of mnist.hpp that are not templates.
#pragma once
#include "mnist.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD Mnist::Mnist(const Tensor<Cpu, std::uint8_t>& images, const Tensor<Cpu, Index>& labels, float mean, float std,
                       CallSite here)
    : images_(images), labels_(labels), scale_(1 / (255 * std)), shift_(-mean / std) {
  const CallScope scope(here);
  const tern::detail::Array &x = *images.checked("Mnist"), &y = *labels.checked("Mnist");
  if (!(x.shape() == tern::detail::Shape{y.numel, 28, 28}) || y.ndim != 1 || !x.contiguous || !y.contiguous)
    Error::fail("Mnist", {"images must be [N, 28, 28] and labels [N], both contiguous, not ", x.shape_ref(), " and ",
                          y.shape_ref()});
  if (!(std > 0)) Error::fail("Mnist", {"std must be positive, not ", double(std)});
}

}}}  // namespace tern::data

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD std::string mnist_prefix(const MnistOptions& options) {
  if (options.emnist.empty()) return options.train ? "train" : "t10k";
  return tern::detail::text({"emnist-", options.emnist, options.train ? "-train" : "-test"});
}

/// train-images.idx3-ubyte for train-images-idx3-ubyte
TERN_COLD std::string dotted(std::string name) {
  name[name.rfind("-idx")] = '.';
  return name;
}

TERN_COLD std::string find_mnist_file(const std::string& folder, const std::string& name) {
  const std::string path = find_plain_or_gzip(folder, name);
  return path.empty() ? find_plain_or_gzip(folder, dotted(name)) : path;
}

TERN_COLD std::string mnist_file(const std::string& folder, const std::string& name) {
  const std::string path = find_mnist_file(folder, name);
  if (path.empty())
    Error::fail("Mnist", {"'", folder, "': has neither ", name, " nor ", dotted(name), ", plain or .gz"});
  return path;
}

TERN_COLD int largest_label(const std::string& emnist) {
  struct Labels {
    const char* name;
    int largest;
  };
  constexpr Labels all[] = {{"", 9},       {"balanced", 46}, {"byclass", 61}, {"bymerge", 46},
                            {"digits", 9}, {"letters", 26},  {"mnist", 9}};
  for (const Labels& labels : all)
    if (emnist == labels.name) return labels.largest;
  Error::fail("Mnist",
              {"no EMNIST is called '", emnist, "'; there are balanced, byclass, bymerge, digits, letters, mnist"});
}

TERN_COLD void transpose_images(const Tensor<Cpu, std::uint8_t>& images) {
  for (Index i = 0; i < images.size(0); ++i) {
    std::uint8_t* const image = images.data() + i * 784;
    for (int row = 0; row < 28; ++row)
      for (int column = 0; column < row; ++column) std::swap(image[row * 28 + column], image[column * 28 + row]);
  }
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD Mnist Mnist::load(const std::string& folder, const MnistOptions& options, CallSite here) {
  const CallScope scope(here);
  const int largest = detail::largest_label(options.emnist);
  const std::string prefix = detail::mnist_prefix(options);
  const std::string labels_path = detail::mnist_file(folder, tern::detail::text({prefix, "-labels-idx1-ubyte"}));
  const std::string images_path = detail::mnist_file(folder, tern::detail::text({prefix, "-images-idx3-ubyte"}));
  const Tensor<Cpu, std::uint8_t> bytes = read_idx(labels_path, {-1});
  const Tensor<Cpu, Index> labels = empty<Cpu, Index>(bytes.shape());
  const std::uint8_t* const byte = bytes.data();
  Index* const label = labels.data();
  for (Index i = 0; i < bytes.numel(); ++i) {
    label[i] = byte[i];
    if (label[i] > largest)
      Error::fail("Mnist", {"'", labels_path, "': label ", i, " is ", label[i], ", larger than ", largest});
  }
  const Tensor<Cpu, std::uint8_t> images = read_idx(images_path, {bytes.numel(), 28, 28});
  if (!options.emnist.empty()) detail::transpose_images(images);
  return Mnist(images, labels, options.mean, options.std);
}

TERN_NOINLINE void Mnist::read(Index sample, Image& image) const {
  const std::uint8_t* const bytes = images_.data() + sample * 784;
  detail::normalise_image(bytes, image.replace(1, 28, 28), scale_, shift_, bytes);
}

TERN_NOINLINE auto Mnist::batch(std::span<const Index> samples, CallSite here) const -> Batch {
  const CallScope scope(here);
  const Index n = Index(samples.size());
  const Tensor<Cpu> x = empty<Cpu>({n, 1, 28, 28});
  const Tensor<Cpu, Index> y = empty<Cpu, Index>({n});
  const std::uint8_t* const images = images_.data();
  float* pixels = x.data();
  const Index* const labels = labels_.data();
  Index* const label = y.data();
  for (Index i = 0; i < n; ++i, pixels += 784) {
    const Index sample = samples[std::size_t(i)], next = samples[std::size_t(i + 1 < n ? i + 1 : i)];
    detail::normalise_image(images + sample * 784, pixels, scale_, shift_, images + next * 784);
    label[i] = labels[sample];
  }
  return {x, y};
}

}}}  // namespace tern::data
