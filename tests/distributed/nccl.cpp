// Collectives of Tensor<Cuda> by NCCL. Each rank is a thread with a device of its own.
#include "collective_cases.hpp"
#include "on_devices.hpp"
#include "support/errors.hpp"
#include "support/fake_library.hpp"

namespace distributed_nccl {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using distributed::Communicator;
using distributed::ReduceOp;

namespace {

/// What each of two ranks says.
template <class F>
std::vector<std::string> messages(const F& f) {
  std::vector<std::string> said(2);
  on_devices(2, [&](const Communicator& c) { said[std::size_t(c.rank())] = error_of([&] { f(c); }); });
  return said;
}

}  // namespace

TEST_CASE("collectives by NCCL give what a loop over the ranks gives", "[distributed][cuda]") {
  for (const char* order : {"order=late", "order=eager", "order=random:1"})
    check_in_new_process("collectives by NCCL", order);
}
TEST_CASE("in a new process: collectives by NCCL", "[.]") {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    INFO(ranks << " ranks");
    on_devices(ranks, [](const Communicator& c) { check_collectives<Cuda>(c); });
  }
  CHECK(live_objects("nccl communicator") == 0);
}

TEST_CASE("collectives by NCCL on this machine's GPUs", "[distributed][cuda]") {
  if (is_emulated() || cuda::device_count() == 0) SKIP_TEST("needs a GPU");
  if (const std::string why_not = error_of([] { cuda::nccl(); }); !why_not.empty()) SKIP_TEST(why_not);
  for (int ranks = 1; ranks <= cuda::device_count(); ++ranks)
    on_devices(ranks, [](const Communicator& c) { check_collectives<Cuda>(c); });
}

TEST_CASE("gradients go back through NCCL", "[distributed][cuda]") {
  for (const char* order : {"order=late", "order=eager", "order=random:1"})
    check_in_new_process("gradients by NCCL", order);
}
TEST_CASE("in a new process: gradients by NCCL", "[.]") {
  on_devices(3, [](const Communicator& c) {
    constexpr int ranks = 3;
    const Index n = 6;
    // Of Σ over elements of y · w_r, where w_r are rank r's numbers.
    const auto gradient = [&](const auto& f) {
      const auto x = on<Cuda>(of_rank<float>(c.rank(), {n})).requires_grad_();
      const auto y = f(x);
      (y * on<Cuda>(of_rank<float>(c.rank(), y.shape()))).sum().backward();
      return x.grad();
    };
    const auto sum = [&](Index count) { return joined<float>(ranks, {count}, ReduceOp::sum); };
    expect(is_same(gradient([&](const auto& x) { return distributed::all_reduce(x, c); }), sum(n)),
           "all_reduce's gradient");
    const auto mean = joined<float>(ranks, {n}, ReduceOp::avg);
    expect(near(gradient([&](const auto& x) { return distributed::all_reduce(x, c, ReduceOp::avg); }), mean),
           "an average's gradient");
    expect(is_same(gradient([&](const auto& x) { return distributed::broadcast(x, c, 1); }),
                   c.rank() == 1 ? sum(n) : zeros<Cpu>({n})),
           "broadcast's gradient");
    const auto mine = sum(ranks * n).slice(0, {c.rank() * n, (c.rank() + 1) * n}).contiguous();
    expect(is_same(gradient([&](const auto& x) { return distributed::all_gather(x, c); }), mine),
           "all_gather's gradient");
    std::vector<Tensor<Cpu>> parts, blocks;
    for (int rank = 0; rank < ranks; ++rank) {
      parts.push_back(of_rank<float>(rank, {n / ranks}));
      blocks.push_back(of_rank<float>(rank, {n}).slice(0, {c.rank() * n / ranks, (c.rank() + 1) * n / ranks}));
    }
    expect(is_same(gradient([&](const auto& x) { return distributed::reduce_scatter(x, c); }), cat(parts)),
           "reduce_scatter's gradient");
    expect(is_same(gradient([&](const auto& x) { return distributed::all_to_all(x, c); }), cat(blocks)),
           "all_to_all's gradient");
  });
}

TEST_CASE("ranks that call different collectives of Cuda all say so", "[distributed][cuda]") {
  check_in_new_process("different calls by NCCL");
}
TEST_CASE("in a new process: different calls by NCCL", "[.]") {
  const auto check = [](const char* name, const std::string& rule, const auto& f) {
    for (const std::string& message : messages(f))
      CHECK(message == std::string(name) + ": the ranks do not call the same: " + rule);
  };
  check("all_reduce",
        "rank 0 cuda all_reduce of float32 [2, 3], sum, after 1 others; rank 1 cuda all_reduce of float32 [3, 3], sum, "
        "after 1 others",
        [](const Communicator& c) { distributed::all_reduce(ones<Cuda>({2 + c.rank(), 3}), c); });
  check("all_reduce",
        "rank 0 cuda all_reduce of float32 [2], sum, after 1 others; rank 1 cuda all_reduce of float32 [2], max, after "
        "1 others",
        [](const Communicator& c) {
          distributed::all_reduce(ones<Cuda>({2}), c, c.rank() ? ReduceOp::max : ReduceOp::sum);
        });
  check("broadcast",
        "rank 0 cuda broadcast of float32 [2], sum, root 0, after 1 others; rank 1 cuda broadcast of float32 [2], sum, "
        "root 1, after 1 others",
        [](const Communicator& c) { distributed::broadcast(ones<Cuda>({2}), c, c.rank()); });
  for (const std::string& message : messages([](const Communicator& c) {
         if (c.rank()) distributed::recv<Cuda, Index>({2}, c, 0);
         else distributed::send(ones<Cuda>({2}), c, 1);
       }))
    CHECK_THAT(message, ContainsSubstring("rank 0 cuda send of float32 [2]") &&
                            ContainsSubstring("rank 1 cuda recv of int64 [2]"));
  // One rank's tensor is in host memory.
  for (const std::string& message : messages([](const Communicator& c) {
         distributed::all_reduce(ones<Cuda>({2}), c);
         if (c.rank()) distributed::all_reduce(ones<Cpu>({2}), c);
         else distributed::all_reduce(ones<Cuda>({2}), c);
       }))
    CHECK_THAT(message, ContainsSubstring("rank 0 cuda all_reduce of float32 [2]") &&
                            ContainsSubstring("rank 1 all_reduce of float32 [2]"));
  // The ranks are together again after it.
  on_devices(2, [](const Communicator& c) {
    error_of([&] { distributed::all_reduce(ones<Cuda>({2 + c.rank()}), c); });
    expect(distributed::all_reduce(ones<Cuda>({1}), c).item() == 2, "all_reduce after an Error");
  });
}

TEST_CASE("the host does not wait for a collective of Cuda, and streams have their own", "[distributed][cuda]") {
  check_in_new_process("streams of NCCL");
}
TEST_CASE("in a new process: streams of NCCL", "[.]") {
  on_devices(2, [](const Communicator& c) {
    const auto x = full<Cuda>({1000}, c.rank() + 1.);
    distributed::all_reduce(x, c);
    const cuda::Stream side;
    side.wait_stream(cuda::default_stream());
    const auto y = [&] {
      const cuda::StreamGuard on_side(side);
      const auto sum = distributed::all_reduce(x * 2, c);
      expect(!side.query(), "that the host has not waited");
      return sum;
    }();
    cuda::default_stream().wait_stream(side);
    expect((y + 1).sum().item() == 7000, "a sum of another stream");
  });
}

TEST_CASE("results of collectives are on their inputs' device", "[distributed][cuda]") {
  check_in_new_process("devices by NCCL");
}
TEST_CASE("in a new process: devices by NCCL", "[.]") {
  distributed::run_ranks(2, [](const Communicator& c) {  // each thread makes new tensors on the first device
    const Cuda own{c.rank() + 1};
    const auto x = full<Cuda>({2}, 1., own);
    for (const auto& y : {distributed::all_reduce(x, c), distributed::broadcast(x, c), distributed::all_gather(x, c),
                          distributed::reduce_scatter(x, c), distributed::all_to_all(x, c)})
      expect(y.device().ordinal == own.ordinal, "the device of a result");
  });
}

TEST_CASE("each two ranks that send are connected by themselves", "[distributed][cuda]") {
  for (const char* order : {"order=late", "order=eager", "order=random:1"})
    check_in_new_process("transfers by NCCL", order);
}
TEST_CASE("in a new process: transfers by NCCL", "[.]") {
  on_devices(4, [](const Communicator& c) {
    // A line of ranks, of which each adds its number; ranks that have no part in a transfer do not come to it.
    auto x = full<Cuda>({3}, 0.);
    if (c.rank() > 0) x = distributed::recv<Cuda>({3}, c, c.rank() - 1);
    x = x + double(c.rank());
    if (c.rank() < 3) distributed::send(x, c, c.rank() + 1);
    else expect(is_same(x, full<Cpu>({3}, 6.)), "what came along the line");
    if (c.rank() == 0) expect(is_same(distributed::recv<Cuda>({3}, c, 3), full<Cpu>({3}, 6.)), "what came back");
    if (c.rank() == 3) distributed::send(x, c, 0);
  });
}

TEST_CASE("what NCCL refuses is an Error in the op's name", "[distributed][cuda]") {
  check_in_new_process("refusals of NCCL");
}
TEST_CASE("in a new process: refusals of NCCL", "[.]") {
  std::vector<std::string> said(2);
  distributed::run_ranks(2, [&](const Communicator& c) {
    said[std::size_t(c.rank())] = error_of([&] { distributed::all_reduce(ones<Cuda>({2}, Cuda{0}), c); });
  });
  for (const std::string& message : said)
    CHECK(message ==
          "all_reduce: ncclCommInitRank: invalid usage (run with NCCL_DEBUG=WARN for details); each rank needs a "
          "device of its own");
  on_devices(1, [](const Communicator& c) {
    distributed::all_reduce(ones<Cuda>({2}), c);
    fail_call("ncclAllReduce", 1, 3);
    expect(error_of([&] { distributed::all_reduce(ones<Cuda>({2}), c); }) ==
               "all_reduce: ncclAllReduce: internal error - please report this issue to the NCCL developers",
           "the Error of a call that fails");
    expect(error_of([&] { distributed::all_gather(ones<Cuda>({2}), c); }) ==
               "all_gather: NCCL has lost the connection of the ranks before",
           "the Error after it");
    expect(error_of([&] { distributed::all_reduce(Tensor<Cuda>(), c); }) == "all_reduce: a tensor is undefined",
           "the Error of no tensor");
  });
  // A rank that cannot begin leaves, and the other does not wait for it.
  fail_call("ncclGetUniqueId", 1, 0);
  CHECK_THAT(
      error_of([&] { on_devices(2, [](const Communicator& c) { distributed::all_reduce(ones<Cuda>({2}), c); }); }),
      ContainsSubstring("ncclGetUniqueId"));
  CHECK(live_objects("nccl communicator") == 0);
}

TEST_CASE("where NCCL fails on one rank after all have met, the others' waits for their devices end",
          "[distributed][cuda]") {
  for (const char* order : {"order=late", "order=eager", "order=random:1"})
    check_in_new_process("a failure on one rank", order);
}
TEST_CASE("in a new process: a failure on one rank", "[.]") {
  std::vector<std::string> said(3);
  on_devices(3, [&](const Communicator& c) {
    const auto x = ones<Cuda>({1000});
    distributed::all_reduce(x, c);
    c.barrier();
    cuda::synchronize();
    c.barrier();
    if (c.rank() == 0) fail_call("ncclAllReduce", 3, 3);  // of the rank that calls last
    c.barrier();
    said[std::size_t(c.rank())] = error_of([&] { distributed::all_reduce(x, c)[0].item(); });
    c.barrier();
    expect(error_of([&] { distributed::all_reduce(x, c); }) ==
               "all_reduce: NCCL has lost the connection of the ranks before",
           "the Error after it");
  });
  std::sort(said.begin(), said.end());
  CHECK(said[0] == "all_reduce: ncclAllReduce: internal error - please report this issue to the NCCL developers");
  for (int rank : {1, 2})
    CHECK_THAT(said[std::size_t(rank)],
               ContainsSubstring("'s device waits for rank ") && ContainsSubstring(", which has failed"));
}

TEST_CASE("a rank that comes after the others have given up does not wait for their devices", "[distributed][cuda]") {
  check_in_new_process("a rank that is late");
}
TEST_CASE("in a new process: a rank that is late", "[.]") {
  std::vector<std::string> said(2);
  distributed::run_ranks(2, [&](const Communicator& c) {
    const cuda::DeviceGuard own({c.rank()});
    const auto x = ones<Cuda>({1000});
    distributed::all_reduce(x, c);
    c.set_timeout(0.2);
    if (c.rank() == 1) usleep(500'000);
    said[std::size_t(c.rank())] = error_of([&] { distributed::all_reduce(x, c)[0].item(); });
    if (c.rank() == 0) usleep(500'000);
  });
  CHECK(said[0] == "all_reduce: rank 0 waits for rank 1, which has not come within 0.2 s");
  CHECK_THAT(said[1], ContainsSubstring("rank 1's device waits for rank 0, which has failed"));
}

TEST_CASE("an NCCL that cannot be used is an Error that says why", "[distributed][cuda]") {
  NEED_EMULATOR();
  const Folder folder;
  for (const auto& entry : std::filesystem::directory_iterator(tern_test::emulator_folder))
    if (entry.path().filename() != "libnccl.so.2")
      std::filesystem::create_symlink(entry.path(), folder / entry.path().filename());
  std::string code = "extern \"C\" int ncclGetVersion(int* version) { return *version = 2804, 0; }\n";
  const auto check = [&](const std::string& problem) {
    make_library(folder / "libnccl.so.2", code);
    check_in_new_process("no NCCL", "order=late",
                         " TERN_CUDA_LIBRARIES=" + folder.text() + " TERN_TEST_PROBLEM='" + problem + "'");
  };
  check("has no function ncclGetErrorString");
#define DEFINED(name, result, arguments) \
  if (std::string(#name) != "ncclGetVersion") code += "extern \"C\" int " #name "() { return 0; }\n";
  TERN_NCCL_FUNCTIONS(DEFINED)
  check("is older than 2.10");
}
TEST_CASE("in a new process: no NCCL", "[.]") {
  for (const std::string& message :
       messages([](const Communicator& c) { distributed::all_reduce(ones<Cuda>({2}), c); }))
    CHECK_THAT(message,
               ContainsSubstring("all_reduce: NCCL, which carries tensors from GPU to GPU, cannot be used: ") &&
                   ContainsSubstring(std::string("libnccl.so.2 ") + std::getenv("TERN_TEST_PROBLEM")));
}

}  // namespace distributed_nccl
