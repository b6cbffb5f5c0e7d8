#include "support/printed.hpp"
#include "support/tensors.hpp"

#include <tern/data/dataset.hpp>
#include <tern/data/loader.hpp>
#include <tern/nn/linear.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/train/fit.hpp>

#include "../io/temporary_folder.hpp"

namespace train_callbacks {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Writes down what it is called for.
struct Recorder : train::Callback {
  std::string calls;
  std::vector<double> losses;
  void on_train_begin(const train::Report& report) override { calls += "begin " + std::to_string(report.first_epoch); }
  void on_batch_end(const train::BatchReport& batch) override {
    calls += " " + std::to_string(batch.epoch) + ":" + std::to_string(batch.batch) + "/" +
             std::to_string(batch.batches) + "=" + std::to_string(batch.samples);
    losses.push_back(batch.loss());
  }
  void on_epoch_end(const train::Report& report) override {
    calls += " epoch " + std::to_string(report.epochs.back().epoch);
  }
  void on_train_end(const train::Report& report) override { calls += " end " + std::to_string(report.epochs.size()); }
};

/// Trains on 5 samples in batches of 2.
template <class D>
train::Report fit(const train::Options& options, const train::FitParts& parts) {
  manual_seed(1);
  nn::Linear<D> net(4, 3);
  optim::SGD sgd(net.parameters(), {.lr = 0.5});
  const auto x = spread_tensor<Cpu, float>({5, 4});
  auto batches = data::loader<D>(data::TensorDataset(x, x.narrow(1, 0, 3).argmax(1)), {.batch_size = 2});
  return train::fit(net, sgd, batches, options, parts);
}

train::Report report_of_two() {
  train::Report report{.device = "cuda"};
  report.epochs.push_back(
      {.epoch = 1, .loss = 0.5, .figure = 0.25, .seconds = 2, .samples = 100, .test_figure = std::nan(""), .lr = 0.1});
  report.epochs.push_back({.epoch = 2,
                           .loss = 0.25,
                           .figure = 0.5,
                           .seconds = 4,
                           .samples = 100,
                           .test_figure = 0.75,
                           .validation_figure = 0.625,
                           .lr = 0.01});
  return report;
}

}  // namespace

TEMPLATE_TEST_CASE("callbacks: fit() calls them for each batch and epoch, and none prints if it is not verbose", "",
                   TERN_TEST_DEVICES) {
  Recorder recorder;
  train::Report report;
  const std::string text =
      printed([&] { report = fit<TestType>({.epochs = 2}, {.verbose = false, .callbacks = {&recorder}}); });
  CHECK(text == "");
  CHECK(recorder.calls == "begin 1 1:1/3=2 1:2/3=4 1:3/3=5 epoch 1 2:1/3=2 2:2/3=4 2:3/3=5 epoch 2 end 2");
  REQUIRE(recorder.losses.size() == 6);
  CHECK(close(report.epochs[0].loss, (2 * recorder.losses[0] + 2 * recorder.losses[1] + recorder.losses[2]) / 5, 1e-6,
              0));
  CHECK(report.epochs[1].lr == 0.5);
}

TEST_CASE("callbacks: an Error of one at the start comes before the first epoch") {
  const TemporaryFolder folder;
  train::CsvLogger log(folder / "none/log.csv");
  Recorder recorder;
  CHECK_THAT(error_of([&] { fit<Cpu>({}, {.verbose = false, .callbacks = {&log, &recorder}}); }),
             ContainsSubstring("No such file or directory"));
  CHECK(recorder.calls == "");
}

TEST_CASE("callbacks: a CSV log has a line for each epoch, and goes on where a training does") {
  const TemporaryFolder folder;
  const std::string path = folder / "log.csv";
  const auto log = [&](train::Report report) {
    train::CsvLogger logger(path);
    const std::vector<train::EpochReport> epochs = std::move(report.epochs);
    report.epochs.clear();
    logger.on_train_begin(report);
    for (const auto& epoch : epochs) report.epochs.push_back(epoch), logger.on_epoch_end(report);
  };
  const std::string names =
                        "epoch,loss,accuracy,test_accuracy,validation_accuracy,lr,seconds,samples,images_per_second\n",
                    first = "1,0.5,0.25,,,0.1,2,100,50\n", second = "2,0.25,0.5,0.75,0.625,0.01,4,100,25\n";
  for (int time = 0; time < 2; ++time) {
    log(report_of_two());
    CHECK(content_of(path) == names + first + second);
  }
  train::Report resumed = report_of_two();
  resumed.first_epoch = 2;
  resumed.epochs.erase(resumed.epochs.begin());
  log(resumed);
  CHECK(content_of(path) == names + first + second + second);
  train::Report words = report_of_two();
  words.metric = train::mean_loss, words.unit = "words";
  log(words);
  CHECK_THAT(
      content_of(path),
      ContainsSubstring("epoch,loss,test_loss,validation_loss,lr,seconds,samples,words_per_second\n1,0.5,,,0.1,2,"));
}

TEST_CASE("callbacks: a line of progress: bar, share, loss, rate and time left") {
  CHECK(train::progress_text(3, 15000, 60000, 0.25, 2) ==
        "epoch 3 [#######.......................]  25%  loss 0.2500  7500/s  6 s left");
  CHECK(train::progress_text(1, 10, 10, 1, 5) ==
        "epoch 1 [##############################] 100%  loss 1.0000  2/s  0 s left");
}

TEST_CASE("callbacks: a bar of nothing divides by nothing, and none is longer than its frame") {
  const std::string empty = "epoch 1 [..............................]   0%  loss 0.0000  0/s  0 s left";
  CHECK(train::progress_text(1, 0, 0, 0, 0) == empty);
  CHECK(train::progress_text(1, 0, 10, 0, 0) == empty);
  CHECK(train::progress_text(1, 30, 20, 0, 1) ==
        "epoch 1 [##############################] 100%  loss 0.0000  30/s  0 s left");
}

TEST_CASE("callbacks: without a terminal the bar prints reports alone, and asks for no loss") {
  const std::string text = printed([] {
    train::ProgressBar bar;
    train::Report report = report_of_two();
    report.target = 0.7;
    bar.on_train_begin(report);
    bar.on_batch_end({.batches = 2, .loss = []() -> double { throw std::runtime_error("asked"); }});
    bar.on_epoch_end(report);
    bar.on_train_end(report);
  });
  CHECK(text.find("epoch 2  loss 0.2500  train 50.00%  test 75.00%  4.00 s  25 images/s\n") == 0);
  CHECK_THAT(text, ContainsSubstring("\n         test 75.00%, the target, in 0.00 s\n2 epochs in 0.00 s\n"));
}

TEST_CASE("callbacks: on a terminal the bar is redrawn in place, and gone when the epoch ends") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE((terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0));
  const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(end >= 0);
  const std::string text = printed_to(end, terminal, [] {
    train::ProgressBar bar;
    const auto loss = [] { return 0.5; };
    bar.on_train_begin(report_of_two());
    bar.on_batch_end({.epoch = 2, .batch = 1, .batches = 4, .samples = 5, .seconds = 1, .loss = loss});
    bar.on_batch_end(
        {.epoch = 2, .batch = 2, .batches = 4, .samples = 10, .seconds = 2, .loss = loss});  // drawn just now
    bar.on_batch_end({.epoch = 2, .batch = 4, .batches = 4, .samples = 20, .seconds = 3, .loss = loss});
    std::printf("evaluated\n");
    bar.on_epoch_end(report_of_two());
  });
  CHECK(text.find(
            "\r\033[Kepoch 2 [#######.......................]  25%  loss 0.5000  5/s  3 s left\r\033[Kevaluated") == 0);
  CHECK(text.find("s left") == text.rfind("s left"));
}

}  // namespace train_callbacks
