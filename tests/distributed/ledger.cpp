// Collectives on the ledger.
#include "parallel_cases.hpp"
#include "support/emulator.hpp"
#include "support/json.hpp"
#include "support/process.hpp"

#include <tern/device/cuda/stream.hpp>
#include <tern/distributed/async_collectives.hpp>
#include <tern/distributed/threads.hpp>
#include <tern/profile/trace.hpp>

namespace distributed_ledger {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using distributed::Communicator;

namespace {

struct Page {
  Page() { ledger::start(); }
  ~Page() { ledger::stop(); }
};

/// f(communicator) on so many threads, of which each has a device of its own.
template <Device D, class F>
void on_ranks(int ranks, const F& f) {
  distributed::run_ranks(ranks, [&](const Communicator& c) {
    if constexpr (HostDevice<D>) {
      f(c);
    } else {
      const cuda::DeviceGuard own({c.rank()});
      f(c);
      cuda::synchronize();
    }
  });
}

/// The hidden test case in a process whose machine has two devices.
void check_in_new_process(const std::string& name) {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: " + name, "TERN_EMULATOR=devices=2,quiet=1,order=late");
  INFO(ended.output);
  CHECK(ended.well);
}

/// The ledger's line for work of this name that a line of this file calls; one without work if there is none.
ledger::Line entry_at(const char* name, int line) {
  for (const ledger::Line& entry : ledger::lines())
    if (entry.name == std::string(name) && entry.site == tern::detail::text({__FILE__, ":", line})) return entry;
  return {detail::Work::collective, "", false};
}

/// Another rank gets there first.
void late() {
  const timespec time{0, 100'000'000};
  nanosleep(&time, nullptr);
}

void check_entry(const char* name, int line, Index count, Index bytes) {
  INFO(name << " in line " << line);
  const ledger::Line entry = entry_at(name, line);
  CHECK(entry.count == count);
  CHECK(entry.bytes == bytes);
  CHECK(entry.seconds > 0);
  CHECK(entry.overlapped >= 0);
  CHECK(entry.overlapped <= entry.seconds);
}

constexpr int first_collective = __LINE__ + 4;
template <Device D>
void call_each(const Communicator& c) {
  const auto x = full<D>({1000}, double(c.rank()));
  for (int i = 0; i < 3; ++i) distributed::all_reduce(x, c);
  distributed::broadcast(x, c);
  distributed::all_gather(x, c);
  distributed::reduce_scatter(x, c);
  distributed::all_to_all(x, c);
  if (c.rank() == 0) distributed::send(x, c, 1);
  if (c.rank() == 1) distributed::recv<D>({1000}, c, 0);
  c.barrier();
}

template <Device D>
void check_each() {
  const Page open;
  on_ranks<D>(2, call_each<D>);
  int line = first_collective;
  check_entry("all_reduce", line++, 2 * 3, 2 * 3 * 4000);
  for (const char* name : {"broadcast", "all_gather", "reduce_scatter", "all_to_all"})
    check_entry(name, line++, 2, 2 * 4000);
  check_entry("send", line++, 1, 4000);
  check_entry("recv", line++, 1, 4000);
  check_entry("wait", line++, 2, 0);
  const ledger::Communication all = ledger::communication();
  CHECK(all.count == 16);
  CHECK(all.bytes == 16 * 4000);
  CHECK(all.waited <= all.seconds * (1 + 1e-6));
  CHECK(all.hidden() == Approx(0).margin(1e-6));  // nothing was computed meanwhile
  const std::string report = ledger::report();
  CHECK_THAT(report, ContainsSubstring(
                         "\ncollective    count        bytes         ms  share     GB/s  waited ms  hidden  line\n"));
  CHECK_THAT(report, ContainsSubstring("\nall_reduce        6        24000 ") &&
                         ContainsSubstring("\n16 collectives; 64000 bytes in "));
  const auto json = tern_test::parse_json(ledger::json());
  CHECK(json["totals"]["collective"]["count"] == 16);
  CHECK(json["totals"]["collective"]["bytes"] == 64000);
  Index sums = 0;
  for (const auto& entry : json["lines"])
    if (entry["work"] == "collective" && entry["name"] == "all_reduce") sums += Index(entry["count"]);
  CHECK(sums == 6);
  Index traced = 0;
  const auto trace = tern_test::parse_json(ledger::trace());
  for (const auto& event : trace["traceEvents"]) {
    if (event.value("cat", "") != "collective") continue;
    ++traced;
    CHECK(event["args"]["bytes"] == 4000);
    if (HostDevice<D>) CHECK(event["pid"] == 0);
    else CHECK((event["pid"] > 0 && event["tid"] == 2));
  }
  CHECK(traced == 16);
}

}  // namespace

TEST_CASE("collectives are lines of the ledger: name, line, number and bytes", "[distributed][threads]") {
  check_each<Cpu>();
}
TEST_CASE("collectives of Cuda are lines of the ledger", "[distributed][cuda]") {
  check_in_new_process("each collective on the ledger");
}
TEST_CASE("in a new process: each collective on the ledger", "[.]") { check_each<Cuda>(); }

TEST_CASE("nothing is listed unless the ledger has started", "[distributed][threads]") {
  on_ranks<Cpu>(2, call_each<Cpu>);
  CHECK(ledger::communication().count == 0);
  const Page open;
  CHECK_THAT(ledger::report(), !ContainsSubstring("collective"));
}

TEST_CASE("a collective in the background is hidden while its caller computes", "[distributed][threads]") {
  const Page open;
  constexpr int hidden = __LINE__ + 3;
  on_ranks<Cpu>(2, [](const Communicator& c) {
    const auto x = ones<Cpu>({100000});
    auto sum = distributed::all_reduce_async(x, c);
    while (!sum.ready()) x.square();
    sum.wait();
  });
  check_entry("all_reduce", hidden, 2, 2 * 400000);
  CHECK(ledger::communication().hidden() == Approx(1));
}

TEST_CASE("a wait for a collective in the background, or for one before another, hides nothing",
          "[distributed][threads]") {
  const Page open;
  constexpr int waited = __LINE__ + 4, before = waited + 2;
  on_ranks<Cpu>(2, [](const Communicator& c) {
    const auto x = ones<Cpu>({1000});
    if (c.rank() == 0) {
      distributed::all_reduce_async(x, c).wait();
      c.barrier();
      auto sum = distributed::all_reduce_async(x, c);
      distributed::broadcast(x, c);
      sum.wait();
    } else {
      late();
      distributed::all_reduce_async(x, c).wait();
      c.barrier();
      late();
      distributed::all_reduce(x, c);
      distributed::broadcast(x, c);
    }
  });
  for (const int line : {waited, before}) {
    check_entry("all_reduce", line, 1, 4000);
    const ledger::Line entry = entry_at("all_reduce", line);
    CHECK(entry.seconds > 0.05);
    CHECK(entry.overlapped < 0.5 * entry.seconds);
  }
  CHECK(entry_at("wait", waited).count == 1);
}

TEST_CASE("a collective of Cuda is hidden while its device computes", "[distributed][cuda]") {
  check_in_new_process("hidden by NCCL");
}
TEST_CASE("in a new process: hidden by NCCL", "[.]") {
  const Emulating rates("call_ns=0,peer=1,memory_rate=1", "call_ns=1000,peer=50,memory_rate=2000");
  on_ranks<Cuda>(2, [](const Communicator& c) { distributed::all_reduce(zeros<Cuda>({1}), c); });
  const Page open;
  constexpr int beside = __LINE__ + 8;
  on_ranks<Cuda>(2, [](const Communicator& c) {
    const auto x = zeros<Cuda>({100000}), y = zeros<Cuda>({100000});
    distributed::all_reduce(zeros<Cuda>({1}), c);
    const cuda::Stream side;
    side.wait_stream(cuda::current_stream());
    {
      const cuda::StreamGuard on(side);
      distributed::all_reduce(x, c);
    }
    for (int i = 0; i < 3; ++i) y.zero_();
    cuda::current_stream().wait_stream(side);
    distributed::all_reduce(x, c);
  });
  check_entry("all_reduce", beside, 2, 2 * 400000);
  check_entry("all_reduce", beside + 4, 2, 2 * 400000);
  const ledger::Line hidden = entry_at("all_reduce", beside), alone = entry_at("all_reduce", beside + 4);
  CHECK(hidden.overlapped > 0.99 * hidden.seconds);
  CHECK(alone.overlapped < 0.01 * alone.seconds);
}

template <Device D>
struct Normed : nn::Module<D> {
  nn::Linear<D> hidden{12, 20}, out{20, 5};
  nn::BatchNorm1d<D> norm{20};
  TERN_FIELDS(Normed, hidden, norm, out)
  Tensor<D> forward(const Tensor<D>& x) { return out(norm(hidden(x))); }
};

constexpr int first_of_training = __LINE__ + 4;
template <Device D>
void train(const Communicator& c) {
  const auto x = on<D>(samples<float>(c.rank(), {6, 12}));
  distributed::DistributedDataParallel net(Normed<D>(), c);
  for (int step = 0; step < 3; ++step) {
    const auto loss = net(x).square().mean();
    loss.backward();
  }
}

template <Device D>
void check_training() {
  const Page open;
  on_ranks<D>(2, train<D>);
  Index all = 0, parameters = 0;
  Normed<D> net;
  for (const auto& [name, x] : net.state_dict()) all += x.numel() * detail::size_of(x.dtype());
  for (const auto& x : net.parameters()) parameters += x.tensor.numel() * 4;
  const Index buffers = all - parameters,
              gaps = (128 - 80) * 3 + (448 - 400) + (64 - 20);  // gradients begin at multiples of 64 bytes
  Index count = 0;
  for (const ledger::Line& line : ledger::lines()) count += line.count * (line.work == detail::Work::collective);
  const ledger::Line made = entry_at("broadcast", first_of_training),
                     before = entry_at("broadcast", first_of_training + 2);
  CHECK(made.bytes == 2 * all);
  CHECK(before.bytes == 2 * 3 * buffers);
  check_entry("all_reduce", first_of_training + 3, 2 * 3, 2 * 3 * (parameters + gaps));
  CHECK(count == made.count + before.count + 2 * 3);
}

TEST_CASE("gradients are on the line that calls backward, buffers on the line that calls the network",
          "[distributed][threads]") {
  check_training<Cpu>();
}
TEST_CASE("gradients and buffers on Cuda are on the lines of Cpu's", "[distributed][cuda]") {
  check_in_new_process("training on the ledger");
}
TEST_CASE("in a new process: training on the ledger", "[.]") { check_training<Cuda>(); }

TEST_CASE("a page can be read and filled while a rank has yet to call what another rank's device waits for",
          "[distributed][cuda]") {
  check_in_new_process("a page during a pass");
}
TEST_CASE("in a new process: a page during a pass", "[.]") {
  std::atomic<bool> reads = false;
  const Page open;
  on_ranks<Cuda>(2, [&](const Communicator& c) {
    distributed::DistributedDataParallel net(SmallMlp<Cuda, float>(), c, {.bucket_cap_mb = 0.0005});
    const auto loss = net(on<Cuda>(samples<float>(c.rank(), {4, 12}))).square().mean();
    if (c.rank() == 0) {
      net.module.out.weight.register_hook([&](const auto&) {  // before its gradients go
        while (!reads) sched_yield();
        late();
        const auto x = zeros<Cuda>({4});
        for (int i = 0; i < 1200; ++i) x.zero_();  // until the time line wants its events back
      });
    } else {
      net.module.hidden.weight.register_hook([&](const auto&) {
        reads = true;
        ledger::report();
      });
    }
    loss.backward();
  });
  CHECK(ledger::communication().count > 2);
}

}  // namespace distributed_ledger
