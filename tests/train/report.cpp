#include "support/catch.hpp"

#include <tern/train/report.hpp>

namespace train_report {
using namespace tern;

namespace {

train::EpochReport epoch_report() {
  return {.epoch = 3,
          .loss = 0.25,
          .figure = 0.921875,
          .seconds = 4,
          .forward_s = 1,
          .backward_s = 2,
          .optimizer_s = 0.5,
          .input_s = 0.25,
          .samples = 60000,
          .flops = 375e9,
          .test_figure = 0.96875,
          .trained_s = 8};
}

}  // namespace

TEST_CASE("an epoch report as text: loss, accuracy, rate, the split of the time, the share of the peak") {
  CHECK(train::epoch_text(epoch_report(), 200e9) ==
        "epoch 3  loss 0.2500  train 92.19%  test 96.88%  4.00 s  15000 images/s\n"
        "         forward 25%  backward 50%  optimiser 12%  input 6.2%  |  100 GFLOP/s, 50% of this machine's 200\n");
}

TEST_CASE("an epoch report without a peak, of work on another device, tells the rate alone") {
  const std::string text = train::epoch_text(epoch_report(), 0);
  CHECK(text.substr(text.find('|')) == "|  100 GFLOP/s\n");
}

TEST_CASE(
    "an epoch report of a traced epoch tells what the device did, captured steps as one part, and its idle time") {
  auto epoch = epoch_report();
  epoch.of_device = true;
  epoch.transfer_s = 0.08, epoch.idle_s = 0.42, epoch.wait_s = 0.4;
  const std::string text = train::epoch_text(epoch, 0);
  CHECK(text.substr(text.find('\n') + 1) ==
        "         on the device: forward 25%  backward 50%  optimiser 12%  transfers 2.0%  other 0.0%  idle 10%\n"
        "         input 6.2%  |  100 GFLOP/s\n"
        "         waiting for the device 10.0%\n");
  epoch.forward_s = epoch.backward_s = epoch.optimizer_s = 0;
  epoch.captured_s = 3.5;
  CHECK(train::epoch_text(epoch, 0).find("optimiser 0%  captured steps 88%  transfers") != std::string::npos);
}

TEST_CASE("an epoch report says how many steps were replays of a captured one, or why none") {
  auto epoch = epoch_report();
  epoch.replays = 466;
  epoch.replay_s = 3;
  const auto last_line = [](const std::string& text) { return text.substr(text.rfind('\n', text.size() - 2) + 1); };
  CHECK(last_line(train::epoch_text(epoch, 0)) == "         466 captured steps 75%\n");
  epoch.replays = 0;
  epoch.refusal = "a step is of several batches";
  CHECK(last_line(train::epoch_text(epoch, 0)) == "         steps are not captured: a step is of several batches\n");
}

TEST_CASE("an epoch report tells the figure on held-out data, and whether it is the best") {
  auto epoch = epoch_report();
  epoch.validation_figure = 0.75;
  const auto last_line = [](const std::string& text) { return text.substr(text.rfind('\n', text.size() - 2) + 1); };
  CHECK(last_line(train::epoch_text(epoch, 0)) == "         held out 75.00%\n");
  epoch.is_best = true;
  CHECK(last_line(train::epoch_text(epoch, 0)) == "         held out 75.00%, the best so far\n");
}

TEST_CASE("an epoch report of nothing divides by nothing") {
  const std::string text = train::epoch_text({}, 0);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
}

TEST_CASE("a report whose figure is the loss has the test's beside it, and no second one of training") {
  auto epoch = epoch_report();
  epoch.figure = std::nan("");
  const std::string text = train::epoch_text(epoch, 200e9, train::mean_loss, "characters");
  CHECK(text.substr(0, text.find('\n')) == "epoch 3  loss 0.2500  test 0.9688  4.00 s  15000 characters/s");
}

TEST_CASE("a report's total as text: epochs and seconds") {
  train::Report report;
  report.epochs = {epoch_report()};
  CHECK(train::total_text(report) == "1 epoch in 8.00 s\n");
  report.epochs.push_back(epoch_report());
  CHECK(train::total_text(report) == "2 epochs in 8.00 s\n");
  CHECK(train::total_text({}) == "0 epochs in 0.00 s\n");
}

}  // namespace train_report
