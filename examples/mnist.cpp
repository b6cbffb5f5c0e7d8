// Trains a network on the handwritten digits of MNIST. ./examples/run mnist --help lists the options.
#include <tern/tern.hpp>
#include <tern/train/train.hpp>

using namespace tern;

/// Dense layers with relu, dropout after each but the last.
template <Device D, class T = float>
struct Mlp : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  nn::Dropout<D, T> dropout;

  Mlp(std::initializer_list<Index> sizes, double dropped) : dropout(dropped) {
    for (const Index* size = sizes.begin(); size + 1 != sizes.end(); ++size) layers.emplace_back(size[0], size[1]);
  }
  TERN_FIELDS(Mlp, layers, dropout)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    auto x = images.flatten(1);
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) x = dropout(relu(layers[i](x)));
    return layers.back()(x);
  }
};

/// How many images are classified rightly.
template <Device D>
Tensor<D> count_right(const Tensor<D>& scores, const Tensor<D, Index>& labels) {
  return (scores.argmax(1) == labels).to(f32).sum();
}

/// The same as a fraction of a data set.
template <Device D>
double accuracy(Mlp<D>& net, const data::Mnist& set) {
  const InferenceMode inference;
  net.eval();
  auto right = zeros<D>({});
  for (auto& [x, y] : data::loader<D>(set, {.batch_size = 1000})) right += count_right(net(x), y);
  return right.item() / double(set.size());
}

/// Draws the first images that the network gets wrong.
template <Device D>
void show_mistakes(Mlp<D>& net, const data::Mnist& set, Index count) {
  const InferenceMode inference;
  net.eval();
  for (Index i = 0; i < set.size() && count > 0; ++i) {
    const auto [x, y] = set.batch({&i, 1});
    const Index guess = net(x.to(D{})).argmax(1).item(), truth = y.item();
    if (guess == truth) continue;
    --count;
    std::printf("a %lld, taken for a %lld\n", (long long)truth, (long long)guess);
    const float* pixel = x.data();
    for (int row = 0; row < 14; ++row, pixel += 28) {  // two rows of pixels each
      for (int column = 0; column < 28; ++column, ++pixel) {
        const float ink = pixel[0] + pixel[28];
        std::putchar(" .:*#"[std::min(int(ink * 2.5f), 4)]);
      }
      std::putchar('\n');
    }
  }
}

/// True once all epochs are done; false where Ctrl-C came first.
template <Device D>
bool train_network(Mlp<D>& net, optim::Optimizer& optimizer, const train::Options& options) {
  const auto mnist = data::mnist_source({.folder = options.data});
  if (mnist.source == "generated")
    std::printf("NOT MNIST: %s; these are digits drawn by this program.\n", mnist.reason.c_str());
  std::printf("%s: %s, %d threads, %s\n", options.model.c_str(), DeviceTraits<D>::name, num_threads(),
              build_info().instruction_set);
  train::Session session(options, mnist.source.c_str(), DeviceTraits<D>::name);
  auto batches = data::loader<D>(
      mnist.train, {.batch_size = options.batch_size, .shuffle = true, .seed = std::uint64_t(options.seed)});
  optim::CosineAnnealingLR schedule(optimizer, {.T_max = options.epochs});
  train::Position done;
  if (!options.resume.empty()) done = train::load_checkpoint(options.resume, net, optimizer, &schedule);

  for (; done.epoch < options.epochs && !session.interrupted(); ++done.epoch, done.batch = 0) {
    batches.set_epoch(done.epoch);
    net.train();
    auto loss_sum = zeros<D>({}), right = zeros<D>({});
    train::EpochTimer timer(done.epoch + 1, mnist.train.size());
    Index batch = 0;
    for (auto& [x, y] : batches) {
      if (batch++ < done.batch) continue;  // done before the checkpoint
      timer.input_done();
      const auto scores = net(x);
      const auto loss = cross_entropy(scores, y);
      timer.forward_done();
      optimizer.zero_grad();
      loss.backward();
      timer.backward_done();
      optimizer.step();
      loss_sum += loss.detach() * double(y.numel());
      right += count_right(scores.detach(), y);
      timer.step_done(y.numel(), [&] { return loss.item(); });
      if (session.interrupted()) break;
    }
    done.batch = batch;
    if (session.interrupted() && batch < batches.size()) break;
    const double loss = loss_sum.item(), hits = right.item();  // waits for what the device has still to do of the epoch
    auto receipt = timer.finish();
    receipt.loss = loss / double(receipt.samples);
    receipt.accuracy = hits / double(receipt.samples);
    receipt.test_accuracy = accuracy<D>(net, mnist.test);
    session.finish(done.epoch + 1, receipt);
    schedule.step();
    if (!options.save.empty()) train::save_checkpoint(options.save, net, optimizer, {done.epoch + 1, 0}, &schedule);
  }
  if (session.interrupted()) {
    const std::string path = options.save.empty() ? "mnist.interrupted.safetensors" : options.save;
    train::save_checkpoint(path, net, optimizer, done, &schedule);
    std::printf("interrupted; to go on: --resume %s\n", path.c_str());
  }
  if (options.show > 0) show_mistakes<D>(net, mnist.test, options.show);
  return !session.interrupted();
}

template <Device D>
bool run(const train::Options& options) {
  manual_seed(std::uint64_t(options.seed));
  if (options.model == "mlp") {
    Mlp<D> net({784, 512, 512, 10}, 0.2);
    optim::RMSprop optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 1e-3});
    return train_network<D>(net, optimizer, options);
  }
  Mlp<D> net({784, 128, 10}, 0);
  optim::SGD optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 0.1, .momentum = 0.9});
  return train_network<D>(net, optimizer, options);
}

int main(int argc, char** argv) try {
  const auto options = train::parse_options(argc, argv, {.model = "mlp"});
  if (options.help) {
    std::printf("usage: mnist [options], models: mlp (784-512-512-10), mlp_small (784-128-10)\n%s", train::options_help);
    return 0;
  }
  train::check_choice("--model", options.model, {"mlp", "mlp_small"});
  train::check_choice("--precision", options.precision, {"f32"});
  if (options.threads) set_num_threads(int(options.threads));
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options); }) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
