#include "support/tensors.hpp"

#include <tern/ops/ops.hpp>
#include <tern/profile/ledger.hpp>
#include <tern/train/epoch_timer.hpp>

#include "../profile/emulated_time.hpp"

namespace train_epoch_timer {
using namespace tern_test;

namespace {

void wait(double seconds) {
  for (const double start = tern::detail::now(); tern::detail::now() - start < seconds;) {}
}

}  // namespace

TEST_CASE("an epoch's time is split by phase") {
  const double start = tern::detail::now();
  train::EpochTimer timer;
  wait(0.02);
  timer.input_done();
  wait(0.01);
  timer.forward_done();
  wait(0.03);
  timer.backward_done();
  timer.step_done(60);
  wait(0.01);
  timer.input_done();
  timer.step_done(40);
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

TEST_CASE("an epoch's operations are its own") {
  const auto a = ones<Cpu>({20, 30}), b = ones<Cpu>({30, 40});
  matmul(a, b);
  train::EpochTimer timer;
  matmul(a, b);
  timer.step_done(10);
  CHECK(timer.finish().flops == 2.0 * 20 * 30 * 40);
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
  train::EpochTimer timer;
  for (int i = 0; i < 2; ++i) {
    timer.input_done();
    x + x;  // 3 us
    timer.forward_done();
    x.zero_(), x.zero_();  // 4 us
    timer.backward_done();
    x.zero_();  // 2 us
    x.cpu();    // 50.6 us
    timer.step_done(10);
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
  CHECK_FALSE(train::EpochTimer().finish().of_device);  // no ledger
}

}  // namespace train_epoch_timer
