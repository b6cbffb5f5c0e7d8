// The ranks that a trainer is one of: those that mpirun has started, or itself alone. Each trains on its part of the
// samples.
#pragma once
#include <tern/cuda.hpp>
#include <tern/data/samplers.hpp>
#include <tern/distributed/data_parallel.hpp>
#include <tern/distributed/threads.hpp>
#include <tern/tensor/with_device.hpp>
#ifdef EXAMPLES_WITH_MPI
#include <tern/distributed/mpi.hpp>
#endif

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>

#include "options.hpp"

namespace support {

class Ranks {
 public:
  /// std::runtime_error if mpirun has started a program that was built without MPI.
  Ranks(int& argc, char**& argv) : world_(start(argc, argv)) {
    if (world_.rank() > 0 && !std::freopen("/dev/null", "w", stdout))
      throw std::runtime_error("/dev/null cannot be written");  // the first rank prints
  }

  const tern::distributed::Communicator& world() const { return world_; }

  /// Takes what the options leave open: this rank's part of the machine's cores, and a GPU of its own.
  void prepare(Options& options) const {
    using namespace tern;
    if (options.threads) set_num_threads(int(options.threads));
    if (world_.size() == 1) return;
    // mpirun binds ranks to cores, where it is not told otherwise.
    const int cores = int(sysconf(_SC_NPROCESSORS_ONLN));
    const bool is_bound = int(std::thread::hardware_concurrency()) < cores;
    if (!options.threads && !std::getenv("OMP_NUM_THREADS") && !is_bound)
      set_num_threads(std::max(1, cores / world_.local_size()));
    if (options.device == "cuda" || (options.device == "auto" && cuda::is_available()))
      options.device = "cuda:" + std::to_string(world_.local_rank());
  }

 private:
  tern::distributed::Communicator start([[maybe_unused]] int& argc, [[maybe_unused]] char**& argv) {
    if (!tern::distributed::launched_ranks()) return tern::distributed::single_rank();
#ifdef EXAMPLES_WITH_MPI
    return mpi_.emplace(argc, argv).world();
#else
    throw std::runtime_error("mpirun has started this program, which was built without MPI");
#endif
  }

#ifdef EXAMPLES_WITH_MPI
  std::optional<tern::distributed::Mpi> mpi_;
#endif
  tern::distributed::Communicator world_;  // ends before MPI does
};

/// What a rank's loader draws from a set of so many samples: for training its part, shuffled; for tests its part, each
/// sample once.
inline tern::data::DistributedSampler training_part(tern::Index samples, const tern::nn::Replicas& ranks) {
  return tern::data::DistributedSampler(samples, {.rank = ranks.rank(), .ranks = ranks.size()});
}
inline tern::data::DistributedSampler test_part(tern::Index samples, const tern::nn::Replicas& ranks) {
  return tern::data::DistributedSampler(samples,
                                        {.rank = ranks.rank(), .ranks = ranks.size(), .shuffle = false, .pad = false});
}

}  // namespace support
