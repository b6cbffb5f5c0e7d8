// Trains a network on pictures in class folders, or packed in shards. ./examples/run images --help lists the options.
#include <tern/cuda.hpp>
#include <tern/data/image_folder.hpp>
#include <tern/ops/ops.hpp>
#include <tern/tensor/with_device.hpp>
#include <tern/train/fit.hpp>

#include "images/measure.hpp"
#include "images/pictures.hpp"
#include "images/schedule.hpp"
#include "support/trainer.hpp"

/// The network in the precision of --precision. Error where the device has none such.
template <Device D>
std::unique_ptr<Network<D>> make_network(const Setup& setup) {
  const std::string& precision = setup.options.precision;
  support::check_precision(precision, DeviceTraits<D>::name);
  if constexpr (std::is_same_v<D, Cuda>)
    if (precision == "f16") return make_f16(setup);
  if (precision == "bf16") return make_bf16<D>(setup);
  if (precision == "bf16-weights") return make_bf16_weights<D>(setup);
  return make_f32<D>(setup);
}

/// Prints what is trained or tested, and on what.
void introduce(const ImageOptions& options, const PictureData& pictures, const std::vector<std::string>& new_layers,
               const char* device) {
  const PicturePlan plan = plan_of(options);
  const auto& [training, validation] = pictures;
  if (options.skip_bad)
    std::printf("%lld damaged pictures left out\n",
                (long long)(training.skipped() + (validation ? validation->skipped() : 0)));
  const std::string size = std::to_string(plan.size);
  support::introduce(options, device,
                     "; " + std::to_string(training.classes().size()) + " classes, pictures of " + size + " x " + size +
                         ", " + std::to_string(training.size()) + " to train with, " +
                         std::to_string(pictures.test().size()) + " to test");
  if (!validation)
    std::printf("NO TEST DATA: without val/ the test figures are of the training pictures, cut as for a test.\n");
  for (const std::string& layer : new_layers)
    std::printf("%s starts anew: '%s' has none that fits\n", layer.c_str(), options.weights.c_str());
}

/// The mean loss of a batch, with that of auxiliary heads, and how many pictures the network gets right.
template <Device D>
train::Step<D> step(Network<D>& net, const Tensor<D>& images, const Tensor<D, Index>& labels, double label_smoothing) {
  const std::vector<Tensor<D>> scores = net.training_scores(images);
  Tensor<D> loss = cross_entropy(scores[0], labels, {.label_smoothing = label_smoothing});
  for (std::size_t i = 1; i < scores.size(); ++i)
    loss = loss + net.aux_weight * cross_entropy(scores[i], labels, {.label_smoothing = label_smoothing});
  return {loss, labels.numel(), train::count_right(scores[0].detach(), labels)};
}

/// Trains the network, and returns the program's exit status.
template <Device D>
int train_network(Network<D>& net, const PictureData& pictures, const ImageOptions& options) {
  const PicturePlan plan = plan_of(options);
  const auto part = support::training_part(pictures.training.size(), net.replicas());
  const bool is_full = part.size() >= options.batch_size;  // else the only batch would be left out
  auto batches = data::loader<D>(for_training(pictures.training, plan),
                                 {.batch_size = options.batch_size,
                                  .num_workers = int(options.workers),
                                  .drop_last = is_full,
                                  .seed = std::uint64_t(options.seed)},
                                 part);
  const double batch = double(options.batch_size * options.accumulate * net.replicas().size()),
               lr = options.lr > 0 ? options.lr : plan.rate * batch / 256;
  optim::SGD optimizer = net.optimizer({.lr = lr, .momentum = 0.9, .weight_decay = 1e-4});
  Schedule schedule(optimizer, options, train::groups_of(batches, options.accumulate).size());
  std::optional<Accuracy> last;
  const auto evaluate = [&] { return (last = measure(net, pictures.test(), options)).value().top1; };
  support::OptionsReport files(options, options.data);
  const auto report = train::fit<D>(net.module(), net.scaled, optimizer, batches,
                                    [&](const Tensor<D>& images, const Tensor<D, Index>& labels) {
                                      return step(net, images, labels, options.label_smoothing);
                                    },
                                    options,
                                    {.evaluate = evaluate,
                                     .schedule = schedule.get(),
                                     .schedule_by_step = true,
                                     .callbacks = {&files},
                                     .replicas = &net.replicas()});
  if (last) std::printf("test: %s\n", accuracy_text(*last).c_str());
  return report.exit_status();
}

template <Device D>
int run(const ImageOptions& options, const distributed::Communicator& world) {
  manual_seed(std::uint64_t(options.seed));
  const PictureData pictures = load_pictures(options);
  const auto net = make_network<D>({options, Index(pictures.training.classes().size()), world});
  introduce(options, pictures, net->new_layers, DeviceTraits<D>::name);
  if (!options.evaluate) return train_network(*net, pictures, options);
  std::fputs(speed_text(*net, pictures.test(), options).c_str(), stdout);
  return 0;
}

int main(int argc, char** argv) try {
  const support::Ranks ranks(argc, argv);
  ImageOptions options = parse_image_options(argc, argv);
  if (options.help) {
    std::printf("%s%s", image_help, support::options_help);
    return 0;
  }
  ranks.prepare(options);
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options, ranks.world()); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
