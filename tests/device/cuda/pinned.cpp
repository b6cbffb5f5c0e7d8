#include "tern/device/cuda/pinned.hpp"

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/ops/transfer.hpp"
#include "tern/profile/ledger.hpp"

namespace device_cuda_pinned {
using namespace tern;
using namespace tern_test;

namespace {

const std::vector<double> numbers = {1, -2, 3.5, 0, 7, 1e6};

}  // namespace

TEST_CASE("cuda() of pinned memory copies straight from it", "[cuda]") {
  auto source = tensor_of<Cpu, float>(numbers).pin_memory();
  ledger::start();
  const auto first = source.cuda();
  const std::vector<ledger::Line> lines = ledger::lines();
  ledger::stop();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].pinned);
  const auto second = source.cuda();
  source.fill_(9);  // waits for the copy
  const auto third = source.cuda();
  source = {};
  empty<Cpu>({6}).pin_memory().fill_(5);  // not the memory that is still being copied
  check_close(values_of(first), numbers);
  check_close(values_of(second), numbers);
  check_close(values_of(third), std::vector<double>(6, 9));
}

TEST_CASE("a write to pinned memory waits for the copies of every stream", "[cuda]") {
  auto source = tensor_of<Cpu, float>(numbers).pin_memory();
  auto pending = source.cuda_async();  // on the stream for copies
  const auto second = source.cuda();   // on the stream for work
  source.fill_(9);
  check_close(values_of(pending.wait()), numbers);
  check_close(values_of(second), numbers);

  source.copy_(tensor_of<Cpu, float>(numbers));
  const auto third = source.cuda();
  { auto dropped = source.cuda_async(); }
  std::fill_n(source.data(), numbers.size(), 5.f);  // data() waits too
  check_close(values_of(third), numbers);
}

TEST_CASE("two devices copy from and to one pinned block", "[cuda]") {
  if (!is_emulated()) SKIP_TEST("needs two devices");
  const Ended ended = run_test_case("in a new process: pinned memory of two devices", "TERN_EMULATOR=devices=2");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: pinned memory of two devices", "[.]") {
  auto source = tensor_of<Cpu, float>(numbers).pin_memory();
  const auto first = source.cuda(0), second = source.cuda(1);
  auto third = source.cuda_async(1), fourth = source.cuda_async(0);
  source.fill_(9);  // waits for both
  check_close(values_of(first), numbers);
  check_close(values_of(second), numbers);
  check_close(values_of(third.wait()), numbers);
  check_close(values_of(fourth.wait()), numbers);
  // A block that one device has given back serves the other.
  const auto fifth = source.cuda(1);
  source = {};
  auto back = first.cpu_async();
  check_close(values_of(back.wait()), numbers);
  check_close(values_of(fifth), std::vector<double>(6, 9));
}

}  // namespace device_cuda_pinned
