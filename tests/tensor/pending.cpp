// The races of copies that go on while the host does, each provoked: on the emulated driver nothing runs before it
// must.
#include "tern/tensor/pending.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"
#include "tern/ops/indexing.hpp"
#include "tern/ops/transfer.hpp"

namespace tensor_pending {
using namespace tern;
using namespace tern_test;

namespace {

const std::vector<double> numbers = {1, -2, 3.5, 0, 7, 1e6};

}  // namespace

TEST_CASE("a pageable source is freed while it is copied", "[cuda]") {
  auto source = tensor_of<Cpu, float>(numbers);
  auto pending = source.cuda_async();
  source = {};
  empty<Cpu>({6}).fill_(9);  // the memory that was freed
  check_close(values_of(pending.wait()), numbers);
}

TEST_CASE("a pageable source is overwritten while it is copied", "[cuda]") {
  const auto source = tensor_of<Cpu, float>(numbers);
  auto pending = source.cuda_async();
  source.fill_(9);
  check_close(values_of(pending.wait()), numbers);
}

TEST_CASE("a pinned source is freed while it is copied", "[cuda]") {
  auto source = tensor_of<Cpu, float>(numbers).pin_memory();
  REQUIRE(source.is_pinned());
  auto pending = source.cuda_async();
  source = {};
  empty<Cpu>({6}).pin_memory().fill_(9);
  check_close(values_of(pending.wait()), numbers);
}

TEST_CASE("writing to a pinned source waits until it is copied", "[cuda]") {
  const auto source = tensor_of<Cpu, float>(numbers).pin_memory();
  auto first = source.cuda_async();
  source.fill_(9);
  auto second = source.cuda_async();
  source.data()[0] = 4;
  auto third = source.slice(0, {1, Slice::open}).cuda_async();
  source[2].fill_(5);
  check_close(values_of(first.wait()), numbers);
  check_close(values_of(second.wait()), {9, 9, 9, 9, 9, 9});
  check_close(values_of(third.wait()), {9, 9, 9, 9, 9});
}

TEST_CASE("a copy to the host is not read too early, nor its source overwritten", "[cuda]") {
  const auto x = tensor_of<Cuda, float>(numbers);
  auto pending = x.cpu_async();
  x.fill_(9);
  const auto y = pending.wait();
  CHECK(y.is_pinned());
  check_close(values_of(y), numbers);
}

TEST_CASE("a copy that nobody waits for ends in good order", "[cuda]") {
  const auto drop = [] {
    const auto source = tensor_of<Cpu, float>(numbers).pin_memory();
    { auto dropped = source.cuda_async(); }
    { auto dropped = tensor_of<Cuda, float>(numbers).cpu_async(); }
    source.fill_(9);
    CHECK(error_of([] { cuda::synchronize(); }).empty());
  };
  const auto live = live_objects("event");
  for (int i = 0; i < 200; ++i) drop();
  CHECK(live_objects("event") < live + 200);  // pinned blocks are kept with theirs, and taken in turn
}

TEST_CASE("a pending tensor is handed out once, and knows when it is there", "[cuda]") {
  const auto x = tensor_of<Cpu, float>(numbers);
  auto pending = x.cuda_async();
  while (!pending.ready()) {}
  auto moved = std::move(pending);
  CHECK(moved.wait().numel() == 6);
  CHECK(error_of([&] { moved.wait(); }) == "wait: nothing is pending: wait() was called before");
  CHECK(error_of([&] { pending.ready(); }) == "ready: nothing is pending: wait() was called before");
}

}  // namespace tensor_pending
