#include "tern/profile/ledger.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"
#include "tern/nn/linear.hpp"
#include "tern/ops/losses.hpp"
#include "tern/ops/matmul.hpp"
#include "tern/optim/sgd.hpp"

using namespace tern;
using namespace tern_test;

namespace {

/// The line of the ledger for this kind of work at a line of this file; one without work if there is none.
ledger::Line entry_at(Work work, int line) {
  for (const ledger::Line& entry : ledger::lines())
    if (entry.work == work && entry.site == tern::text({__FILE__, ":", line})) return entry;
  return {work, "", false};
}

struct Page {
  Page() { ledger::start(); }
  ~Page() { ledger::stop(); }
};

}  // namespace

TEST_CASE("the ledger lists copies and waits by the user's line", "[cuda]") {
  const Page page;
  const auto host = full<Cpu>({1000}, 2);
  const int copies = __LINE__ + 1;
  for (int i = 0; i < 3; ++i) host.cuda();
  const auto x = host.cuda();
  const int back = __LINE__ + 1;
  CHECK((x + x).sum().item() == 4000);
  const ledger::Line to_device = entry_at(Work::to_device, copies), to_host = entry_at(Work::to_host, back);
  CHECK(to_device.count == 3);
  CHECK(to_device.bytes == 3 * 4000);
  CHECK(to_host.count == 1);
  CHECK(to_host.bytes == 4);
  CHECK(entry_at(Work::wait, back).count == 1);
  const std::string report = ledger::report();
  CHECK_THAT(report, Catch::Matchers::ContainsSubstring(to_device.site) && Catch::Matchers::ContainsSubstring("to host"));
  CHECK(report.find("include/tern") == std::string::npos);  // no line inside the library
}

TEST_CASE("a copy's time is the device's", "[cuda]") {
  NEED_EMULATOR();
  const Emulating slow("h2d_pinned=1,copy_ns=5000,call_ns=0", "h2d_pinned=25,copy_ns=5000,call_ns=1000");
  const Page page;
  const auto host = zeros<Cpu>({25000}).pin_memory();
  const int line = __LINE__ + 1;
  host.cuda_async().wait();
  const ledger::Line copy = entry_at(Work::to_device, line);
  CHECK(copy.pinned);
  // 100,000 bytes at 1 GB/s, and 5 µs before them.
  CHECK(copy.seconds == Approx(105e-6).epsilon(1e-3));
  CHECK(copy.gigabytes_per_second() == Approx(1e-9 * 100000 / 105e-6).epsilon(1e-3));
}

TEST_CASE("a training step copies nothing and makes the host wait nowhere", "[cuda]") {
  nn::Linear<Cuda> layer(3, 2);
  optim::SGD sgd(layer.parameters(), {.lr = 0.1, .momentum = 0.9});
  const auto x = ones<Cuda>({4, 3}), y = zeros<Cuda>({4, 2});
  const auto step = [&] {
    sgd.zero_grad();
    mse_loss(layer(x), y).backward();
    sgd.step();
  };
  for (int i = 0; i < 3; ++i) ledger::expect_transfers({}, step);
  CHECK(error_of([&] { ledger::expect_transfers({.h2d = 1}, step); }) ==
        "expect_transfers: expected 1 copies to the device, 0 to the host and 0 waits; there were 0, 0 and 0");
  CHECK_NOTHROW(ledger::expect_transfers({.d2h = 1, .waits = 1}, [&] { mse_loss(layer(x), y).item(); }));
}

TEST_CASE("nothing is listed before the ledger starts", "[cuda]") {
  zeros<Cpu>({4}).cuda();
  CHECK(ledger::lines().empty());
}
