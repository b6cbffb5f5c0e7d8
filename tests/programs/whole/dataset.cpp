// A data set of one's own: a CSV file names pictures and their labels; transforms, a weighted sampler, a collate
// function, workers.
#include <tern/tern.hpp>
#include <tern/data/csv.hpp>
#include <tern/data/image_file.hpp>
#include <tern/data/save_image.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
using namespace tern;
namespace fs = std::filesystem;

class ShapesDataset {
 public:
  ShapesDataset(const fs::path& csv, const fs::path& root) : root_(root), table_(data::Csv::load(csv)) {
    std::tie(labels_, classes_) = table_.categories("shape");
    files_ = table_.text("file");
    sizes_ = table_.column<float>("size");
  }
  Index size() const { return Index(files_.size()); }
  std::tuple<Tensor<Cpu>, Tensor<Cpu>, Index> operator[](Index i) const {
    return {data::read_image(root_ / files_[std::size_t(i)]), sizes_[i], labels_[i].item()};
  }
  const Tensor<Cpu, Index>& labels() const { return labels_; }
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  fs::path root_;
  data::Csv table_;
  Tensor<Cpu, Index> labels_;
  std::vector<std::string> classes_, files_;
  Tensor<Cpu> sizes_;
};

using Sample = std::tuple<Tensor<Cpu>, Tensor<Cpu>, Index>;

/// Pictures of different sizes are padded to the largest.
std::tuple<Tensor<Cpu>, Tensor<Cpu>, Tensor<Cpu, Index>> collate_fn(const std::vector<Sample>& batch) {
  Index h = 0, w = 0;
  for (const auto& [image, size, label] : batch) h = std::max(h, image.size(1)), w = std::max(w, image.size(2));
  std::vector<Tensor<Cpu>> images, sizes;
  std::vector<Index> labels;
  for (const auto& [image, size, label] : batch) {
    images.push_back(pad(image, {0, w - image.size(2), 0, h - image.size(1)}));
    sizes.push_back(size);
    labels.push_back(label);
  }
  return {stack(images), stack(sizes), tensor<Cpu>(labels)};
}

void write_pictures(const fs::path& root) {
  fs::create_directories(root);
  std::ofstream csv(root / "shapes.csv");
  csv << "file,shape,size\n";
  for (int i = 0; i < 60; ++i) {
    const Index n = 16 + i % 3 * 4, r = 3 + i % 4;
    const bool disc = i % 5 == 0;
    auto image = full<Cpu>({3, n, n}, 0.2);
    const auto axis = arange<Cpu>(n).to(f32) - double(n) / 2;
    const auto grids = meshgrid({axis, axis}, "ij");
    const auto inside =
        disc ? (grids[0].square() + grids[1].square() <= r * r) : maximum(grids[0].abs(), grids[1].abs()) <= r;
    image[0].masked_fill_(inside, 0.9);
    image[disc ? 1 : 2][inside] = 0.5;
    const auto name = "picture" + std::to_string(i) + ".png";
    data::save_image(image, root / name);
    csv << name << "," << (disc ? "disc" : "square") << "," << r << "\n";
  }
}

int main() {
  manual_seed(0);
  const fs::path root = "shapes";
  write_pictures(root);
  const ShapesDataset dataset(root / "shapes.csv", root);
  std::cout << dataset.size() << " pictures of";
  for (const auto& c : dataset.classes()) std::cout << " " << c;
  const auto counts = bincount(dataset.labels());
  std::cout << " " << counts << "\n";
  std::vector<double> weights;
  for (Index y : dataset.labels().to_vector()) weights.push_back(1.0 / double(counts(y)));

  auto loader = data::loader<Cpu>(data::collated(dataset, collate_fn), {.batch_size = 12, .num_workers = 2},
                                  data::WeightedRandomSampler(weights, 600));
  auto seen = zeros<Cpu, Index>({2});
  nn::Sequential net(nn::Conv2d<Cpu>(3, 8, 3, {.padding = 1}), nn::ReLU<Cpu>(), nn::AdaptiveAvgPool2d<Cpu>(4),
                     nn::Flatten<Cpu>(), nn::Linear<Cpu>(8 * 16, 2));
  optim::Adam adam(net.parameters(), {.lr = 5e-3});
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto& [images, sizes, labels] : loader) {
      seen += bincount(labels, 2);
      adam.zero_grad();
      cross_entropy(net(images), labels).backward();
      adam.step();
    }
  std::cout << "drawn " << seen << ", shares " << seen.to(f32) / seen.sum().to(f32) << "\n";
  net.eval();
  double right = 0;
  for (auto& [images, sizes, labels] : data::loader<Cpu>(data::collated(dataset, collate_fn), {.batch_size = 20}))
    right += (net(images).argmax(1) == labels).sum().item<double>();
  std::printf("accuracy %.3f\n", right / double(dataset.size()));
  fs::remove_all(root);
  return right / double(dataset.size()) > 0.9 && std::abs(seen(0) - seen(1)) < 200 ? 0 : 1;
}
