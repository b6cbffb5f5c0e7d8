// What training on the digits of MNIST needs besides a network: the loop over epochs, and looks at what was learned. It includes what
// it uses: <tern/tern.hpp>, which has all layers, compiles a twentieth longer.
#pragma once
#include <tern/data/loader.hpp>
#include <tern/data/mnist_source.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/grad_scaler.hpp>
#include <tern/optim/rmsprop.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/tensor/with_device.hpp>
#include <tern/train/train.hpp>

using namespace tern;

/// Trains one of the networks with convolutions; one whose layers compute in 16 bits; one whose elements all are bfloat16. They are
/// compiled in files of their own: mnist.cpp need not wait for them.
bool train_convolutional(const train::Options& options);
bool train_mixed(const train::Options& options);
bool train_bfloat16(const train::Options& options);

/// A float network in the precision that it is trained in: here as it is.
inline constexpr auto in_float = [](auto net) { return net; };

/// What a network makes of images, in float.
template <class Net, Device D>
Tensor<D> scores_of(Net& net, const Tensor<D>& images) {
  return net(images.to(Type<typename Net::value_type>{})).to(f32);
}

/// How many images are classified rightly.
template <Device D>
Tensor<D> count_right(const Tensor<D>& scores, const Tensor<D, Index>& labels) {
  return (scores.argmax(1) == labels).to(f32).sum();
}

/// The same as a fraction of a data set.
template <Device D, class Net>
double accuracy(Net& net, const data::Mnist& set) {
  const InferenceMode inference;
  net.eval();
  auto right = zeros<D>({});
  for (auto& [x, y] : data::loader<D>(set, {.batch_size = 1000})) right += count_right(scores_of(net, x), y);
  return right.item() / double(set.size());
}

/// Draws the first images that the network gets wrong.
template <Device D, class Net>
void show_mistakes(Net& net, const data::Mnist& set, Index count) {
  const InferenceMode inference;
  net.eval();
  for (Index i = 0; i < set.size() && count > 0; ++i) {
    const auto [x, y] = set.batch({&i, 1});
    const Index guess = scores_of(net, x.to(D{})).argmax(1).item(), truth = y.item();
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

/// Trains a network. True once all epochs are done; false where Ctrl-C came first.
template <Device D, class Net>
bool train_network(Net& net, optim::Optimizer& optimizer, const train::Options& options) {
  train::check_precision(options.precision, DeviceTraits<D>::name);
  const auto mnist = data::mnist_source({.folder = options.data});
  const auto warn_of_generated = [&] {
    if (mnist.source == "generated")
      std::printf("NOT MNIST: %s; these are digits drawn by this program.\n", mnist.reason.c_str());
  };
  warn_of_generated();
  std::printf("%s: %s, %d threads, %s\n", options.model.c_str(), DeviceTraits<D>::name, num_threads(),
              build_info().instruction_set);
  std::fputs(train::precision_note(options.precision, DeviceTraits<D>::name).c_str(), stdout);
  train::Session session(options, mnist.source.c_str(), DeviceTraits<D>::name);
  auto batches = data::loader<D>(
      mnist.train, {.batch_size = options.batch_size, .shuffle = true, .seed = std::uint64_t(options.seed)});
  const train::Accumulation groups(options.accumulate, options.batch_size, mnist.train.size());
  optim::CosineAnnealingLR schedule(optimizer, {.T_max = options.epochs});
  optim::GradScaler<D> scaler({.enabled = options.precision == "f16"});
  train::Position done;
  if (!options.resume.empty()) done = train::load_checkpoint(options.resume, net, optimizer, &schedule, &scaler);
  groups.check_resumes(done.batch);

  for (; done.epoch < options.epochs && !session.interrupted(); ++done.epoch, done.batch = 0) {
    batches.set_epoch(done.epoch);
    net.train();
    auto loss_sum = zeros<D>({}), right = zeros<D>({});
    train::EpochTimer timer(done.epoch + 1, mnist.train.size());
    Index batch = 0;
    for (auto& [x, y] : batches) {
      const Index i = batch++;
      if (i < done.batch) continue;  // done before the checkpoint
      timer.input_done();
      const auto scores = scores_of(net, x);
      const auto loss = cross_entropy(scores, y);
      timer.forward_done();
      if (groups.begins(i)) optimizer.zero_grad();
      scaler.scale(loss * groups.share(i)).backward();
      timer.backward_done();
      if (groups.ends(i)) {
        scaler.step(optimizer);
        scaler.update();
      }
      loss_sum += loss.detach() * double(y.numel());
      right += count_right(scores.detach(), y);
      timer.step_done(y.numel(), [&] { return loss.item(); });
      if (session.interrupted() && groups.ends(i)) break;  // a checkpoint holds no gradients
    }
    done.batch = batch;
    if (session.interrupted() && batch < batches.size()) break;
    const double loss = loss_sum.item(), hits = right.item();  // waits for what the device has still to do of the epoch
    auto report = timer.finish();
    report.loss = loss / double(report.samples);
    report.accuracy = hits / double(report.samples);
    report.test_accuracy = accuracy<D>(net, mnist.test);
    session.finish(done.epoch + 1, report);
    schedule.step();
    if (!options.save.empty()) train::save_checkpoint(options.save, net, optimizer, {done.epoch + 1, 0}, &schedule, &scaler);
  }
  if (session.interrupted()) {
    const std::string path = options.save.empty() ? "mnist.interrupted.safetensors" : options.save;
    train::save_checkpoint(path, net, optimizer, done, &schedule, &scaler);
    std::printf("interrupted; to go on: --resume %s\n", path.c_str());
  }
  if (options.show > 0) show_mistakes<D>(net, mnist.test, options.show);
  warn_of_generated();
  return !session.interrupted();
}
