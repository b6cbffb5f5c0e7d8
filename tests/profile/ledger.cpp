#include "tern/profile/ledger.hpp"

#include <algorithm>

#include "emulated_time.hpp"
#include "support/json.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/nn/linear.hpp"
#include "tern/ops/losses.hpp"
#include "tern/ops/matmul.hpp"
#include "tern/optim/sgd.hpp"

namespace profile_ledger {
using namespace tern;
using namespace tern_test;

namespace {

/// The line of the ledger for this kind of work at a line of this file; one without work if there is none.
ledger::Line entry_at(detail::Work work, int line) {
  for (const ledger::Line& entry : ledger::lines())
    if (entry.work == work && entry.site == tern::detail::text({__FILE__, ":", line})) return entry;
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
  const ledger::Line to_device = entry_at(detail::Work::to_device, copies),
                     to_host = entry_at(detail::Work::to_host, back);
  CHECK(to_device.count == 3);
  CHECK(to_device.bytes == 3 * 4000);
  CHECK(to_host.count == 1);
  CHECK(to_host.bytes == 4);
  CHECK(entry_at(detail::Work::wait, back).count == 1);
  const std::string report = ledger::report();
  CHECK_THAT(report,
             Catch::Matchers::ContainsSubstring(to_device.site) && Catch::Matchers::ContainsSubstring("to host"));
  CHECK(report.find("include/tern") == std::string::npos);  // no line inside the library
}

namespace {

void check_times_of_the_model() {
  const EmulatedTime time;
  const auto host = zeros<Cpu>({25000}).pin_memory();
  const auto x = zeros<Cuda>({25000});
  x + x;  // compiles the kernel
  cuda::synchronize();
  const Page open;
  const int sent = __LINE__ + 1;
  auto pending = host.cuda_async();  // 100,000 bytes at 10 GB/s, 0.6 us before them
  const auto y = x + x;              // reads and writes 100,000 each at 100 GB/s, 1 us before
  const auto there = pending.wait();
  const int fetched = __LINE__ + 1;
  const auto back = y.cpu();  // at 2 GB/s; the host stands still from the start
  const auto z = there + y;   // 300,000 bytes
  const int waited = __LINE__ + 1;
  cuda::synchronize();

  const ledger::Line to_device = entry_at(detail::Work::to_device, sent),
                     to_host = entry_at(detail::Work::to_host, fetched);
  CHECK(to_device.pinned);
  CHECK(to_device.seconds == exactly(10.6e-6));
  CHECK(to_device.overlapped == exactly(3e-6));
  CHECK(to_device.gigabytes_per_second() == exactly(100 / 10.6));
  CHECK_FALSE(to_host.pinned);
  CHECK(to_host.seconds == exactly(50.6e-6));
  CHECK(to_host.overlapped == Approx(0).margin(1e-11));
  const ledger::Line stood = entry_at(detail::Work::wait, waited), over = entry_at(detail::Work::wait, fetched);
  CHECK(over.count == 1);
  CHECK(over.seconds == exactly(61.2e-6));  // both copies: the driver waits in the call that starts the second
  CHECK(over.overlapped == exactly(3e-6));
  CHECK(stood.seconds == exactly(4e-6));
  CHECK(stood.overlapped == exactly(4e-6));

  const ledger::Page page = ledger::page();
  CHECK(page.kernels == 2);
  CHECK(page.computing == exactly(7e-6));
  CHECK(page.seconds == exactly(65.2e-6));  // the copy in, the copy out behind it, the second sum
  CHECK(to_host.share == exactly(50.6 / 65.2));
  REQUIRE(page.lines.size() == 4);
  CHECK(page.lines[0].work == detail::Work::wait);  // most seconds first
  CHECK(page.lines[1].work == detail::Work::to_host);
  CHECK(page.lines[2].work == detail::Work::to_device);
  const std::string report = ledger::report();
  CHECK_THAT(report, Catch::Matchers::ContainsSubstring(
                         "to device         1       100000      0.011  16.3%     9.43      28%  " + to_device.site +
                         " (pinned)\n"));
  CHECK_THAT(report, Catch::Matchers::ContainsSubstring("\n2 kernels; computing 0.007 of 0.065 ms, 10.7%\n"));
}

}  // namespace

TEST_CASE("copies, waits and what was computed meanwhile have the device's times, by the emulator's model", "[cuda]") {
  NEED_EMULATOR();
  check_times_of_the_model();
}

TEST_CASE("so they have where another profiler has CUPTI: then the times are from events", "[cuda]") {
  NEED_EMULATOR();
  const OtherProfiler other;
  check_times_of_the_model();
}

TEST_CASE("the ledger as JSON has the lines and their totals", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const auto host = zeros<Cpu>({25000}).pin_memory();
  const Page open;
  const int line = __LINE__ + 1;
  for (int i = 0; i < 2; ++i) host.cuda_async().wait();
  const std::string text = ledger::json();
  const auto json = tern_test::parse_json(text);
  REQUIRE(json["lines"].size() == 1);
  const auto& copy = json["lines"][0];
  CHECK(copy["line"] == tern::detail::text({__FILE__, ":", line}));
  CHECK(copy["work"] == "to device");
  CHECK(copy["pinned"] == true);
  CHECK(copy["count"] == 2);
  CHECK(copy["bytes"] == 200000);
  CHECK(double(copy["seconds"]) == exactly(21.2e-6));
  CHECK(double(copy["gigabytes_per_second"]) == Approx(100 / 10.6).epsilon(1e-5));
  CHECK(copy["overlapped"] == 0);
  CHECK(double(copy["share"]) == exactly(1));
  CHECK(json["totals"]["to device"] == nlohmann::json({{"count", 2}, {"bytes", 200000}, {"seconds", copy["seconds"]}}));
  CHECK(json["totals"]["to host"]["count"] == 0);
  CHECK(json["totals"]["kernel"]["count"] == 0);
  CHECK(double(json["totals"]["seconds"]) == exactly(21.2e-6));
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);  // each line of the ledger on a line of its own
  ledger::start();
  CHECK(tern_test::parse_json(ledger::json())["lines"].empty());
}

TEST_CASE("a long page has right times, to its end, and needs no more events than a short one", "[cuda]") {
  NEED_EMULATOR();
  const OtherProfiler other;
  const EmulatedTime time;
  const auto x = zeros<Cuda>({25000});
  cuda::synchronize();
  const std::int64_t events = live_objects("event");
  {
    const Page open;
    std::int64_t most = 0;
    for (int i = 0; i < 6000; ++i) {
      x.zero_();  // 100,000 bytes at 100 GB/s, 1 us before them: 2 us
      advance(50'000'000);
      most = std::max(most, live_objects("event"));
    }
    CHECK(most - events <= 2 * 1024 + 1);
    const ledger::Page page = ledger::page();
    CHECK(page.kernels == 6000);
    CHECK(page.computing == exactly(12e-3));
    CHECK(page.seconds == Approx(300).epsilon(1e-7));
    const auto entries = cuda::detail::timeline().read().entries;
    for (std::size_t i = 0; i < entries.size(); i += 1000) {
      CHECK(entries[i].start == Approx(0.05 * double(i)).margin(2e-6));
      CHECK(entries[i].seconds == exactly(2e-6));
    }
  }
  CHECK(live_objects("event") == events);
}

TEST_CASE("work that spans the turn of a page is on neither", "[cuda]") {
  const Page open;
  const auto x = zeros<Cuda>({4});
  {
    const cuda::detail::Span span(detail::Work::kernel, "a", 0, cuda::detail::bind(0).compute);
    CHECK(ledger::page().kernels == 1);  // zeros; the other has not ended
    ledger::start();
  }
  CHECK(ledger::page().kernels == 0);
}

TEST_CASE("what ends while an outer piece of work goes on is listed with it", "[cuda]") {
  const OtherProfiler other;
  const Page open;
  {
    const cuda::detail::Span span(detail::Work::to_device, "outer", 0, cuda::detail::bind(0).compute, 8);
    cuda::synchronize();
    CHECK(ledger::lines().empty());
  }
  CHECK(ledger::lines().size() == 2);
}

TEST_CASE("an event that cannot be recorded costs its work the time, not the page", "[cuda]") {
  NEED_EMULATOR();
  const OtherProfiler other;
  const auto x = zeros<Cuda>({4});
  const Page open;
  const int line = __LINE__ + 1;
  cuda::synchronize();
  fail_call("cuEventRecord", 2, 999);
  const int lost = __LINE__ + 1;
  cuda::synchronize();
  fail_call(nullptr, 0, 0);
  CHECK(error_of([] { cuda::synchronize(); }).find("cuEventRecord") != std::string::npos);  // told by the next call
  CHECK(entry_at(detail::Work::wait, line).count == 1);
  CHECK(entry_at(detail::Work::wait, lost).count == 1);
  CHECK(entry_at(detail::Work::wait, lost).seconds == 0);
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
  TERN_TEST_LINE(ledger::expect_transfers({.h2d = 1}, step));
  CHECK_NOTHROW(ledger::expect_transfers({.d2h = 1, .waits = 1}, [&] { mse_loss(layer(x), y).item(); }));
}

TEST_CASE("events lengthen what they time; CUPTI's records do not", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const Emulating costs("event_ns=1500", "event_ns=0");
  const auto host = zeros<Cpu>({25000}).pin_memory();
  cuda::synchronize();
  const int sent = __LINE__ + 1;
  const auto send = [&] { host.cuda_async().wait(); };  // 10.6 us
  {
    const Page open;
    send();
    CHECK(entry_at(detail::Work::to_device, sent).seconds == exactly(10.6e-6));
    CHECK(ledger::page().no_records.empty());
    CHECK_THAT(ledger::report(), Catch::Matchers::ContainsSubstring("\ntimes from CUPTI's records\n"));
    CHECK(tern_test::parse_json(ledger::json())["times"] == "cupti");
  }
  const OtherProfiler other;
  const Page open;
  send();
  CHECK(entry_at(detail::Work::to_device, sent).seconds == exactly(12.1e-6));
  const std::string why = "another profiler of this process has CUPTI";
  CHECK(ledger::page().no_records == why);
  CHECK_THAT(ledger::report(),
             Catch::Matchers::ContainsSubstring("\ntimes from events, which lengthen what they time: " + why + "\n"));
  const auto json = tern_test::parse_json(ledger::json());
  CHECK(json["times"] == "events");
  CHECK(json["no_records"] == why);
}

TEST_CASE("what other code of the process queues is on the page, without a line", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const auto x = zeros<Cuda>({25000});
  const auto stream = cuda::detail::bind(0).compute;
  const auto host = zeros<Cpu>({25000});
  cuda::synchronize();
  const auto& driver = cuda::driver().functions;
  const auto memory = reinterpret_cast<cuda::DevicePointer>(x.impl()->data);
  const Page open;
  x.zero_();                                                                       // 2 us
  REQUIRE(driver.cuMemsetD8Async(memory, 0, 50000, stream) == 0);                  // 1.5 us
  REQUIRE(driver.cuMemcpyHtoDAsync_v2(memory, host.data(), 100000, stream) == 0);  // 20.6 us
  const ledger::Page page = ledger::page();
  CHECK(page.kernels == 2);
  CHECK(page.computing == exactly(3.5e-6));
  REQUIRE(page.lines.size() == 1);
  CHECK(page.lines[0].site == "(no line)");
  CHECK(page.lines[0].work == detail::Work::to_device);
  CHECK(page.lines[0].bytes == 100000);
  CHECK_FALSE(page.lines[0].pinned);
  CHECK(page.lines[0].seconds == exactly(20.6e-6));
}

TEST_CASE("records of any size that CUDA 12 and 13 give them are read, and those of later versions are not", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const auto x = zeros<Cuda>({25000}), w = zeros<Cuda>({50, 50});
  matmul(w, w);
  for (const char* version : {"cupti=18", "cupti=28", "cupti=130202"}) {
    INFO(version);
    const Emulating emulated(version, "cupti=130202");
    const Page open;
    x.cpu(), x.zero_(), matmul(w, w), x.cpu();
    std::vector<std::string> names;
    for (const auto& entry : cuda::detail::timeline().read().entries) names.push_back(entry.name);
    CHECK(names == std::vector<std::string>{"wait for a copy", "copy to host", "map", "cublasLtMatmul",
                                            "wait for a copy", "copy to host"});
  }
  const Emulating later("cupti=140000", "cupti=130202");
  CHECK_THAT(cuda::detail::CuptiLibrary().library.problem, Catch::Matchers::ContainsSubstring("has version 140000"));
}

TEST_CASE("the parts of what a device did, with its idle time, add up", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const auto x = zeros<Cuda>({25000});
  const auto host = zeros<Cpu>({25000}).pin_memory();
  cuda::Graph graph;
  graph.capture([&] { x.zero_(), x.zero_(); });
  x + x;
  cuda::synchronize();
  detail::Phase& phase = tern::detail::device_events.phase;
  const Page open;
  phase = detail::Phase::forward;
  x + x;                                   // 3 us
  const auto pending = host.cuda_async();  // 10.6 us from the start
  phase = detail::Phase::backward;
  x.zero_(), x.zero_();  // 4 us
  graph.replay();        // 4 us
  phase = detail::Phase::other;
  cuda::synchronize();
  const ledger::DeviceParts parts = ledger::device_parts(0);
  CHECK(parts.seconds[int(detail::Phase::forward)] == exactly(3e-6));
  CHECK(parts.seconds[int(detail::Phase::backward)] == exactly(4e-6));
  CHECK(parts.seconds[int(detail::Phase::captured)] == exactly(4e-6));
  CHECK(parts.seconds[int(detail::Phase::other)] == 0);
  CHECK(parts.busy() == exactly(11e-6 + parts.transfers));
  CHECK(parts.busy() <= ledger::page().seconds + 1e-12);
  CHECK(ledger::page().kernels == 5);  // a captured step's one by one
}

TEST_CASE("nothing is listed before the ledger starts", "[cuda]") {
  zeros<Cpu>({4}).cuda();
  CHECK(ledger::lines().empty());
}

}  // namespace profile_ledger
