// Trains a network on the small colour photographs of CIFAR-10. ./examples/run cifar --help lists the options.
#include <tern/cuda.hpp>
#include <tern/data/sources.hpp>
#include <tern/data/transforms.hpp>
#include <tern/models/resnet.hpp>
#include <tern/tern.hpp>
#include <tern/train/fit.hpp>

#include "support/trainer.hpp"

using namespace tern;

/// The wide network that is often trained on these images: 13 convolutions in groups, with relu, normalisation and
/// dropout behind each, and two dense layers.
template <Device D, class T = float>
struct Vgg : nn::Module<D, T> {
  std::vector<nn::Conv2d<D, T>> convs;
  std::vector<nn::BatchNorm2d<D, T>> norms;
  nn::Linear<D, T> dense{512, 512}, out{512, 10};
  nn::BatchNorm1d<D, T> dense_norm{512};

  struct Group {
    Index channels;
    std::size_t convs;
    double dropout;  // between them
  };
  static constexpr Group groups[] = {{64, 2, 0.3}, {128, 2, 0.4}, {256, 3, 0.4}, {512, 3, 0.4}, {512, 3, 0.4}};

  Vgg() {
    Index in = 3;
    for (const Group& group : groups)
      for (std::size_t i = 0; i < group.convs; ++i, in = group.channels) {
        convs.push_back(models::conv<D, T>(in, group.channels, 3, {.padding = 1}));
        norms.emplace_back(group.channels);
      }
  }
  TERN_FIELDS(Vgg, convs, norms, dense, out, dense_norm)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    Tensor<D, T> x = images;
    std::size_t layer = 0;
    for (const Group& group : groups) {
      for (std::size_t i = 0; i < group.convs; ++i, ++layer) {
        x = norms[layer](relu(convs[layer](x)));
        if (i + 1 < group.convs) x = dropout(x, group.dropout, this->training);
      }
      x = max_pool2d(x, 2);
    }
    x = dense_norm(relu(dense(dropout(x.flatten(1), 0.5, this->training))));
    return out(dropout(x, 0.5, this->training));
  }
};

/// Trains a network, and returns the program's exit status.
template <Device D, class T>
int train_network(train::AnyNetwork<D, T> own, const support::Options& options, const distributed::Communicator& world,
                  optim::SGD& optimizer, double max_lr) {
  distributed::DistributedDataParallel net(std::move(own), world);
  const std::string folder = data::cifar10_source({.folder = options.data});
  const std::array<float, 3> mean = {0.4914f, 0.4822f, 0.4465f}, std = {0.2470f, 0.2435f, 0.2616f};
  const auto images =
      data::Cifar10::load(folder, {.train = true, .mean = mean, .std = std, .skip_bad = options.skip_bad});
  const auto test =
      data::Cifar10::load(folder, {.train = false, .mean = mean, .std = std, .skip_bad = options.skip_bad});
  if (options.skip_bad) std::printf("%lld damaged records left out\n", (long long)(images.skipped() + test.skipped()));
  // One training image in 20 is held out: they say which epoch's weights are the best.
  const auto parts = data::random_split(images, {0.95, 0.05}, 1);
  const auto &training = parts[0], &validation = parts[1];
  support::introduce(options, DeviceTraits<D>::name,
                     "; " + std::to_string(training.size()) + " images to train with, " +
                         std::to_string(validation.size()) + " held out, " + std::to_string(test.size()) + " to test");
  auto batches = data::loader<D>(data::transformed(training, data::transforms::RandomCrop({32, 32}, {.padding = 4}),
                                                   data::transforms::RandomHorizontalFlip()),
                                 {.batch_size = options.batch_size,
                                  .num_workers = int(options.workers),
                                  .drop_last = true,
                                  .seed = std::uint64_t(options.seed)},
                                 support::training_part(training.size(), net.replicas()));
  const Index steps = options.epochs * train::groups_of(batches, options.accumulate).size();
  if (steps == 0) throw std::runtime_error("cifar: --batch-size is more than there are images to train with");
  optim::OneCycleLR schedule(optimizer, {.max_lr = max_lr, .total_steps = steps});
  const auto accuracy = [&](const auto& set) {
    return train::accuracy_of(
        net, data::loader<D>(set, {.batch_size = 250}, support::test_part(set.size(), net.replicas())));
  };
  support::OptionsReport files(options, "cifar10");
  const auto report = train::fit(net, optimizer, batches, options,
                                 {.evaluate = [&] { return accuracy(test); },
                                  .validate = [&] { return accuracy(validation); },
                                  .schedule = &schedule,
                                  .schedule_by_step = true,
                                  .callbacks = {&files}});
  return report.exit_status();
}

template <Device D>
int run(const support::Options& options, const distributed::Communicator& world) {
  manual_seed(std::uint64_t(options.seed));
  const bool vgg = options.model == "vgg";
  const double lr = options.lr > 0 ? options.lr : vgg ? 0.05 : 0.1;
  const auto train_it = [&]<class T>(train::AnyNetwork<D, T> net) {
    optim::SGD optimizer(net.parameters(), {.lr = lr, .momentum = 0.9, .weight_decay = 5e-4, .nesterov = true});
    return train_network(std::move(net), options, world, optimizer, lr);
  };
  return vgg ? support::with_precision(options.precision, Vgg<D>(), train_it)
             : support::with_precision(options.precision, models::resnet20<D>(), train_it);
}

int main(int argc, char** argv) try {
  const support::Ranks ranks(argc, argv);
  support::Options options;
  options.model = "resnet20", options.epochs = 30, options.batch_size = 32;
  support::parse_options(argc, argv, options, {{.name = "--skip-bad", .flag = &options.skip_bad}});
  if (options.help) {
    std::printf(
        "usage: cifar [options], models: resnet20, vgg (13 convolutions)\n%s"
        "  --skip-bad               leave out damaged records, and say how many\n",
        support::options_help);
    return 0;
  }
  support::check_choice("--model", options.model, {"resnet20", "vgg"});
  ranks.prepare(options);
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options, ranks.world()); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
