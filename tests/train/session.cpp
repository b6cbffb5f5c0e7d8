#include "support/json.hpp"
#include "support/printed.hpp"
#include "support/tensors.hpp"

#include <csignal>

#include <tern/train/session.hpp>

#include "../io/temporary_folder.hpp"
#include "../profile/emulated_time.hpp"

namespace train_session {
using namespace tern_test;

namespace {

void wait(double seconds) {
  for (const double start = tern::detail::now(); tern::detail::now() - start < seconds;) {}
}

}  // namespace

TEST_CASE("a session prints each epoch's report and keeps the report's file up to date") {
  const TemporaryFolder folder;
  train::Options options;
  options.model = "mlp";
  options.json = folder / "report.json";
  options.price = 3.6;
  const std::string text = printed([&] {
    train::Session session(options, "generated", "cpu");
    session.finish(1, {.loss = 0.5, .figure = 0.75, .seconds = 2, .samples = 1000, .test_figure = 0.7});
    CHECK(tern_test::parse_json(content_of(options.json))["epochs"].size() == 1);
    session.finish(2, {.loss = 0.25, .figure = 0.9, .seconds = 1, .samples = 1000, .test_figure = 0.8});
    CHECK(session.report().epochs.size() == 2);
    CHECK(session.report().test_figure == 0.8);
  });
  CHECK(text.find("epoch 1  loss 0.5000  train 75.00%  test 70.00%  2.00 s  500 images/s\n") == 0);
  CHECK(text.find("\nepoch 2  loss 0.2500") != std::string::npos);
  CHECK(text.find("$0.001000 an epoch") != std::string::npos);  // a second at $3.60 an hour
  const auto report = tern_test::parse_json(content_of(options.json));
  CHECK(report["data"] == "generated");
  CHECK(report["device"] == "cpu");
  CHECK(report["threads"] == get_num_threads());
  CHECK(report["test_accuracy"] == 0.8);
  CHECK(report["epochs"][1]["loss"] == 0.25);
}

TEST_CASE("a session's trace is that of its last epoch", "[cuda]") {
  const TemporaryFolder folder;
  train::Options options;
  options.trace = folder / "trace.json";
  const auto pieces = [&] {
    Index count = 0;
    const auto trace = tern_test::parse_json(content_of(options.trace));
    for (const auto& event : trace["traceEvents"]) count += event["ph"] == "X";
    return count;
  };
  printed([&] {
    train::Session session(options, "generated", "cuda");
    const auto x = zeros<Cuda>({4});
    x.fill_(1);
    session.finish(1, {});
    CHECK(pieces() == 2);
    x.fill_(2);
    session.finish(2, {});
    CHECK(pieces() == 1);
  });
  CHECK(ledger::page().kernels == 0);
}

TEST_CASE("a session says at its start what cannot be written at its end") {
  const TemporaryFolder folder;
  for (std::string train::Options::* const file :
       {&train::Options::save, &train::Options::json, &train::Options::svg, &train::Options::trace}) {
    train::Options options;
    options.*file = folder / "none/x";
    CHECK_THAT(error_of([&] { train::Session(options, "mnist", "cpu"); }),
               Catch::Matchers::ContainsSubstring("No such file or directory"));
    options.*file = folder.path();
    CHECK_THAT(error_of([&] { train::Session(options, "mnist", "cpu"); }),
               Catch::Matchers::ContainsSubstring("is not a regular file"));
    options.*file = folder / "x";
    CHECK(error_of([&] { train::Session(options, "mnist", "cpu"); }) == "");
  }
  CHECK(folder.file_count() == 0);
}

TEST_CASE("Ctrl-C interrupts a session, not the program") {
  const train::Session session(train::Options{}, "mnist", "cpu");
  CHECK(!session.interrupted());
  std::raise(SIGINT);
  CHECK(session.interrupted());
}

TEST_CASE("an epoch's time is split by phase") {
  const double start = tern::detail::now();
  train::EpochTimer timer(1, 100);
  wait(0.02);
  timer.input_done();
  wait(0.01);
  timer.forward_done();
  wait(0.03);
  timer.backward_done();
  timer.step_done(60, [] { return 0.0; });
  wait(0.01);
  timer.input_done();
  timer.step_done(40, [] { return 0.0; });
  const train::EpochReport report = timer.finish();
  const double passed = tern::detail::now() - start;
  CHECK(report.samples == 100);
  CHECK(report.input_s >= 0.03);
  CHECK(report.forward_s >= 0.01);
  CHECK(report.backward_s >= 0.03);
  CHECK(report.optimizer_s >= 0);
  CHECK(report.seconds <= passed);
  const double phases = report.input_s + report.forward_s + report.backward_s + report.optimizer_s;
  CHECK(phases <= report.seconds);
}

TEST_CASE("on a terminal the progress line is gone when the epoch's report is printed") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE((terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0));
  const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(end >= 0);
  const std::string text = printed_to(end, terminal, [] {
    train::Session session(train::Options{}, "generated", "cpu");
    train::EpochTimer timer(1, 2);
    timer.step_done(10, [] { return 0.5; });
    session.finish(1, timer.finish());
  });
  CHECK(text.find("s left\r\033[Kepoch 1  loss ") != std::string::npos);
}

TEST_CASE("an epoch's operations are its own, and the loss is asked for only where it is shown") {
  const auto a = ones<Cpu>({20, 30}), b = ones<Cpu>({30, 40});
  matmul(a, b);
  int asked = 0;
  double flops = 0;
  printed([&] {
    train::EpochTimer timer(1, 10);
    matmul(a, b);
    timer.step_done(10, [&] { return double(++asked); });
    flops = timer.finish().flops;
  });
  CHECK(flops == 2.0 * 20 * 30 * 40);
  CHECK(asked == 0);  // there is no terminal
}

TEST_CASE(
    "where a ledger lists a device's work, an epoch's phases have the device's times, and add up with its idle time",
    "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const auto x = zeros<Cuda>({25000});
  x + x;
  cuda::synchronize();
  ledger::start();
  train::EpochTimer timer(1, 2, false);
  for (int i = 0; i < 2; ++i) {
    timer.input_done();
    x + x;  // 3 us
    timer.forward_done();
    x.zero_(), x.zero_();  // 4 us
    timer.backward_done();
    x.zero_();  // 2 us
    x.cpu();    // 50.6 us
    timer.step_done(10, [] { return 0.0; });
  }
  const train::EpochReport report = timer.finish();
  ledger::stop();
  CHECK(report.of_device);
  CHECK(report.forward_s == exactly(6e-6));
  CHECK(report.backward_s == exactly(8e-6));
  CHECK(report.optimizer_s == exactly(4e-6));
  CHECK(report.transfer_s == exactly(101.2e-6));
  CHECK(report.captured_s == 0);
  CHECK(report.other_s == 0);
  const double parts = report.forward_s + report.backward_s + report.optimizer_s + report.transfer_s + report.idle_s;
  CHECK(parts == Approx(report.seconds));
  CHECK_FALSE(train::EpochTimer(1, 2, false).finish().of_device);  // no ledger
}

}  // namespace train_session
