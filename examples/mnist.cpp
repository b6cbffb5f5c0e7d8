// Trains a network on the handwritten digits of MNIST. ./examples/run mnist --help lists the options.
#include <tern/tern.hpp>
#include <tern/train/train.hpp>

using namespace tern;

/// 784-512-512-10 with dropout.
template <Device D, class T = float>
struct Mlp : nn::Module<D, T> {
  nn::Linear<D, T> hidden1{784, 512}, hidden2{512, 512}, out{512, 10};
  nn::Dropout<D, T> dropout{0.2};
  TERN_FIELDS(Mlp, hidden1, hidden2, out, dropout)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    auto x = dropout(relu(hidden1(images.flatten(1))));
    return out(dropout(relu(hidden2(x))));
  }
};

/// 784-128-10.
template <Device D, class T = float>
struct SmallMlp : nn::Module<D, T> {
  nn::Linear<D, T> hidden{784, 128}, out{128, 10};
  TERN_FIELDS(SmallMlp, hidden, out)

  Tensor<D, T> forward(const Tensor<D, T>& images) { return out(relu(hidden(images.flatten(1)))); }
};

/// How many of the images are classified rightly, as a fraction.
template <Device D, class Net>
double accuracy(Net& net, const data::Mnist& set) {
  const InferenceMode inference;
  net.eval();
  Index right = 0;
  for (auto& [x, y] : data::loader<D>(set, {.batch_size = 1000})) right += (net(x).argmax(1) == y).sum().item();
  return double(right) / double(set.size());
}

/// Draws the first images that the network gets wrong.
template <Device D, class Net>
void show_mistakes(Net& net, const data::Mnist& set, Index count) {
  const InferenceMode inference;
  net.eval();
  for (auto& [x, y] : data::loader<D>(set, {.batch_size = 1})) {
    const Index guess = net(x).argmax(1).item(), truth = y.item();
    if (guess == truth) continue;
    if (count-- == 0) break;
    std::printf("a %lld, taken for a %lld\n", (long long)truth, (long long)guess);
    const auto pixels = x.reshape({28, 28});
    for (int row = 0; row < 28; row += 2) {
      for (int column = 0; column < 28; ++column) {
        const float ink = pixels(row, column) + pixels(row + 1, column);
        std::putchar(" .:*#"[std::min(int(ink * 2.5f), 4)]);
      }
      std::putchar('\n');
    }
  }
}

template <Device D, class Net, class Optimizer>
void train_network(Net& net, Optimizer& optimizer, const data::MnistSource& mnist, const train::Options& options) {
  train::Session session(options, mnist.source.c_str(), DeviceTraits<D>::name);
  auto batches = data::loader<D>(
      mnist.train, {.batch_size = options.batch_size, .shuffle = true, .seed = std::uint64_t(options.seed)});
  train::Position done;
  if (!options.resume.empty()) done = train::load_checkpoint(options.resume, net, optimizer);

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
      right += (scores.detach().argmax(1) == y).to(f32).sum();
      timer.step_done(y.numel(), [&] { return loss.item(); });
      if (session.interrupted()) break;
    }
    done.batch = batch;
    if (session.interrupted() && batch < batches.size()) break;
    auto receipt = timer.finish(0, 0);
    receipt.loss = loss_sum.item() / double(receipt.samples);
    receipt.accuracy = right.item() / double(receipt.samples);
    receipt.test_accuracy = accuracy<D>(net, mnist.test);
    session.finish(done.epoch + 1, receipt);
    if (!options.save.empty()) train::save_checkpoint(options.save, net, optimizer, {done.epoch + 1, 0});
  }
  if (session.interrupted()) {
    const std::string path = options.save.empty() ? "mnist.interrupted.safetensors" : options.save;
    train::save_checkpoint(path, net, optimizer, done);
    std::printf("interrupted; to go on: --resume %s\n", path.c_str());
  }
  if (options.show > 0) show_mistakes<D>(net, mnist.test, options.show);
}

template <Device D>
void run(const train::Options& options) {
  const auto mnist = data::mnist_source({.folder = options.data});
  if (mnist.source == "generated")
    std::printf("NOT MNIST: %s; these are digits drawn by this program.\n", mnist.reason.c_str());
  std::printf("%s: %s, %d threads, %s\n", options.model.c_str(), DeviceTraits<D>::name, num_threads(),
              build_info().instruction_set);
  manual_seed(std::uint64_t(options.seed));
  if (options.model == "mlp") {
    Mlp<D> net;
    optim::RMSprop optimizer(net.parameters(), {.lr = options.lr});
    train_network<D>(net, optimizer, mnist, options);
  } else if (options.model == "mlp_small") {
    SmallMlp<D> net;
    optim::SGD optimizer(net.parameters(), {.lr = options.lr * 100, .momentum = 0.9});
    train_network<D>(net, optimizer, mnist, options);
  } else {
    fail("mnist", {"unknown model '", options.model, "': there are mlp and mlp_small"});
  }
}

int main(int argc, char** argv) try {
  const auto options = train::parse_options(argc, argv, {.model = "mlp"});
  if (options.help) {
    std::printf("usage: mnist [options], models: mlp (784-512-512-10), mlp_small (784-128-10)\n%s", train::options_help);
    return 0;
  }
  if (options.precision != "f32") fail("mnist", {"precision must be f32, not '", options.precision, "'"});
  if (options.threads) set_num_threads(options.threads);
  with_device(options.device, [&]<Device D>(D) { run<D>(options); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
