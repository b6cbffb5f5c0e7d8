// Networks on Cuda that train on several ranks, each a thread with a device of its own, against one rank on the CPU.
#include "on_devices.hpp"
#include "parallel_cases.hpp"
#include "support/errors.hpp"

namespace distributed_nccl_parallel {
using namespace tern;
using namespace tern_test;
using distributed::Communicator;

namespace {

template <Device D>
struct Normed : nn::Module<D, double> {
  nn::Linear<D, double> hidden{12, 20}, out{20, 5};
  nn::BatchNorm1d<D, double> norm{20};
  TERN_FIELDS(Normed, hidden, norm, out)
  Tensor<D, double> forward(const Tensor<D, double>& x) { return out(tanh(norm(hidden(x)))); }
};

/// The largest difference, relative to the loss, between one rank on the CPU and so many on Cuda.
template <class MakeOnCpu, class MakeOnCuda>
double difference(int ranks, const MakeOnCpu& on_cpu, const MakeOnCuda& on_cuda, const detail::Shape& sample) {
  std::vector<double> one, many;
  manual_seed(5);
  distributed::run_ranks(1, [&](const Communicator& c) { one = losses_of<double>(c, on_cpu, sample, 0.05); });
  manual_seed(5);
  const auto start = on_cpu().state_dict();
  on_devices(ranks, [&](const Communicator& c) {
    const auto losses = losses_of<double, Cuda>(
        c,
        [&] {
          auto net = on_cuda();
          if (c.rank() == 0) net.load_state_dict(start);
          return net;
        },
        sample, 0.05);
    if (c.rank() == ranks - 1) many = losses;
  });
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) worst = std::max(worst, std::abs(many[i] - one[i]) / one[i]);
  CHECK(*std::max_element(one.begin(), one.end()) - *std::min_element(one.begin(), one.end()) > 1e-3);
  return worst;
}

}  // namespace

TEST_CASE("several ranks on Cuda train as one on the CPU with all their samples", "[distributed][cuda]") {
  for (const char* order : {"order=late", "order=random:1"}) check_in_new_process("training by NCCL", order);
}
TEST_CASE("in a new process: training by NCCL", "[.]") {
  for (const int ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    CHECK(difference(
              ranks, [] { return SmallMlp<Cpu, double>(); }, [] { return SmallMlp<Cuda, double>(); }, {12}) < 1e-10);
    CHECK(difference(
              ranks, [] { return SmallLstm<Cpu, double>(); }, [] { return SmallLstm<Cuda, double>(); }, {5, 6}) <
          1e-10);
    CHECK(difference(ranks, [] { return Normed<Cpu>(); }, [] { return Normed<Cuda>(); }, {12}) < 1e-10);
  }
}

TEST_CASE("gradients go beside the backward pass, and the host waits for no device", "[distributed][cuda]") {
  check_in_new_process("overlap by NCCL");
}
TEST_CASE("in a new process: overlap by NCCL", "[.]") {
  on_devices(2, [](const Communicator& c) {
    distributed::DistributedDataParallel net(SmallMlp<Cuda, float>(), c, {.bucket_cap_mb = 0.0005});
    const auto x = on<Cuda>(samples<float>(c.rank(), {4, 12}));
    std::uint64_t before_the_first_layer = 0;
    net.module.hidden.weight.register_hook([&](const auto&) { before_the_first_layer = calls_of("ncclAllReduce"); });
    for (int pass = 0; pass < 3; ++pass) {  // the second pass puts the gradients into buckets anew
      net.zero_grad();
      const auto loss = net(x).square().mean();
      cuda::synchronize();
      c.barrier();
      if (c.rank() == 0) fail_call("", 0, 0);  // counts from here
      c.barrier();
      loss.backward();
      expect(before_the_first_layer > 0, "that gradients go while the pass computes");
      expect(!cuda::default_stream().query(), "that the host has waited for no device");
    }
    const auto gradient = net.module.hidden.weight.grad();
    expect(is_same(distributed::broadcast(gradient, c, 0), gradient.cpu()), "one gradient on all ranks");
  });
}

TEST_CASE("averaging takes less of a pass than its own time, in the model's clock", "[distributed][cuda]") {
  check_in_new_process("time by NCCL");
}
TEST_CASE("in a new process: time by NCCL", "[.]") {
  on_devices(2, [](const Communicator& c) {
    using Layer = nn::Linear<Cuda>;
    distributed::DistributedDataParallel net(nn::Sequential(Layer(64, 64), Layer(64, 64), Layer(64, 64), Layer(64, 64)),
                                             c, {.bucket_cap_mb = 0.017});
    const auto x = on<Cuda>(samples<float>(c.rank(), {16, 64}));
    const auto time_of_pass = [&] {
      net.zero_grad();
      const auto loss = net(x).square().mean();
      const double start = time_when_done(c);
      loss.backward();
      return time_when_done(c) - start;
    };
    for (int pass = 0; pass < 3; ++pass) time_of_pass();
    const Emulating rates("call_ns=0,peer=2", "call_ns=1000,peer=50");
    const double together = time_of_pass();
    const double start = time_when_done(c);
    for (int layer = 0; layer < 4; ++layer) distributed::all_reduce(full<Cuda>({65 * 64}, 1.), c);
    const double averaging = time_when_done(c) - start;
    const auto alone = net.no_sync();
    const double computing = time_of_pass();
    expect(together < computing + 0.5 * averaging, "the time of a pass");
  });
}

TEST_CASE("rank 0's buffers on Cuda go to all ranks together, before each pass", "[distributed][cuda]") {
  check_in_new_process("buffers by NCCL");
}
TEST_CASE("in a new process: buffers by NCCL", "[.]") {
  on_devices(2, [](const Communicator& c) {
    distributed::DistributedDataParallel net(nn::BatchNorm1d<Cuda>(4), c);
    c.barrier();
    if (c.rank() == 0) fail_call("", 0, 0);  // counts from here
    c.barrier();
    for (Index step = 0; step < 3; ++step)
      net(on<Cuda>(samples<float>(step * 2 + c.rank(), {8, 4}))).square().sum().backward();
    c.barrier();
    expect(calls_of("ncclGroupStart") == 2 * 3, "the number of groups");
    // The buffers of the last pass are each rank's own until the next one begins.
    net(on<Cuda>(samples<float>(9, {8, 4})));
    const auto mean = net.module.running_mean;
    expect(is_same(distributed::broadcast(mean, c), mean.cpu()), "rank 0's running mean");
  });
}

TEST_CASE("a rank that stops ends the others' backward on Cuda", "[distributed][cuda]") {
  check_in_new_process("a rank stops");
}
TEST_CASE("in a new process: a rank stops", "[.]") {
  std::string said;
  on_devices(2, [&](const Communicator& c) {
    distributed::DistributedDataParallel net(nn::Linear<Cuda>(3, 2), c);
    if (c.rank() == 1) return;
    said = error_of([&] { net(ones<Cuda>({1, 3})).sum().backward(); });
  });
  CHECK(said == "backward: rank 0 waits for rank 1, which has left");
}

}  // namespace distributed_nccl_parallel
