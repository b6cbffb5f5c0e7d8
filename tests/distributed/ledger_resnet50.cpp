// How much of the communication of a step of resnet50 is hidden, in the emulator's model of four cards.
#include "parallel_cases.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"

#include <tern/distributed/threads.hpp>
#include <tern/profile/ledger.hpp>

namespace distributed_ledger_resnet50 {
using namespace tern;
using namespace tern_test;
using distributed::Communicator;

// Cards of 50 TFLOP/s and 50 GB/s have 32 pictures of 224 x 224 each. One of 64 x 64 needs as much less work as these
// cards are slower; the gradients have their full size.
TEST_CASE("four cards average resnet50's gradients behind its backward pass", "[distributed][cuda][long]") {
  NEED_EMULATOR();
  const double rate = 50000 / (32 * (224. / 64) * (224. / 64));
  const Ended ended = run_test_case("in a new process: resnet50 on four cards",
                                    "TERN_EMULATOR=devices=4,quiet=1,order=late,call_ns=0,peer=50," +
                                        tern::detail::text({"float32=", rate, ",tf32=", rate}));
  INFO(ended.output);
  CHECK(ended.well);
}
TEST_CASE("in a new process: resnet50 on four cards", "[.]") {
  distributed::run_ranks(4, [](const Communicator& c) {
    const cuda::DeviceGuard own({c.rank()});
    distributed::DistributedDataParallel net(models::resnet50<Cuda>(), c);
    const auto x = on<Cuda>(samples<float>(c.rank(), {1, 3, 64, 64}));
    for (int pass = 0; pass < 2; ++pass) {  // in the second one the buckets are in order
      net.zero_grad();
      if (c.rank() == 0 && pass == 1) ledger::start();
      c.barrier();
      const auto loss = net(x).square().mean();
      cuda::synchronize();  // the ranks' threads share one clock
      c.barrier();
      loss.backward();
      c.barrier();  // all have called what a device may wait for
      cuda::synchronize();
      c.barrier();
    }
  });
  INFO(ledger::report());
  const ledger::Communication all = ledger::communication();
  ledger::stop();
  CHECK(all.bytes > 4 * 25'557'032 * 4);  // ranks, parameters, bytes of one
  CHECK(all.hidden() > 0.8);
}

}  // namespace distributed_ledger_resnet50
