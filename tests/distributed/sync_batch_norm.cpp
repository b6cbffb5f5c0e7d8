#include "parallel_cases.hpp"

#include <tern/distributed/sync_batch_norm.hpp>
#include <tern/distributed/threads.hpp>

namespace distributed_sync_batch_norm {
using namespace tern;
using distributed::Communicator;
using distributed::run_ranks;

TEST_CASE("synchronised batch norm has the results and running statistics of all samples on one rank",
          "[distributed]") {
  const auto all = tern_test::samples<double>(3, {6, 4, 5});
  nn::BatchNorm1d<Cpu, double> alone(4);
  const auto expected = alone(all);
  run_ranks(2, [&](const Communicator& c) {
    nn::BatchNorm1d<Cpu, double> norm(4);
    tern_test::expect(distributed::convert_sync_batchnorm(norm, c) == 1, "the number of layers");
    // Rank 0 has two samples, rank 1 four.
    const Index begin = c.rank() ? 2 : 0, end = c.rank() ? 6 : 2;
    const auto y = norm(all.slice(0, {begin, end}).contiguous());
    tern_test::expect(y.allclose(expected.detach().slice(0, {begin, end}), 1e-12, 1e-12), "the result");
    tern_test::expect(norm.running_mean.allclose(alone.running_mean, 1e-12, 1e-14), "running_mean");
    tern_test::expect(norm.running_var.allclose(alone.running_var, 1e-12, 1e-14), "running_var");
  });
  run_ranks(1, [](const Communicator& c) {
    nn::BatchNorm1d<Cpu, double> norm(4);
    distributed::convert_sync_batchnorm(norm, c);
    norm(tern_test::samples<double>(4, {1, 4}));
    tern_test::expect(std::abs(norm.running_var.data()[2] - 0.9) < 1e-12, "running_var of one value");
  });
}

}  // namespace distributed_sync_batch_norm
