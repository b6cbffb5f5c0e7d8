#include "collective_cases.hpp"
#include "support/errors.hpp"

#include <tern/distributed/async_collectives.hpp>
#include <tern/distributed/threads.hpp>

using namespace tern;
using distributed::Communicator;
using distributed::ReduceOp;
using distributed::run_ranks;
using tern_test::error_of;
using tern_test::of_rank;

TEST_CASE("collectives in the background give what the others give, in the order in which they start", "[distributed][threads]") {
  const int ranks = GENERATE(1, 2, 3);
  CAPTURE(ranks);
  run_ranks(ranks, [](const Communicator& c) {
    for (const Index n : {Index(0), Index(1), Index(100003)}) {
      const auto x = of_rank<float>(c.rank(), {n}), wide = of_rank<float>(c.rank(), {n * c.size()});
      auto sum = distributed::all_reduce_async(x, c), least = distributed::all_reduce_async(x, c, ReduceOp::min);
      auto root = distributed::broadcast_async(x, c, c.size() - 1);
      auto all = distributed::all_gather_async(x, c);
      auto part = distributed::reduce_scatter_async(wide, c, ReduceOp::avg), exchanged = distributed::all_to_all_async(wide, c);
      // It runs behind those that were started before.
      const auto now = distributed::all_reduce(x, c);
      tern_test::expect(exchanged.ready(), "ready");
      tern_test::expect(tern_test::equal(sum.wait(), now), "all_reduce_async");
      tern_test::expect(tern_test::equal(least.wait(), distributed::all_reduce(x, c, ReduceOp::min)), "all_reduce_async of min");
      tern_test::expect(tern_test::equal(root.wait(), distributed::broadcast(x, c, c.size() - 1)), "broadcast_async");
      tern_test::expect(tern_test::equal(all.wait(), distributed::all_gather(x, c)), "all_gather_async");
      tern_test::expect(tern_test::equal(part.wait(), distributed::reduce_scatter(wide, c, ReduceOp::avg)), "reduce_scatter_async");
      tern_test::expect(tern_test::equal(exchanged.wait(), distributed::all_to_all(wide, c)), "all_to_all_async");
    }
    distributed::all_reduce_async(ones<Cpu>({1000}), c);  // which nobody waits for
  });
}

TEST_CASE("what a collective in the background finds is thrown by wait", "[distributed][threads]") {
  std::string said, again;
  run_ranks(2, [&](const Communicator& c) {
    auto pending = distributed::all_reduce_async(ones<Cpu>({1 + c.rank()}), c);
    const std::string error = error_of([&] { pending.wait(); });
    if (c.rank() == 0) said = error, again = error_of([&] { pending.wait(); });
  });
  CHECK(said == "all_reduce: the ranks do not call the same: rank 0 all_reduce of float32 [1], sum, after 0 others; rank 1 all_reduce of float32 [2], sum, after 0 others");
  CHECK(again == "wait: nothing is pending: wait() was called before");
}
