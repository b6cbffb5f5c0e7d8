#include "parallel_cases.hpp"
#include "support/errors.hpp"

#include <tern/distributed/threads.hpp>

namespace distributed_data_parallel {
using namespace tern;
using distributed::Communicator;
using distributed::ReduceOp;
using distributed::run_ranks;
using tern_test::error_of;

namespace {

/// The largest difference, relative to the loss, that so many ranks make over 20 steps.
template <class T, class Make>
double difference(int ranks, const Make& make, const detail::Shape& sample, double lr = 0.05) {
  std::vector<double> one, many;
  manual_seed(5);
  run_ranks(1, [&](const Communicator& c) { one = tern_test::losses_of<T>(c, make, sample, lr); });
  manual_seed(5);
  const auto network = make();  // rank 0's; the others' numbers must not matter
  const auto start = network.state_dict();
  run_ranks(ranks, [&](const Communicator& c) {
    const auto losses = tern_test::losses_of<T>(
        c,
        [&] {
          auto net = make();
          if (c.rank() == 0) net.load_state_dict(start);
          return net;
        },
        sample, lr);
    if (c.rank() == ranks - 1) many = losses;
  });
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) worst = std::max(worst, std::abs(many[i] - one[i]) / one[i]);
  REQUIRE(one.size() == 20);
  CHECK(*std::max_element(one.begin(), one.end()) - *std::min_element(one.begin(), one.end()) > 1e-3);
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("several ranks train as one with all their samples", "[distributed]", float, double) {
  using T = TestType;
  const double tolerance = std::is_same_v<T, double> ? 1e-12 : 1e-5;
  for (const int ranks : {2, 3, 4}) {
    CAPTURE(ranks);
    CHECK(difference<T>(ranks, [] { return tern_test::SmallMlp<Cpu, T>(); }, {12}) < tolerance);
    CHECK(difference<T>(ranks, [] { return tern_test::SmallLstm<Cpu, T>(); }, {5, 6}) < tolerance);
  }
  // A float that is rounded otherwise turns a relu, after which larger steps lead elsewhere; doubles with any of these
  // rates stay together.
  CHECK(difference<T>(
            2, [] { return models::resnet20<Cpu, T>(); }, {3, 8, 8}, std::is_same_v<T, double> ? 0.01 : 1e-5) <
        tolerance);
}

namespace {

/// y = a x or y = b x, so that a pass reaches one of two parameters.
template <Device D, class T>
struct Either : nn::Module<D, T> {
  nn::Parameter<D, T> a = ones<D, T>({3}), b = ones<D, T>({2}), neither = ones<D, T>({1});
  bool first = true;
  TERN_FIELDS(Either, a, b, neither, first)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return first ? (a * x.sum()).sum() : (b * x.sum()).sum(); }
};

}  // namespace

TEST_CASE("a parameter that a rank does not use has gradient 0 there, and one that none uses has none",
          "[distributed]") {
  run_ranks(2, [](const Communicator& c) {
    distributed::DistributedDataParallel net(Either<Cpu, double>(), c);
    for (int pass = 0; pass < 3; ++pass) {
      net.zero_grad();
      net.module.first = c.rank() == 0;
      net(full<Cpu, double>({1}, double(c.rank() + 1))).backward();
      tern_test::expect(net.module.a.grad().data()[2] == 0.5, "the gradient that rank 0 computes");
      tern_test::expect(net.module.b.grad().data()[1] == 1, "the gradient that rank 1 computes");
      tern_test::expect(!net.module.neither.grad().defined(), "the gradient that no rank computes");
    }
  });
}

TEST_CASE("no_sync adds up, and the next pass averages what has come together", "[distributed]") {
  run_ranks(2, [](const Communicator& c) {
    distributed::DistributedDataParallel net(tern_test::SmallMlp<Cpu, double>(), c);
    const auto pass = [&](Index step) {
      net(tern_test::samples<double>(step * 2 + c.rank(), {4, 12})).square().mean().backward();
    };
    {
      const auto alone = net.no_sync();
      pass(0);
    }
    const auto own = net.module.hidden.weight.grad().clone();
    tern_test::expect(!distributed::all_reduce(own, c, distributed::ReduceOp::avg).allclose(own),
                      "a gradient of one rank");
    pass(1);
    const auto together = net.module.hidden.weight.grad().clone();
    net.zero_grad();
    pass(0);
    const auto first = net.module.hidden.weight.grad().clone();
    net.zero_grad();
    pass(1);
    tern_test::expect(together.allclose(first + net.module.hidden.weight.grad(), 1e-12, 1e-14),
                      "the average of two passes");
    // Gradients that are not dropped between two passes add up as well.
    pass(0);
    tern_test::expect(together.allclose(net.module.hidden.weight.grad(), 1e-12, 1e-14), "the sum of two averages");
  });
}

TEST_CASE("all ranks start from rank 0's tensors and keep its buffers", "[distributed]") {
  run_ranks(3, [](const Communicator& c) {
    nn::BatchNorm1d<Cpu> norm(4);
    {
      const NoGradGuard off;
      norm.weight.fill_(double(c.rank() + 1));
    }
    distributed::DistributedDataParallel net(std::move(norm), c);
    tern_test::expect(net.module.weight.data()[3] == 1, "rank 0's weight");
    for (Index step = 0; step < 3; ++step)
      net(tern_test::samples<float>(step * 3 + c.rank(), {8, 4})).square().sum().backward();
    // The buffers of the last pass are each rank's own until the next one begins.
    net(tern_test::samples<float>(9, {8, 4}));
    const auto mean = net.module.running_mean;
    const auto all = distributed::all_gather(mean, c).reshape({3, 4});
    tern_test::expect(all[2].equal(all[0]) && all[1].equal(all[0]), "rank 0's running mean");
    tern_test::expect(net.state_dict()[0].name == "weight", "the name of a tensor");
  });
}

TEST_CASE("DistributedDataParallel refuses networks that differ, and a rank that stops ends the others' backward",
          "[distributed][threads]") {
  const auto refusal = [](const auto& f) { return error_of([&] { run_ranks(2, f); }); };
  CHECK(refusal([](const Communicator& c) {
          distributed::DistributedDataParallel net(nn::Linear<Cpu>(3, 2 + c.rank()), c);
        }) ==
        "DistributedDataParallel: the ranks do not call the same: rank 0 broadcast of float32 [2, 3], sum, root 0, "
        "after 0 others; rank 1 "
        "broadcast of float32 [3, 3], sum, root 0, after 0 others");
  CHECK(refusal([](const Communicator& c) {
          distributed::DistributedDataParallel net(nn::Linear<Cpu>(3, 2), c, {.bucket_cap_mb = 0});
        }) == "DistributedDataParallel: bucket_cap_mb must be positive, not 0");
  std::string said;
  run_ranks(2, [&](const Communicator& c) {
    distributed::DistributedDataParallel net(nn::Linear<Cpu>(3, 2), c);
    if (c.rank() == 1) return;
    said = error_of([&] { net(ones<Cpu>({1, 3})).sum().backward(); });
  });
  CHECK(said == "backward: rank 0 waits for rank 1, which has left");
}

}  // namespace distributed_data_parallel
