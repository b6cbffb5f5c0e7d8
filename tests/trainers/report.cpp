#include "support/json.hpp"
#include "support/printed.hpp"
#include "support/tensors.hpp"

#include "../../examples/support/report.hpp"
#include "../io/temporary_folder.hpp"

namespace trainers_report {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

train::EpochReport epoch_report() {
  return {.loss = 0.25,
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

TEST_CASE("a report as JSON holds what every trainer's does") {
  const train::Report report{
      .device = "cpu", .threads = 2, .test_figure = 0.96875, .epochs = {epoch_report(), epoch_report()}};
  const auto json = tern_test::parse_json(support::report_json(report, "m\"lp", "mnist", 0));
  CHECK(json["model"] == "m\"lp");
  CHECK(json["data"] == "mnist");
  CHECK(json["device"] == "cpu");
  CHECK(json["threads"] == 2);
  CHECK(json["test_accuracy"] == 0.96875);
  CHECK(json["seconds"] == 8);
  REQUIRE(json["epochs"].size() == 2);
  const auto epoch = json["epochs"][1];
  CHECK(epoch["loss"] == 0.25);
  CHECK(epoch["accuracy"] == 0.921875);
  CHECK(epoch["seconds"] == 4);
  CHECK(epoch["forward_s"] == 1);
  CHECK(epoch["backward_s"] == 2);
  CHECK(epoch["optimizer_s"] == 0.5);
  CHECK(epoch["input_s"] == 0.25);
  CHECK(epoch["transfer_s"] == 0);
  CHECK(epoch["wait_s"] == 0);
  CHECK(epoch["samples"] == 60000);
  CHECK_FALSE(json.contains("cut"));
  CHECK(tern_test::parse_json(support::report_json({}, "", "", 0))["epochs"].empty());
}

TEST_CASE("a report as JSON tells what was done of an epoch that was interrupted") {
  train::Report report;
  report.epochs = {epoch_report()};
  report.cut = epoch_report();
  report.part = 0.25;
  const auto json = tern_test::parse_json(support::report_json(report, "m\"lp", "mnist", 0));
  CHECK(json["epochs"].size() == 1);
  CHECK(json["cut"] == nlohmann::json({{"part", 0.25}, {"seconds", 4}, {"samples", 60000}}));
}

TEST_CASE("a report as JSON has the device's times of a traced epoch, and no second figure where it is the loss") {
  train::Report report;
  report.metric = train::mean_loss;
  report.epochs = {epoch_report()};
  report.epochs[0].of_device = true, report.epochs[0].captured_s = 3.5, report.epochs[0].idle_s = 0.42;
  const std::string json = support::report_json(report, "", "", 0);
  CHECK_THAT(json, ContainsSubstring("\"captured_s\": 3.5, \"other_s\": 0, \"idle_s\": 0.42") &&
                       ContainsSubstring("\"loss\": 0.25, \"test_loss\": 0.96875"));
}

TEST_CASE("the options' files are kept up to date, and the price is told") {
  const TemporaryFolder folder;
  support::Options options;
  options.model = "mlp", options.json = folder / "report.json", options.svg = folder / "curve.svg", options.price = 0.9;
  train::Report report;
  report.target = 0.95;
  const std::string text = printed([&] {
    support::OptionsReport files(options, "generated");
    files.on_train_begin(report);
    CHECK(folder.file_count() == 0);
    report.epochs.push_back(epoch_report());
    files.on_epoch_end(report);
    CHECK_THAT(content_of(options.svg), ContainsSubstring("epochs 1 to 1 of mlp on generated"));
    files.on_train_end(report);
  });
  // $0.90 an hour: 4 s cost $0.001; 60000 images for that are 60 million a dollar.
  CHECK(text ==
        "         $0.001000 an epoch, 60000000 images a dollar\n         $0.002000 to the target\n         $0.002000 "
        "in all\n");
  const auto json = parse_json(content_of(options.json));
  CHECK(json["data"] == "generated");
  CHECK(json["seconds_to_target"] == 8);
  CHECK(json["dollars_to_target"] == Approx(0.002));
  report.epochs[0].test_figure = 0.9;
  const auto missed = parse_json(support::report_json(report, "", "", 0));
  CHECK(missed["seconds_to_target"].is_null());
  CHECK_FALSE(missed.contains("dollars_to_target"));
}

TEST_CASE("the options' files are checked before the first epoch") {
  const TemporaryFolder folder;
  for (std::string support::Options::* const file :
       {&support::Options::json, &support::Options::svg, &support::Options::trace}) {
    support::Options options;
    options.*file = folder / "none/x";
    CHECK_THAT(error_of([&] { support::OptionsReport(options, "mnist").on_train_begin({}); }),
               ContainsSubstring("No such file or directory"));
  }
  CHECK(folder.file_count() == 0);
}

TEST_CASE("an interrupted training is told how to go on") {
  support::Options options;
  options.command = "examples/run mnist --epochs 4";
  train::Report report;
  report.interrupted = 15, report.checkpoint = "a b";
  CHECK(printed([&] { support::OptionsReport(options, "mnist").on_train_end(report); }) ==
        "to go on: examples/run mnist --epochs 4 --resume 'a b'\n");
}

TEST_CASE("the trace is that of the last epoch", "[cuda]") {
  const TemporaryFolder folder;
  support::Options options;
  options.trace = folder / "trace.json";
  const auto pieces = [&] {
    Index count = 0;
    const auto trace = parse_json(content_of(options.trace));
    for (const auto& event : trace["traceEvents"]) count += event["ph"] == "X";
    return count;
  };
  {
    support::OptionsReport files(options, "generated");
    train::Report report;
    files.on_train_begin(report);
    const auto x = zeros<Cuda>({4});
    x.fill_(1);
    report.epochs.resize(1);
    files.on_epoch_end(report);
    CHECK(pieces() == 2);
    x.fill_(2);
    files.on_epoch_end(report);
    CHECK(pieces() == 1);
  }
  CHECK(ledger::page().kernels == 0);
}

}  // namespace trainers_report
