// What is in pictures: the five likeliest classes of each, by a network with weights that others have trained.
// ./examples/run classify PICTURE... --weights FILE --labels FILE
#include <tern/cuda.hpp>
#include <tern/data/image_folder.hpp>
#include <tern/data/transforms.hpp>
#include <tern/models/models.hpp>
#include <tern/tern.hpp>

#include <cstdio>
#include <cstring>

using namespace tern;

struct Options {
  std::vector<std::string> pictures;
  std::string weights, labels, model = "resnet50", device = "cpu";
  Index classes = 1000;
  bool skip_bad = false;
};

/// A picture as the networks were trained to see it: [1, 3, side, side].
Tensor<Cpu> read_picture(const std::string& path, const Options& options) {
  namespace transforms = data::transforms;
  const bool xception = options.model == "xception", large = xception || options.model == "inception_v3";
  const Index side = large ? 299 : 224, shorter = xception ? 333 : large ? 342 : 256;
  data::Image image;
  data::read_image(path, image);
  data::Random random({}, 0, 0);
  transforms::Resize{shorter}(image, random);
  transforms::CenterCrop{side}(image, random);
  const auto normalize = xception ? transforms::Normalize({0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f})
                                  : transforms::Normalize({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f});
  normalize(image, random);
  return from_blob<Cpu>(image.data(), {1, 3, side, side}).clone();
}

/// The classes' names, one a line; without a file their numbers.
std::vector<std::string> read_labels(const Options& options) {
  std::vector<std::string> names;
  if (options.labels.empty()) {
    for (Index i = 0; i < options.classes; ++i) names.push_back("class " + std::to_string(i));
    return names;
  }
  names.emplace_back();
  for (const char c : io::read_file(options.labels, 1 << 20))
    if (c == '\n') names.emplace_back();
    else if (c != '\r') names.back() += c;
  if (names.back().empty()) names.pop_back();
  if (Index(names.size()) != options.classes)
    throw std::runtime_error("classify: '" + options.labels + "' names " + std::to_string(names.size()) +
                             " classes, not " + std::to_string(options.classes));
  return names;
}

template <Device D, class Net>
void classify_with(Net net, const Options& options) {
  const auto names = read_labels(options);
  models::load_weights(net, options.weights);
  const InferenceMode inference;
  net.eval();
  Index bad = 0;
  for (const std::string& path : options.pictures) {
    Tensor<Cpu> picture;
    try {
      picture = read_picture(path, options);
    } catch (const Error&) {
      if (!options.skip_bad) throw;
      ++bad;
      continue;
    }
    if (options.pictures.size() > 1) std::printf("%s\n", path.c_str());
    const auto [share, which] =
        topk(softmax(net(picture.to(D{})), 1).select(0, 0), std::min<Index>(5, options.classes));
    const auto shares = share.cpu();
    const auto classes = which.cpu();
    for (Index i = 0; i < shares.numel(); ++i)
      std::printf("%5.1f%%  %s\n", 100 * shares[i].item(), names[std::size_t(classes[i].item())].c_str());
  }
  if (options.skip_bad) std::printf("%lld damaged pictures left out\n", (long long)bad);
}

template <Device D>
void classify(const Options& o) {
  if (o.model == "alexnet") return classify_with<D>(models::alexnet<D>({.num_classes = o.classes}), o);
  if (o.model == "vgg16") return classify_with<D>(models::vgg16<D>({.num_classes = o.classes}), o);
  if (o.model == "resnet18") return classify_with<D>(models::resnet18<D>({.num_classes = o.classes}), o);
  if (o.model == "resnet50") return classify_with<D>(models::resnet50<D>({.num_classes = o.classes}), o);
  if (o.model == "googlenet")
    return classify_with<D>(models::googlenet<D>({.num_classes = o.classes, .transform_input = true}), o);
  if (o.model == "mobilenet_v2") return classify_with<D>(models::mobilenet_v2<D>({.num_classes = o.classes}), o);
  if (o.model == "inception_v3")
    return classify_with<D>(models::inception_v3<D>({.num_classes = o.classes, .transform_input = true}), o);
  if (o.model == "xception") return classify_with<D>(models::xception<D>({.num_classes = o.classes}), o);
  throw std::runtime_error("classify: there is no model '" + o.model + "'; see --help");
}

constexpr const char* help =
    "usage: classify PICTURE... --weights FILE [options]\n"
    "  PICTURE          a JPEG or PNG file\n"
    "  --weights FILE   a safetensors file with the parameter names of torchvision (of xception: timm)\n"
    "  --model NAME     alexnet vgg16 resnet18 resnet50 googlenet mobilenet_v2 inception_v3 xception (resnet50)\n"
    "  --labels FILE    the classes' names, one a line\n"
    "  --classes N      how many the weights are for (1000)\n"
    "  --device NAME    cpu, cuda, cuda:1 … or auto (cpu)\n"
    "  --skip-bad       leave out pictures that cannot be read, and say how many\n";

int main(int argc, char** argv) try {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") return std::fputs(help, stdout), 0;
    if (name == "--skip-bad") {
      o.skip_bad = true;
      continue;
    }
    if (name.rfind("--", 0) != 0) {
      o.pictures.push_back(name);
      continue;
    }
    if (++i == argc) throw std::runtime_error("classify: " + name + " needs a value; see --help");
    if (name == "--weights") o.weights = argv[i];
    else if (name == "--model") o.model = argv[i];
    else if (name == "--labels") o.labels = argv[i];
    else if (name == "--device") o.device = argv[i];
    else if (name == "--classes" && std::atoi(argv[i]) > 0) o.classes = std::atoi(argv[i]);
    else throw std::runtime_error("classify: cannot use " + name + " " + argv[i] + "; see --help");
  }
  if (o.pictures.empty() || o.weights.empty()) return std::fputs(help, stderr), 2;
  with_device(o.device, [&]<Device D>(D) { classify<D>(o); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
