#include "tern/profile/trace.hpp"

#include <map>
#include <thread>

#include "../io/temporary_folder.hpp"
#include "emulated_time.hpp"
#include "support/json.hpp"
#include "support/tensors.hpp"
#include "tern/ops/transfer.hpp"
#include "tern/ops/support/overwrite.hpp"

namespace profile_trace {
using namespace tern;
using namespace tern_test;

namespace {

struct Page {
  Page() { ledger::start(); }
  ~Page() { ledger::stop(); }
};

/// The complete events of the page's trace.
std::vector<Json> events() {
  std::vector<Json> found;
  const Json trace = tern_test::parse_json(ledger::trace());
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "X") found.push_back(event);
  return found;
}

}  // namespace

TEST_CASE("the trace has each kernel, copy and wait at its time, on the lane of its stream", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const auto host = zeros<Cpu>({25000}).pin_memory();
  const auto x = zeros<Cuda>({25000});
  x + x;  // compiles the kernel
  cuda::synchronize();
  const Page open;
  x.zero_();  // 2 us
  const int sent = __LINE__ + 1;
  const auto there = host.cuda_async(0).wait();  // behind the memory's allocation: 10.6 us
  const auto y = there + x;                      // 4 us
  const int waited = __LINE__ + 1;
  cuda::synchronize();
  const auto found = events();
  REQUIRE(found.size() == 4);
  const struct {
    const char* kind;
    double ts, dur;
    int pid, tid;
  } expected[] = {{"kernel", 0, 2, 1, 0},
                  {"to device", 2, 10.6, 1, 1},
                  {"kernel", 12.6, 4, 1, 0},
                  {"wait", 0, 16.6, 0, found[3]["tid"]}};
  for (std::size_t i = 0; i < 4; ++i) {
    INFO(found[i].dump());
    CHECK(found[i]["cat"] == expected[i].kind);
    CHECK(double(found[i]["ts"]) == Approx(expected[i].ts).margin(2e-3));
    CHECK(double(found[i]["dur"]) == Approx(expected[i].dur).margin(2e-3));
    CHECK(found[i]["pid"] == expected[i].pid);
    CHECK(found[i]["tid"] == expected[i].tid);
  }
  CHECK(found[3]["name"] == "wait for the device");
  CHECK(found[3]["args"]["line"] == tern::detail::text({__FILE__, ":", waited}));
  const Json& copy = found[1]["args"];
  CHECK(copy["line"] == tern::detail::text({__FILE__, ":", sent}));
  CHECK(copy["bytes"] == 100000);
  CHECK(double(copy["GB/s"]) == Approx(100 / 10.6).epsilon(1e-3));
  CHECK(copy["pinned"] == true);
  CHECK_FALSE(found[3]["args"].contains("bytes"));
  CHECK(tern_test::parse_json(ledger::trace())["otherData"]["times"] == "cupti");
}

TEST_CASE("what follows on a stream begins where the last piece ended, also far from the page's beginning", "[cuda]") {
  if (!is_emulated()) return;
  const EmulatedTime time;
  const auto x = zeros<Cuda>({25000});
  const Page open;
  x.zero_();
  advance(900'000'000);
  for (int i = 0; i < 100; ++i) x.zero_();
  const auto found = events();
  REQUIRE(found.size() == 101);
  for (std::size_t i = 1; i < 101; ++i) {
    CHECK(double(found[i]["ts"]) > double(found[i - 1]["ts"]) + double(found[i - 1]["dur"]) - 2e-3);  // three digits
    CHECK(double(found[i]["dur"]) == Approx(2).margin(0.15));
  }
}

TEST_CASE("the trace names the host, the devices and their streams", "[cuda]") {
  const Page open;
  zeros<Cuda>({4});
  std::map<std::string, Json> names;
  const Json trace = tern_test::parse_json(ledger::trace());
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "M") names[event["args"]["name"]] = event;
  CHECK(names["host"]["pid"] == 0);
  CHECK(names["cuda:0"]["pid"] == 1);
  CHECK(names["compute"]["tid"] == 0);
  CHECK(names["copies beside it"]["tid"] == 1);
}

TEST_CASE("each thread of the host waits on a lane of its own", "[cuda]") {
  const Page open;
  zeros<Cuda>({4}).sum().item();
  std::thread([] { zeros<Cuda>({4}).sum().item(); }).join();
  std::vector<int> lanes;
  for (const Json& event : events())
    if (event["cat"] == "wait") lanes.push_back(event["tid"]);
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[0] != lanes[1]);
}

TEST_CASE("a trace is a file, also where nothing was listed", "[cuda]") {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  ledger::write_trace(path);
  CHECK(tern_test::parse_json(content_of(path))["traceEvents"].size() == 1);
  TERN_TEST_LINE(ledger::write_trace((folder / "no") + "/trace.json"));
}

}  // namespace profile_trace
