// Communicator: the ranks that compute together. mpi.hpp makes one of processes, threads.hpp one of threads.
#pragma once
#include "background.hpp"
#include "ranks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

/// A shared handle. All ranks of a communicator call its collectives in the same order, each rank from one thread at a
/// time.
class TERN_API Communicator {
 public:
  explicit Communicator(std::shared_ptr<detail::Ranks> ranks);

  int rank() const { return ranks_->place.rank; }
  int size() const { return ranks_->place.size; }
  /// This rank's number among those of its machine.
  int local_rank() const { return ranks_->place.local_rank; }
  /// How many ranks this machine has.
  int local_size() const { return ranks_->place.local_size; }

  /// The ranks that give the same colour, in the order of their keys, then of their ranks. All ranks call it. Error if
  /// the colour is negative.
  Communicator split(int color, int key = 0, CallSite here = {}) const;

  /// How long a rank waits for another before it gives up with an Error: half an hour if nothing is said. Error unless
  /// it is positive.
  void set_timeout(double seconds, CallSite here = {}) const;

  /// Waits until all ranks call it.
  void barrier(CallSite here = {}) const;

  /// The ranks, once nothing runs in the background.
  detail::Ranks& ranks() const {
    background_->drain();
    return *ranks_;
  }
  /// The ranks, for a job that runs in the background.
  const std::shared_ptr<detail::Ranks>& ranks_in_background() const { return ranks_; }
  detail::Background& background() const { return *background_; }

 private:
  std::shared_ptr<detail::Ranks> ranks_;
  std::shared_ptr<detail::Background> background_;  // ends before the ranks do
};

/// How many ranks mpirun, or another launcher of MPI's ranks, has started with this process: 0 if none has started it.
TERN_API int launched_ranks();

}}}  // namespace tern::distributed

#ifndef TERN_COMPILED
#include "communicator.ipp"
#endif
