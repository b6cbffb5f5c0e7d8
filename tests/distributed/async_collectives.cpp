// Collectives in the background: on Cpu between threads, on Cuda by NCCL between threads with a device of their own.
#include "collective_cases.hpp"
#include "on_devices.hpp"
#include "support/errors.hpp"

#include <tern/distributed/async_collectives.hpp>

namespace distributed_async_collectives {
using namespace tern;
using namespace tern_test;
using distributed::Communicator;
using distributed::ReduceOp;
using distributed::run_ranks;

namespace {

template <Device D>
void check_all(const Communicator& c) {
  for (const Index n : {Index(0), Index(1), Index(100003)}) {
    const auto x = on<D>(of_rank<float>(c.rank(), {n})), wide = on<D>(of_rank<float>(c.rank(), {n * c.size()}));
    auto sum = distributed::all_reduce_async(x, c), least = distributed::all_reduce_async(x, c, ReduceOp::min);
    auto root = distributed::broadcast_async(x, c, c.size() - 1);
    auto all = distributed::all_gather_async(x, c);
    auto part = distributed::reduce_scatter_async(wide, c, ReduceOp::avg),
         exchanged = distributed::all_to_all_async(wide, c);
    // It runs behind those that were started before.
    const auto now = distributed::all_reduce(x, c);
    expect(exchanged.ready(), "ready");
    expect(is_same(sum.wait(), now.cpu()), "all_reduce_async");
    expect(is_same(least.wait(), distributed::all_reduce(x, c, ReduceOp::min).cpu()), "all_reduce_async of min");
    expect(is_same(root.wait(), distributed::broadcast(x, c, c.size() - 1).cpu()), "broadcast_async");
    expect(is_same(all.wait(), distributed::all_gather(x, c).cpu()), "all_gather_async");
    expect(is_same(part.wait(), distributed::reduce_scatter(wide, c, ReduceOp::avg).cpu()), "reduce_scatter_async");
    expect(is_same(exchanged.wait(), distributed::all_to_all(wide, c).cpu()), "all_to_all_async");
  }
  distributed::all_reduce_async(ones<D>({1000}), c);  // which nobody waits for
}

/// Two ranks call it differently: what the first one's wait says, and then says again.
template <Device D>
void check_errors(const Communicator& c, const std::string& rule) {
  auto pending = distributed::all_reduce_async(ones<D>({1 + c.rank()}), c);
  const std::string said = error_of([&] { pending.wait(); }), again = error_of([&] { pending.wait(); });
  expect(said == "all_reduce: the ranks do not call the same: " + rule, said.c_str());
  expect(again == "wait: nothing is pending: wait() was called before", again.c_str());
}

}  // namespace

TEST_CASE("collectives in the background give what the others give, in the order in which they start",
          "[distributed][threads]") {
  const int ranks = GENERATE(1, 2, 3);
  CAPTURE(ranks);
  run_ranks(ranks, check_all<Cpu>);
}

TEST_CASE("collectives in the background by NCCL give what the others give", "[distributed][cuda]") {
  for (const char* order : {"order=late", "order=eager", "order=random:1"})
    check_in_new_process("background by NCCL", order);
}
TEST_CASE("in a new process: background by NCCL", "[.]") {
  for (const int ranks : {1, 2, 3}) on_devices(ranks, check_all<Cuda>);
}

TEST_CASE("what a collective in the background finds is thrown by wait", "[distributed][threads]") {
  run_ranks(2, [](const Communicator& c) {
    check_errors<Cpu>(
        c,
        "rank 0 all_reduce of float32 [1], sum, after 0 others; rank 1 all_reduce of float32 [2], sum, after 0 others");
  });
}

TEST_CASE("what a collective in the background by NCCL finds is thrown by wait", "[distributed][cuda]") {
  check_in_new_process("background errors");
}
TEST_CASE("in a new process: background errors", "[.]") {
  on_devices(2, [](const Communicator& c) {
    check_errors<Cuda>(c,
                       "rank 0 cuda all_reduce of float32 [1], sum, after 1 others; rank 1 cuda all_reduce of float32 "
                       "[2], sum, after 1 others");
  });
}

TEST_CASE("a collective in the background runs beside the stream's work, and the host waits for no device",
          "[distributed][cuda]") {
  check_in_new_process("beside the stream");
}
TEST_CASE("in a new process: beside the stream", "[.]") {
  on_devices(2, [](const Communicator& c) {
    const auto a = full<Cuda>({64, 64}, 0.5), x = full<Cuda>({64, 64}, c.rank() + 1.);
    const auto compute = [&] {
      auto product = a;
      for (int i = 0; i < 10; ++i) product = matmul(product, a);
      return product;
    };
    const auto time_of = [&](const auto& f) {
      const double start = time_when_done(c);
      f();
      return time_when_done(c) - start;
    };
    time_of([&] { compute(), distributed::all_reduce_async(x, c).wait(); });  // connects the ranks
    const Emulating rates("call_ns=0,peer=2", "call_ns=1000,peer=50");
    const double computing = time_of(compute), reducing = time_of([&] { distributed::all_reduce(x, c); });
    Tensor<Cuda> sum;
    const double together = time_of([&] {
      auto pending = distributed::all_reduce_async(x * 2, c);  // whose input nothing else holds
      compute();
      sum = pending.wait() + 1;
      expect(!cuda::current_stream().query(), "that the host has not waited");
    });
    expect(is_same(sum, full<Cpu>({64, 64}, 7.)), "a sum for which the stream waits");
    expect(together < computing + 0.5 * reducing, "the time of both");
  });
}

TEST_CASE("collectives in the background are on their inputs' device", "[distributed][cuda]") {
  check_in_new_process("background devices");
}
TEST_CASE("in a new process: background devices", "[.]") {
  run_ranks(2, [](const Communicator& c) {  // each thread makes new tensors on the first device
    const Cuda own{c.rank() + 1};
    const auto x = full<Cuda>({2}, 1., own);
    auto sum = distributed::all_reduce_async(x, c), all = distributed::all_gather_async(x, c);
    expect(sum.wait().device().ordinal == own.ordinal && all.wait().device().ordinal == own.ordinal,
           "the device of a result");
  });
}

}  // namespace distributed_async_collectives
