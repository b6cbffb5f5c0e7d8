#include "collective_cases.hpp"
#include "support/errors.hpp"

#include <unistd.h>

#include <tern/distributed/threads.hpp>

namespace distributed_collectives {
using namespace tern;
using distributed::Communicator;
using distributed::ReduceOp;
using distributed::run_ranks;
using tern_test::element;
using tern_test::error_of;

TEST_CASE("collectives of threads give what a loop over the ranks gives", "[distributed][threads]") {
  const int ranks = GENERATE(1, 2, 3, 4, 5);
  CAPTURE(ranks);
  run_ranks(ranks, [](const Communicator& c) { tern_test::check_collectives(c); });
}

TEST_CASE("16-bit sums are rounded once", "[distributed]") {
  // 256 + 1 + 1 is 258 in float; bfloat16 has 8 bits, so that 256 + 1 would be 256 again.
  run_ranks(3, [](const Communicator& c) {
    const auto x = full<Cpu, bfloat16>({3}, c.rank() == 0 ? 256. : 1.);
    const auto sum = distributed::all_reduce(x, c);
    if (sum.data()[0] != bfloat16(258.f)) throw std::runtime_error("a sum of bfloat16 was rounded between");
  });
}

TEST_CASE("NaN of any rank is the least and the greatest", "[distributed]") {
  run_ranks(2, [](const Communicator& c) {
    for (const int rank : {0, 1})
      for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
        const auto y = distributed::all_reduce(full<Cpu>({1}, c.rank() == rank ? std::nan("") : 1.), c, op);
        if (!std::isnan(y.data()[0])) throw std::runtime_error("a NaN was lost");
      }
  });
}

TEST_CASE("elements in memory that threads share are joined where they lie", "[distributed][threads]") {
  const int ranks = GENERATE(1, 2, 3, 5);
  CAPTURE(ranks);
  run_ranks(ranks, [](const Communicator& c) { tern_test::check_shared(c); });
}

namespace {

/// Each rank's gradient of Σ over ranks r of (w_r · f(x_r)), by finite differences over every rank's elements in turn,
/// against backward().
template <class F>
void check_gradient(int ranks, Index n, const F& f) {
  run_ranks(ranks, [&](const Communicator& c) {
    auto x = (arange<Cpu, double>(0., double(n)) * 0.7 + double(c.rank())).sin();
    const auto loss = [&](const auto& input) {
      const auto y = f(input, c);
      return (y * (arange<Cpu, double>(0., double(y.numel())).reshape(y.shape()) + double(c.rank()) + 1.)).sum();
    };
    x.requires_grad_();
    loss(x).backward();
    for (int rank = 0; rank < ranks; ++rank)
      for (Index i = 0; i < n; ++i) {
        double sides[2];
        for (const int side : {0, 1}) {
          const auto moved = x.detach().clone();
          if (rank == c.rank()) moved.data()[i] += side ? 1e-5 : -1e-5;
          sides[side] = distributed::all_reduce(loss(moved).detach(), c).item();
        }
        const double slope = (sides[1] - sides[0]) / 2e-5;
        if (rank == c.rank() && !(std::abs(x.grad().data()[i] - slope) < 1e-6))
          throw std::runtime_error(detail::text({"gradient ", x.grad().data()[i], ", slope ", slope}));
      }
  });
}

}  // namespace

TEST_CASE("gradients of collectives are finite differences over all ranks", "[distributed]") {
  const int ranks = GENERATE(1, 2, 3);
  CAPTURE(ranks);
  check_gradient(ranks, 4, [](const auto& x, const Communicator& c) { return distributed::all_reduce(x, c); });
  check_gradient(ranks, 4,
                 [](const auto& x, const Communicator& c) { return distributed::all_reduce(x, c, ReduceOp::avg); });
  check_gradient(ranks, 4,
                 [](const auto& x, const Communicator& c) { return distributed::broadcast(x, c, c.size() - 1); });
  check_gradient(ranks, 4, [](const auto& x, const Communicator& c) { return distributed::all_gather(x, c); });
  check_gradient(ranks, 1, [](const auto& x, const Communicator& c) { return distributed::all_gather(x.sum(), c); });
  check_gradient(ranks, 6, [](const auto& x, const Communicator& c) { return distributed::reduce_scatter(x, c); });
  check_gradient(ranks, 6,
                 [](const auto& x, const Communicator& c) { return distributed::reduce_scatter(x, c, ReduceOp::avg); });
  check_gradient(ranks, 6, [](const auto& x, const Communicator& c) { return distributed::all_to_all(x, c); });
}

TEST_CASE("collectives refuse what they cannot do", "[distributed]") {
  const auto refusal = [](int ranks, const auto& f) { return error_of([&] { run_ranks(ranks, f); }); };
  CHECK(refusal(1, [](const Communicator& c) { distributed::all_reduce(ones<Cpu, Index>({2}), c, ReduceOp::avg); }) ==
        "all_reduce: the average of int64 is no int64; sum and divide");
  CHECK(refusal(1, [](const Communicator& c) {
          distributed::all_reduce(ones<Cpu>({2}).requires_grad_(), c, ReduceOp::max);
        }) == "all_reduce: min, max and product have no gradient; detach() the input");
  CHECK(refusal(2, [](const Communicator& c) { distributed::reduce_scatter(ones<Cpu>({3, 2}), c); }) ==
        "reduce_scatter: dimension 0 of [3, 2] has no equal parts for 2 ranks");
  CHECK(refusal(2, [](const Communicator& c) { distributed::all_to_all(scalar_tensor<Cpu>(1), c); }) ==
        "all_to_all: dimension 0 of [] has no equal parts for 2 ranks");
  CHECK(refusal(2, [](const Communicator& c) { distributed::broadcast(ones<Cpu>({1}), c, 2); }) ==
        "broadcast: root must be one of 2 ranks, not 2");
  CHECK(refusal(1, [](const Communicator& c) { distributed::send(ones<Cpu>({1}), c, 0); }) ==
        "send: rank 0 cannot send to itself");
  CHECK(refusal(1, [](const Communicator& c) { distributed::recv<Cpu>({1}, c, 1); }) ==
        "recv: the sender must be one of 1 ranks, not 1");
  CHECK(refusal(1, [](const Communicator& c) { distributed::all_reduce(Tensor<Cpu>(), c); }) ==
        "all_reduce: a tensor is undefined");
  CHECK(refusal(1, [](const Communicator& c) { c.split(-1); }) == "split: a colour must not be negative: -1");
  CHECK(refusal(1, [](const Communicator& c) { c.set_timeout(0); }) == "set_timeout: seconds must be positive, not 0");
  CHECK(refusal(0, [](const Communicator&) {}) == "run_ranks: at least one rank is needed, not 0");
}

TEST_CASE("ranks that call different collectives all say so", "[distributed][threads]") {
  const auto messages = [](const auto& f) {
    std::vector<std::string> said(2);
    run_ranks(2, [&](const Communicator& c) { said[std::size_t(c.rank())] = error_of([&] { f(c); }); });
    // Each in the name that it called.
    const auto rest = [](const std::string& message) { return message.substr(message.find(": ")); };
    CHECK(rest(said[0]) == rest(said[1]));
    return said[0];
  };
  CHECK(messages([](const Communicator& c) { distributed::all_reduce(ones<Cpu>({2 + c.rank(), 3}), c); }) ==
        "all_reduce: the ranks do not call the same: rank 0 all_reduce of float32 [2, 3], sum, after 0 others; rank 1 "
        "all_reduce of float32 [3, 3], sum, after 0 others");
  CHECK(messages(
            [](const Communicator& c) { c.rank() ? c.barrier() : (void)distributed::all_gather(ones<Cpu>({1}), c); }) ==
        "all_gather: the ranks do not call the same: rank 0 all_gather of float32 [1], sum, after 0 others; rank 1 "
        "barrier, after 0 others");
  CHECK(messages([](const Communicator& c) {
          if (c.rank() == 0) distributed::send(ones<Cpu>({2}), c, 1);
          else distributed::recv<Cpu, double>({2}, c, 0);
        }) == "send: the ranks do not call the same: rank 0 send of float32 [2]; rank 1 recv of float64 [2]");
  // The ranks are together again after it.
  run_ranks(2, [](const Communicator& c) {
    error_of([&] { distributed::all_reduce(ones<Cpu>({2 + c.rank()}), c); });
    tern_test::expect(distributed::all_reduce(ones<Cpu>({1}), c).item() == 2, "all_reduce after an Error");
  });
}

TEST_CASE("a rank that fails, leaves or is late ends the others' collectives", "[distributed][threads]") {
  const auto run = [](const auto& of_rank_1) {
    std::string said;
    run_ranks(2, [&](const Communicator& c) {
      c.set_timeout(0.2);
      if (c.rank() == 1) return of_rank_1(c);
      said = error_of([&] { distributed::all_reduce(ones<Cpu>({1000000}), c); });
    });
    return said;
  };
  CHECK(run([](const Communicator&) {}) == "all_reduce: rank 0 waits for rank 1, which has left");
  CHECK(run([](const Communicator&) { usleep(500'000); }) ==
        "all_reduce: rank 0 waits for rank 1, which has not come within 0.2 s");
  CHECK(error_of([&] { run([](const Communicator&) { Error::fail("rank 1", {"its own trouble"}); }); }) ==
        "rank 1: its own trouble");
  CHECK(error_of([] {
          run_ranks(2, [](const Communicator& c) {
            c.set_timeout(0.2);
            if (c.rank() == 0) distributed::recv<Cpu>({1}, c, 1);
          });
        }) == "recv: rank 0 waits for rank 1, which has left");
}

}  // namespace distributed_collectives
